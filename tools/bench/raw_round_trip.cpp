#include "bench/datagram_socket.hpp"
#include "bench/measured_part.hpp"
#include "bench/open_loop.hpp"
#include "bench/raw_udp.hpp"
#include "bench/two_threads.hpp"

#include <rocio/types/error.hpp>

#include <algorithm>
#include <chrono>

namespace rocio::tools {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t batch = 8;
constexpr std::chrono::seconds longest_silence{1};

/// Messages between two sockets, in datagrams that the receiving buffer holds: a batch waits for the
/// acknowledgement of the one before the last.
class raw_messages {
  public:
    raw_messages(const datagram_socket& socket, const sockaddr_in& to, const std::atomic<bool>& stop)
        : socket_(socket), to_(to), stop_(stop), datagrams_(raw_datagram), buffer_(raw_datagram) {
        datagrams_.address(to);
    }

    void send(std::uint32_t size) {
        const std::size_t n = raw_datagrams_of(size);
        if (n == 1) return socket_.send({buffer_.data(), size}, to_);
        for (std::size_t sent = 0, batches = 0; sent < n; ++batches) {
            if (batches >= 2) receive_one();
            sent += datagrams_.send(socket_, std::min(batch, n - sent));
        }
    }
    /// False when the other side stopped.
    bool receive(std::uint32_t size) {
        const std::size_t n = raw_datagrams_of(size);
        if (n == 1) return receive_one();
        const std::size_t batches = (n + batch - 1) / batch;
        for (std::size_t b = 0; b < batches; ++b) {
            const auto expected = std::min(batch, n - b * batch);
            for (std::size_t got = 0; got < expected;)
                if (!wait([&] { return got += datagrams_.receive(socket_, expected - got); })) return false;
            if (b + 2 < batches) socket_.send({buffer_.data(), 1}, to_);
        }
        return true;
    }
    bool receive_one() {
        return wait([&] { return socket_.receive(buffer_); });
    }

  private:
    /// Until `look` finds something; false when the other side stopped.
    template <class Look>
    bool wait(Look look) {
        const auto begin = clock::now();
        while (look() == 0) {
            if (stop_.load(std::memory_order_relaxed)) return false;
            if (clock::now() - begin > longest_silence)
                throw exception({errc::peer_lost, "a datagram of the raw baseline was lost"});
        }
        return true;
    }

    const datagram_socket& socket_;
    const sockaddr_in to_;
    const std::atomic<bool>& stop_;
    datagram_batch datagrams_;
    std::vector<std::uint8_t> buffer_;
};

std::uint32_t answer_of(const raw_udp_config& config) noexcept {
    return config.answer_size ? static_cast<std::uint32_t>(config.answer_size) : config.size;
}

void tell(const raw_udp_config& config, std::uint64_t messages) {
    if (config.progress) config.progress->store(messages, std::memory_order_relaxed);
}

measurement one_by_one(const raw_udp_config& config, raw_messages& messages) {
    return time_calls(config.warm_up(), config.count, [&](std::uint64_t before) {
        messages.send(config.size);
        if (!messages.receive(answer_of(config)))
            throw exception({errc::peer_lost, "the other end of the raw baseline failed"});
        tell(config, before + 1);
    });
}

measurement at_a_rate(const raw_udp_config& config, const datagram_socket& socket, const sockaddr_in& to) {
    measured_part part(config.warm_up(), config.count);
    open_loop loop(config.rate, config.warm_up(), config.count, config.window);
    std::vector<std::uint8_t> buffer(std::max(config.size, answer_of(config)));
    part.pass(0);
    loop.begin(clock::now());
    auto heard = clock::now();
    while (!loop.is_over()) {
        const auto now = clock::now();
        if (loop.may_send(now)) {
            socket.send({buffer.data(), config.size}, to);
            loop.sent();
        }
        if (now - heard > longest_silence && loop.messages_sent() > loop.messages_answered())
            throw exception({errc::peer_lost, "a datagram of the raw baseline was lost"});
        if (socket.take(buffer) == 0) continue;
        heard = clock::now();
        loop.answered(heard);
        part.pass(loop.messages_answered());
        tell(config, loop.messages_answered());
    }
    auto m = part.result();
    m.latencies = loop.take_latencies();
    return m;
}

measurement echo(const raw_udp_config& config, raw_messages& messages) {
    measured_part part(config.warm_up(), config.count);
    part.pass(0);
    for (std::uint64_t n = 1; n <= config.messages(); ++n) {
        if (!messages.receive(config.size)) break;
        messages.send(answer_of(config));
        part.pass(n);
    }
    return part.result();
}

} // namespace

measurement raw_udp_round_trips(const raw_udp_config& config) {
    const auto how = config.sleeps ? datagram_socket::waiting::sleeps : datagram_socket::waiting::spins;
    const datagram_socket near(0x7F3D0001, how), far(0x7F3D0002, how);
    std::atomic<bool> stop{false};
    return on_two_threads(
        config.cpus,
        [&] {
            if (config.rate > 0) return at_a_rate(config, near, far.here());
            raw_messages messages(near, far.here(), stop);
            return one_by_one(config, messages);
        },
        [&] {
            raw_messages messages(far, near.here(), stop);
            return echo(config, messages);
        },
        [&] { stop = true; });
}

} // namespace rocio::tools
