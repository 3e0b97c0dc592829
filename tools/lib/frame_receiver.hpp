#pragma once

#include "lib/peer_acceptor.hpp"
#include "lib/prbs.hpp"

#include <rocio/stream/receive_server.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace rocio::tools {

struct frame_receiver_config {
    receive_server_config server{};
    transport_config transport{};
    peer_acceptor_config acceptor{};
    std::optional<std::uint64_t> count{};    ///< Frames, then it ends; default endless.
    std::optional<std::uint64_t> sessions{}; ///< Peers, then it ends; default endless.
    /// Told of every beginning and end of a session: a sentence, and whether it is an error.
    std::function<void(const std::string&, bool)> report{};
};

struct frame_receiver_counts {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sessions = 0;
    std::uint64_t failed_sessions = 0; ///< Ended by anything but a goodbye.
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t corrupt = 0;
};

/// The receiving half of `rocio recv` and `rocio demo`: takes peers one after the other by TCP rendezvous
/// or rdma_cm, and checks the PRBS of every frame. Not thread-safe; use it on its context.
class frame_receiver {
  public:
    using executor_type = boost::asio::io_context::executor_type;

    /// Listens. Throws rocio::exception.
    frame_receiver(boost::asio::io_context& context, const frame_receiver_config& config);

    /// Serves peers until count, sessions or stop(); gives the error that made it end early. The object must
    /// live until it has ended.
    boost::asio::awaitable<error_info> run();
    void stop();

    boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_->endpoint(); }
    const frame_receiver_counts& counts() const noexcept { return counts_; }
    receive_server_snapshot snapshot() const { return server_.snapshot(); }
    /// Between the first and the last frame of all sessions.
    double seconds() const;

  private:
    boost::asio::awaitable<void> serve(std::unique_ptr<any_handshake> peer);
    boost::asio::awaitable<error_code> take_frames();
    void check(const frame& f);
    void begin_session();
    void end_session();
    bool done() const noexcept;
    void report(const std::string& text, bool is_error) const;

    frame_receiver_config config_;
    basic_receive_server<executor_type> server_;
    basic_receive_view<executor_type> view_;
    std::unique_ptr<peer_acceptor> acceptor_;
    std::optional<prbs_checker> checker_;
    std::array<frame, 32> batch_{};
    frame_receiver_counts counts_{};
    std::chrono::steady_clock::time_point first_{};
    std::chrono::steady_clock::time_point last_{};
    bool stopping_ = false;
};

} // namespace rocio::tools
