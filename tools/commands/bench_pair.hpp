#pragma once

namespace CLI {
class App;
}

namespace rocio::tools {

/// Adds the benchmarks of two processes to `bench`: send, write and stream.
void add_bench_pairs(CLI::App& bench, int& status);

} // namespace rocio::tools
