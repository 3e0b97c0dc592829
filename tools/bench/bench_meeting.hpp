#pragma once

#include "bench/pair_bench.hpp"

#include <rocio/io/connectable.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>

namespace rocio::tools {

/// How the two processes of a benchmark find each other: rocio's TCP rendezvous without signs of life, so
/// that only what belongs to messages is counted. `target` may be a queue_pair's or any other connectable.
class bench_meeting {
  public:
    /// `config` must outlive this object; the connection ends with it.
    bench_meeting(std::shared_ptr<connectable> target, const pair_bench_config& config);
    ~bench_meeting();

    /// Listens for one peer, or dials until it listens, at most connect_timeout long; runs `context` until
    /// the connection stands. Throws rocio::exception.
    void meet(boost::asio::io_context& context);

  private:
    class sized_target;
    std::shared_ptr<sized_target> target_;
    const pair_bench_config& config_;
};

} // namespace rocio::tools
