#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace rocio::tools {

class live_line;

/// The progress line of a benchmark: on a terminal only, by a thread of its own that sleeps between two
/// looks, so that what is measured does not notice. Thread safety: counter() from any thread, the rest from
/// one.
class bench_progress {
  public:
    bench_progress();
    ~bench_progress();
    bench_progress(const bench_progress&) = delete;
    bench_progress& operator=(const bench_progress&) = delete;

    /// From now on `what` is measured, of `total` messages.
    void begin(std::string what, std::uint64_t total);
    /// How many of them are through.
    std::atomic<std::uint64_t>& counter() noexcept { return counter_; }

  private:
    std::string text();

    std::atomic<std::uint64_t> counter_{0};
    std::mutex mutex_{};
    std::string what_{};
    std::uint64_t total_ = 0;
    boost::asio::io_context context_{1};
    std::unique_ptr<live_line> line_{};
    std::thread thread_{};
};

} // namespace rocio::tools
