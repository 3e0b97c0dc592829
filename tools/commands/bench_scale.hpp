#pragma once

namespace CLI {
class App;
}

namespace rocio::tools {

/// Adds the benchmark of many queue pairs, peers and contexts to `bench`.
void add_bench_scale(CLI::App& bench, int& status);

} // namespace rocio::tools
