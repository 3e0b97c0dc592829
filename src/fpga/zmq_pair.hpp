#pragma once

#include "fpga/memory_bridge_protocol.hpp"

#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace rocio::fpga::detail {

/// A PULL and a PUSH socket of libzmq, which never block, and the wait for messages.
class zmq_pair {
  public:
    using endpoint = boost::asio::ip::tcp::endpoint;

    /// Throws boost::system::system_error.
    explicit zmq_pair(const boost::asio::any_io_executor& executor);
    ~zmq_pair();
    zmq_pair(const zmq_pair&) = delete;
    zmq_pair& operator=(const zmq_pair&) = delete;

    /// PUSH to the port, PULL from the next one.
    error_code connect(const endpoint& peer);
    /// PULL at the port (0: a free one with a free one behind it), PUSH at the next one.
    error_code bind(const endpoint& where);
    const endpoint& local() const noexcept { return local_; }

    /// False when the message cannot go now.
    bool send(const bridge_parts& parts);
    /// Calls `on_message` for all that arrives, until stop() or close(); the wait holds `keep`.
    void receive(const std::shared_ptr<void>& keep,
                 const std::function<void(const bridge_parts&)>& on_message);
    void stop();
    void close();
    bool is_open() const noexcept { return pull_ != nullptr; }

  private:
    void turn(const std::shared_ptr<void>& keep);
    bool take(bridge_parts& parts);
    error_code bind_once(const endpoint& where);

    void* context_ = nullptr;
    void* pull_ = nullptr;
    void* push_ = nullptr;
    boost::asio::posix::stream_descriptor readable_;
    endpoint local_{};
    bool wanted_ = false, waiting_ = false;
    std::function<void(const bridge_parts&)> on_message_{};
};

} // namespace rocio::fpga::detail
