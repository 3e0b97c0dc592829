#include "fpga/zmq_pair.hpp"

#include "fpga/endpoint_text.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <string>

#include <unistd.h>
#include <zmq.h>

namespace rocio::fpga::detail {

namespace asio = boost::asio;

namespace {

/// Messages taken before others have their turn.
constexpr int messages_per_turn = 64;
/// libzmq drops a peer that sends longer parts; the longest one of ours has 4096 bytes.
constexpr std::int64_t longest_part = 65536;
constexpr std::size_t most_parts = 6;
/// Of ports that are free with the next one.
constexpr int bind_tries = 32;

error_code last_code() {
    return {zmq_errno(), boost::system::system_category()};
}

void require(bool good) {
    if (!good) throw boost::system::system_error(last_code());
}

template <class T>
void set(void* socket, int option, T value) {
    require(zmq_setsockopt(socket, option, &value, sizeof value) == 0);
}

/// A socket that is not in `socket` by the time an option fails would keep its context for ever.
void make_socket(void*& socket, void* context, int type) {
    socket = zmq_socket(context, type);
    require(socket != nullptr);
    set(socket, ZMQ_LINGER, 0);
    set(socket, ZMQ_IPV6, 1);
    set(socket, ZMQ_MAXMSGSIZE, longest_part);
    // What nobody takes is not kept for whoever comes later.
    if (type == ZMQ_PUSH) set(socket, ZMQ_IMMEDIATE, 1);
}

std::string url(const asio::ip::address& address, std::uint16_t port) {
    return "tcp://" + endpoint_text(address, port);
}

std::uint16_t next_port(std::uint16_t port) {
    return static_cast<std::uint16_t>(port + 1);
}

} // namespace

zmq_pair::zmq_pair(const asio::any_io_executor& executor) : readable_(executor) {
    try {
        context_ = zmq_ctx_new();
        require(context_ != nullptr);
        make_socket(pull_, context_, ZMQ_PULL);
        make_socket(push_, context_, ZMQ_PUSH);
        int fd = -1;
        std::size_t size = sizeof fd;
        require(zmq_getsockopt(pull_, ZMQ_FD, &fd, &size) == 0);
        // Asio closes its descriptor; libzmq wants to keep its own.
        const int mine = ::dup(fd);
        if (mine < 0) throw boost::system::system_error(errno, boost::system::system_category());
        readable_.assign(mine);
    } catch (...) {
        close();
        throw;
    }
}

zmq_pair::~zmq_pair() {
    close();
}

void zmq_pair::close() {
    wanted_ = false;
    error_code ignored;
    readable_.close(ignored);
    for (void** socket : {&pull_, &push_}) {
        if (*socket != nullptr) zmq_close(*socket);
        *socket = nullptr;
    }
    // With no linger this takes no longer than libzmq's thread needs to close two sockets.
    if (context_ != nullptr) zmq_ctx_term(context_);
    context_ = nullptr;
}

error_code zmq_pair::connect(const endpoint& peer) {
    const auto push = url(peer.address(), peer.port()), pull = url(peer.address(), next_port(peer.port()));
    if (zmq_connect(push_, push.c_str()) != 0 || zmq_connect(pull_, pull.c_str()) != 0) return last_code();
    return {};
}

error_code zmq_pair::bind_once(const endpoint& where) {
    auto port = where.port();
    const auto address = endpoint_text(where.address(), port);
    const auto any = "tcp://" + address.substr(0, address.rfind(':')) + ":*";
    if (zmq_bind(pull_, port == 0 ? any.c_str() : url(where.address(), port).c_str()) != 0)
        return last_code();
    char bound[256] = {};
    std::size_t size = sizeof bound;
    if (zmq_getsockopt(pull_, ZMQ_LAST_ENDPOINT, bound, &size) != 0) return last_code();
    const std::string name(bound);
    port = static_cast<std::uint16_t>(std::stoul(name.substr(name.rfind(':') + 1)));
    if (port != 65535 && zmq_bind(push_, url(where.address(), next_port(port)).c_str()) == 0) {
        local_ = endpoint(where.address(), port);
        return {};
    }
    const auto ec = last_code();
    zmq_unbind(pull_, bound);
    return ec;
}

error_code zmq_pair::bind(const endpoint& where) {
    error_code ec;
    for (int i = 0; i < (where.port() == 0 ? bind_tries : 1); ++i) {
        ec = bind_once(where);
        if (!ec || ec != asio::error::address_in_use) return ec;
    }
    return ec;
}

bool zmq_pair::send(const bridge_parts& parts) {
    if (push_ == nullptr) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const int more = i + 1 < parts.size() ? ZMQ_SNDMORE : 0;
        // After the first part has found its peer the others follow it.
        if (zmq_send(push_, parts[i].data(), parts[i].size(), ZMQ_DONTWAIT | more) < 0) return false;
    }
    return true;
}

/// The next message, whole; with more parts than any has, the first ones.
bool zmq_pair::take(bridge_parts& parts) {
    parts.clear();
    bool more = true;
    while (more) {
        zmq_msg_t part;
        zmq_msg_init(&part);
        const bool got = zmq_msg_recv(&part, pull_, ZMQ_DONTWAIT) >= 0;
        if (got && parts.size() <= most_parts) {
            const auto* const data = static_cast<const std::byte*>(zmq_msg_data(&part));
            parts.emplace_back(data, data + zmq_msg_size(&part));
        }
        more = got && zmq_msg_more(&part) != 0;
        zmq_msg_close(&part);
        if (!got) return false;
    }
    return true;
}

void zmq_pair::receive(const std::shared_ptr<void>& keep,
                       const std::function<void(const bridge_parts&)>& on_message) {
    on_message_ = on_message;
    wanted_ = true;
    if (!waiting_) turn(keep);
}

void zmq_pair::stop() {
    wanted_ = false;
    error_code ignored;
    readable_.cancel(ignored);
}

/// libzmq's descriptor tells only that something changed, once; so the wait begins when all was taken.
void zmq_pair::turn(const std::shared_ptr<void>& keep) {
    bridge_parts parts;
    int taken = 0;
    while (wanted_ && taken < messages_per_turn && take(parts)) {
        ++taken;
        on_message_(parts);
    }
    if (!wanted_) return;
    waiting_ = true;
    const auto again = [this, keep](const error_code& = {}) {
        waiting_ = false;
        if (wanted_) turn(keep);
    };
    if (taken == messages_per_turn) {
        asio::post(readable_.get_executor(), again);
    } else {
        readable_.async_wait(asio::posix::stream_descriptor::wait_read, again);
    }
}

} // namespace rocio::fpga::detail
