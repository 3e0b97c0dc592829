#pragma once

#include <rocio/types/parameters.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rocio::test {

/// The text that rdma-core's ibv_rc_pingpong and ibv_uc_pingpong exchange: "LID:QPN:PSN:GID" in hexadecimal
/// with its terminating zero.
std::string pingpong_text(const local_parameters& ours);
/// Nothing if it is not such a text.
std::optional<peer_parameters> parse_pingpong_text(const std::string& text, mtu path_mtu);

/// A handshake with one of those programs. The active side says its text, hears the other's and says "done";
/// the passive side answers when its queue pair is ready. Then both close the connection, so nothing tells of
/// the peer's end.
class pingpong_handshake {
  public:
    using tcp = boost::asio::ip::tcp;

    /// Active with `server`, else passive on `listen`.
    pingpong_handshake(const boost::asio::any_io_executor& executor, std::optional<tcp::endpoint> server,
                       tcp::endpoint listen, mtu path_mtu);

    template <class Token>
    auto async_exchange(const local_parameters& ours, Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code, peer_parameters)>(
            [](auto handler, std::shared_ptr<state> s, const local_parameters& local) {
                auto executor = s->executor;
                boost::asio::co_spawn(executor, exchange(std::move(s), local),
                                      [h = std::move(handler)](const std::exception_ptr& e,
                                                               const peer_parameters& peer) mutable {
                                          std::move(h)(code_of(e), peer);
                                      });
            },
            token, state_, ours);
    }
    template <class Token>
    auto async_ready(Token&& token) {
        return run_step(&pingpong_handshake::ready, std::forward<Token>(token));
    }
    template <class Token>
    auto async_wait_lost(Token&& token) {
        return run_step(&pingpong_handshake::wait_released, std::forward<Token>(token));
    }
    template <class Token>
    auto async_release(Token&& token) {
        return run_step(&pingpong_handshake::release, std::forward<Token>(token));
    }
    error_info last_error() const { return {}; }

  private:
    struct state {
        explicit state(const boost::asio::any_io_executor& e) : executor(e), socket(e), released(e) {}
        boost::asio::any_io_executor executor;
        tcp::socket socket;
        boost::asio::steady_timer released;
        std::optional<tcp::endpoint> server{};
        tcp::endpoint listen{};
        mtu path_mtu = mtu::b1024;
        local_parameters ours{};
    };
    using step = boost::asio::awaitable<void> (*)(std::shared_ptr<state>);

    static error_code code_of(const std::exception_ptr& failure);
    static boost::asio::awaitable<peer_parameters> exchange(std::shared_ptr<state> s, local_parameters ours);
    static boost::asio::awaitable<void> ready(std::shared_ptr<state> s);
    static boost::asio::awaitable<void> wait_released(std::shared_ptr<state> s);
    static boost::asio::awaitable<void> release(std::shared_ptr<state> s);

    template <class Token>
    auto run_step(step what, Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<state> s, step f) {
                auto executor = s->executor;
                boost::asio::co_spawn(executor, f(std::move(s)),
                                      [h = std::move(handler)](const std::exception_ptr& e) mutable {
                                          std::move(h)(code_of(e));
                                      });
            },
            token, state_, what);
    }

    std::shared_ptr<state> state_;
};

} // namespace rocio::test
