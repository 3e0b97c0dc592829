#pragma once

#include "bench/bench_run.hpp"
#include "bench/bench_setup.hpp"
#include "bench/histogram_file.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rocio::tools {

/// What a benchmark with both ends in one process takes, whatever its mode.
struct bench_options {
    std::vector<std::string> devices{};
    std::vector<unsigned> cpus{};
    bench_effort effort{};
    bool json = false;
    std::string report{};
    std::string histogram{};

    /// --rounds, --report and --histogram.
    void add_to(CLI::App& app);
    /// --device, once or twice, and --cpu.
    void add_ends_to(CLI::App& app);
    /// --count and --seconds.
    void add_effort_to(CLI::App& app);
    /// Devices and CPUs of both ends. Throws rocio::exception.
    bench_setup setup() const;
};

/// Runs series, prints a row for each size as it is there, and at the end writes what was asked for.
class bench_session {
  public:
    /// `options` must outlive it. Refuses a histogram's name with another ending at once.
    bench_session(std::string mode, const bench_options& options);

    void run(const bench_series& series) { run(series, options_.effort); }
    void run(const bench_series& series, const bench_effort& effort);
    const std::vector<bench_row>& rows() const noexcept { return rows_; }
    /// Adds to the report; an existing key stays.
    void add(const boost::json::object& more);
    /// Prints and writes the report and the histogram; gives the exit status: 0 when nothing of ours was
    /// lost.
    int finish();

  private:
    void show(const bench_row& row);
    void take_latencies(bench_row& row);

    std::string mode_;
    const bench_options& options_;
    bench_setup setup_;
    std::vector<bench_row> rows_{};
    std::vector<histogram_part> parts_{};
    std::optional<measured> shown_{};
    std::string what_was_timed_{"round trip"};
    boost::json::object more_{};
};

/// Throws rocio::exception with the file's name.
void write_report(const std::string& file, const std::string& text);

} // namespace rocio::tools
