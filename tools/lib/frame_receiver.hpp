#pragma once

#include "lib/frame_check.hpp"
#include "lib/peer_source.hpp"

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
    frame_check_config verify{};
    std::optional<std::uint64_t> count{};    ///< Frames, then it ends; default endless.
    std::optional<std::uint64_t> sessions{}; ///< Peers, then it ends; default endless.
    /// Told of every beginning and end of a session: a sentence, and whether it is an error.
    std::function<void(const std::string&, bool)> report{};
    /// Told of every connection.
    std::function<void(const receive_server_snapshot&)> connected{};
};

struct frame_receiver_counts {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sessions = 0;
    std::uint64_t failed_sessions = 0;         ///< Ended by anything but a goodbye.
    std::optional<std::uint64_t> lost{};       ///< As frame_check_result.
    std::optional<std::uint64_t> duplicated{}; ///< As frame_check_result.
    std::uint64_t corrupt = 0;
};

/// The receiving half of `rocio recv` and `rocio demo`: takes peers one after the other, and checks every
/// frame. Not thread-safe; use it on its context.
class frame_receiver {
  public:
    using executor_type = boost::asio::io_context::executor_type;

    /// Throws rocio::exception.
    frame_receiver(boost::asio::io_context& context, const frame_receiver_config& config,
                   std::unique_ptr<peer_source> peers);

    /// Serves peers until count, sessions, the last peer or stop(); gives the error that made it end early.
    /// The object must live until it has ended.
    boost::asio::awaitable<error_info> run();
    void stop();

    /// Of the sessions to come.
    void expect_prbs_words_of(std::size_t bytes) noexcept { config_.verify.prbs_word_bytes = bytes; }

    const std::string& name() const noexcept { return config_.server.name; }
    std::string description() const { return peers_->description(); }
    const frame_receiver_counts& counts() const noexcept { return counts_; }
    receive_server_snapshot snapshot() const { return server_.snapshot(); }
    std::optional<handshake_snapshot> handshake() const {
        auto made = peers_->handshake();
        if (made) made->name = name();
        return made;
    }
    /// Between the first and the last frame of all sessions.
    double seconds() const;

  private:
    boost::asio::awaitable<void> serve(std::unique_ptr<any_handshake> peer);
    boost::asio::awaitable<error_code> take_frames();
    void on_frame(const frame& f);
    void begin_session();
    void end_session();
    bool done() const noexcept;
    void report(const std::string& text, bool is_error) const;

    frame_receiver_config config_;
    basic_receive_server<executor_type> server_;
    basic_receive_view<executor_type> view_;
    std::unique_ptr<peer_source> peers_;
    std::optional<frame_check> checker_;
    std::array<frame, 32> batch_{};
    frame_receiver_counts counts_{};
    std::chrono::steady_clock::time_point first_{};
    std::chrono::steady_clock::time_point last_{};
    std::uint64_t idle_ends_ = 0;
    bool stopping_ = false;
};

} // namespace rocio::tools
