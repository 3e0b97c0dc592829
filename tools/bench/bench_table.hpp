#pragma once

#include "bench/bench_run.hpp"

#include <string>

namespace rocio::tools {

/// The line above rows of one kind, and a row: perftest's columns, then CPU time, cores busy and allocations,
/// then each baseline's figure and the ratio to it. Each with its end.
std::string table_header(measured what, const bench_row& row);
std::string table_line(const bench_row& row);

} // namespace rocio::tools
