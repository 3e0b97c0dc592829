#pragma once

#include "http_session.hpp"

#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace rocio::detail {

/// Accepts connections and hands them to sessions; everything after open() and start() runs on one strand.
class status_listener : public std::enable_shared_from_this<status_listener> {
  public:
    status_listener(const boost::asio::any_io_executor& executor, const status_source& source,
                    status_server_config config);

    error_info open();
    void start();
    void stop();
    status_server_snapshot snapshot() const;

  private:
    using tcp = boost::asio::ip::tcp;

    boost::asio::awaitable<void> accept_loop();
    boost::asio::awaitable<void> back_off(const error_code& why);
    void take(tcp::socket socket);
    void refuse(tcp::socket& socket);
    void log(const std::string& text) const;

    boost::asio::strand<boost::asio::any_io_executor> strand_;
    std::shared_ptr<session_host> host_;
    tcp::acceptor acceptor_;
    boost::asio::steady_timer timer_;
    std::chrono::milliseconds pause_; ///< Before the next try after a failure.
    std::uint16_t port_ = 0;

    std::atomic<std::uint64_t> accepted_{0};
    std::atomic<std::uint64_t> evicted_{0};
    std::atomic<std::uint64_t> refused_{0};
    std::atomic<std::uint64_t> accept_failures_{0};
};

} // namespace rocio::detail
