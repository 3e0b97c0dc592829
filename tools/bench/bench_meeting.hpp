#pragma once

#include "bench/pair_bench.hpp"

#include <rocio/connect/tcp_listener.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace rocio::tools {

/// How the two ends of a benchmark find each other: rocio's TCP rendezvous without signs of life, so that
/// only what belongs to messages is counted. For one thread; must go before the context of meet().
class bench_meeting {
  public:
    /// `config` must outlive this object; the connections end with it.
    explicit bench_meeting(const pair_bench_config& config);
    ~bench_meeting();

    /// Connects one target (a queue_pair's or any other connectable) with the peer's next: listens, or dials
    /// until the other side listens, at most connect_timeout long; runs `context` until the connection
    /// stands. Throws rocio::exception; errc::peer_lost when the configuration's `abandoned` becomes true.
    void meet(boost::asio::io_context& context, std::shared_ptr<connectable> target);

  private:
    class sized_target;
    tcp_listener& listener(boost::asio::io_context& context);
    [[noreturn]] void give_up(boost::asio::io_context& context, const std::optional<error_info>& result);

    const pair_bench_config& config_;
    std::vector<std::shared_ptr<sized_target>> targets_{};
    std::optional<tcp_listener> listener_{};
};

} // namespace rocio::tools
