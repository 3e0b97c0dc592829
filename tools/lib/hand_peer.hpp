#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/static_peer.hpp>
#include <rocio/types/parameters.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rocio::tools {

struct hand_peer_config {
    gid address{};                             ///< Of the other side.
    std::uint16_t udp_port = 4791;             ///< Of the other side.
    std::optional<std::uint32_t> queue_pair{}; ///< Of the other side; default: read from standard input.
    std::optional<std::uint32_t>
        receive_psn{};                        ///< The one we expect first; default: as the queue pair has it.
    std::optional<std::uint32_t> send_psn{};  ///< The one we send first; default: as the queue pair has it.
    std::chrono::milliseconds timeout{60000}; ///< To wait for the line.
    /// Gets the line with our numbers, and what to do with it if we wait.
    std::function<void(const std::string& line, bool waits)> print{};
};

class hand_exchange;

/// A handshake that a person, or a script, carries out: prints our numbers, and reads the other side's from a
/// line of standard input where they are not known beforehand. The rest as static_peer: nobody is told
/// anything, and nothing watches. Not thread-safe; use it on its context.
class hand_peer {
  public:
    hand_peer(asio::io_context& context, hand_peer_config config);

    /// void(error_code, peer_parameters). Errors: errc::handshake_timed_out, errc::invalid_peer_parameters,
    /// errc::peer_closed where standard input ended. Cancellation: `terminal` and `total`.
    template <class Token>
    auto async_exchange(const local_parameters& local, Token&& token) {
        using signature = void(error_code, peer_parameters);
        return asio::async_initiate<Token, signature>(
            async::control_initiation<signature, asio::any_io_executor>{executor_}, token, &start, exchange_,
            local);
    }
    template <class Token>
    auto async_ready(Token&& token) {
        return rest_.async_ready(std::forward<Token>(token));
    }
    template <class Token>
    auto async_wait_lost(Token&& token) {
        return rest_.async_wait_lost(std::forward<Token>(token));
    }
    template <class Token>
    auto async_release(Token&& token) {
        return rest_.async_release(std::forward<Token>(token));
    }
    error_info last_error() const;

  private:
    static void start(const std::shared_ptr<hand_exchange>& exchange, const local_parameters& local,
                      async::control_handler<void(error_code, peer_parameters)> handler);

    asio::any_io_executor executor_;
    std::shared_ptr<hand_exchange> exchange_;
    static_peer rest_;
};

} // namespace rocio::tools
