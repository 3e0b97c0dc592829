#include "bench/datagram_socket.hpp"
#include "bench/measured_part.hpp"
#include "bench/raw_udp.hpp"
#include "bench/two_threads.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>

namespace rocio::tools {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint32_t default_buffer = 212'992; ///< Of a socket, unless the system is told otherwise.
constexpr std::uint32_t train_length = 15;
constexpr std::uint32_t trains = 3;
constexpr std::uint32_t largest_train = 65'507;
constexpr std::size_t staging = 65'536;
constexpr auto given_up = std::chrono::milliseconds{20};

/// An acknowledgement as large as a real one: the number of datagrams received so far, and room for BTH, AETH
/// and ICRC.
using acknowledgement = std::array<std::uint8_t, 20>;

constexpr std::uint32_t datagram_size(std::uint32_t size) noexcept {
    return std::min(size, raw_datagram) + raw_overhead;
}

/// What the kernel charges a socket for one datagram, roughly.
constexpr std::uint32_t charge(std::uint32_t bytes) noexcept {
    return std::bit_ceil(bytes + 384) + 256;
}

/// The window of the user-space device: three trains fill the default buffer where the receiver's kernel has
/// to take them apart, which makes each datagram but the first cost its bytes and 832 more.
constexpr std::uint32_t train_of_a_third(std::uint32_t bytes) noexcept {
    constexpr std::uint32_t third = default_buffer / trains;
    return 1 + (third - std::min(third, charge(bytes))) / (bytes + 832);
}

/// One side of the stream; counts in datagrams.
struct flow {
    flow(raw_stream_kind how, const raw_udp_config& c)
        : kind(how),
          config(c),
          per_message(raw_datagrams_of(c.size)),
          window(raw_window_of(how, c.size, c.window)),
          total(c.messages() * per_message) {}

    measured_part part() const { return {config.warm_up() * per_message, config.count * per_message}; }

    raw_stream_kind kind;
    const raw_udp_config& config;
    std::uint64_t per_message;
    raw_window window;
    std::uint64_t total;
};

class sink {
  public:
    sink(const flow& f, const datagram_socket& socket)
        : flow_(f), socket_(socket), batch_(datagram_size(f.config.size)), staging_(staging) {}

    measurement run(const sockaddr_in& sender, const std::atomic<bool>& stop) {
        auto part = flow_.part();
        acknowledgement ack{};
        std::uint64_t total = 0;
        part.pass(0);
        while (!stop.load(std::memory_order_relaxed)) {
            const auto n = take();
            if (n == 0) continue;
            total += n;
            std::memcpy(ack.data(), &total, sizeof total);
            socket_.send(ack, sender);
            part.pass(total);
        }
        return part.result();
    }

  private:
    std::size_t take() {
        if (flow_.kind == raw_stream_kind::plain)
            return batch_.receive(socket_, std::max(flow_.window.together, 8U));
        return socket_.receive(staging_) / datagram_size(flow_.config.size);
    }

    const flow& flow_;
    const datagram_socket& socket_;
    datagram_batch batch_;
    std::vector<std::uint8_t> staging_;
};

class source {
  public:
    source(const flow& f, const datagram_socket& socket, const sockaddr_in& to)
        : flow_(f),
          socket_(socket),
          batch_(datagram_size(f.config.size)),
          train_(static_cast<std::uint16_t>(datagram_size(f.config.size)), f.window.together, to) {
        batch_.address(to);
    }

    measurement run() {
        auto part = flow_.part();
        part.pass(0);
        last_progress_ = clock::now();
        while (acknowledged_ < flow_.total) {
            while (on_their_way() + flow_.window.together <= flow_.window.in_flight) {
                const auto n = send();
                if (n == 0) break;
                sent_ += n;
            }
            if (!read_acknowledgements()) continue;
            part.pass(acknowledged_);
            if (flow_.config.progress)
                flow_.config.progress->store(acknowledged_ / flow_.per_message, std::memory_order_relaxed);
        }
        auto m = part.result();
        m.messages /= flow_.per_message;
        m.peak_rate /= static_cast<double>(flow_.per_message);
        m.lost = written_off_;
        return m;
    }

  private:
    std::uint64_t on_their_way() const noexcept { return sent_ - acknowledged_ - written_off_; }
    std::size_t send() {
        if (flow_.kind == raw_stream_kind::plain) return batch_.send(socket_, flow_.window.together);
        return train_.send(socket_) ? flow_.window.together : 0;
    }
    /// False when there is nothing new. Datagrams that were dropped are never acknowledged: after a while
    /// they are no longer waited for.
    bool read_acknowledgements() {
        acknowledgement ack;
        auto n = socket_.receive(ack); // a socket that sleeps does so here: the window is full
        if (n == 0) {
            if (clock::now() - last_progress_ < given_up) return false;
            written_off_ += on_their_way();
            last_progress_ = clock::now();
            return false;
        }
        for (; n == ack.size(); n = socket_.take(ack))
            std::memcpy(&acknowledged_, ack.data(), sizeof acknowledged_);
        last_progress_ = clock::now();
        return true;
    }

    const flow& flow_;
    const datagram_socket& socket_;
    datagram_batch batch_;
    datagram_train train_;
    std::uint64_t sent_ = 0, acknowledged_ = 0, written_off_ = 0;
    clock::time_point last_progress_{};
};

} // namespace

raw_window raw_window_of(raw_stream_kind kind, std::uint32_t size, std::uint32_t window) noexcept {
    const auto bytes = datagram_size(size);
    const auto datagrams = std::max<std::uint64_t>(1, std::uint64_t{window} * raw_datagrams_of(size));
    raw_window w;
    if (kind == raw_stream_kind::segmented) {
        const auto longest = std::min({train_length, largest_train / bytes, train_of_a_third(bytes)});
        w.together = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(datagrams / trains, 1, longest));
        w.in_flight = static_cast<std::uint32_t>(std::min<std::uint64_t>(datagrams, trains * w.together));
        return w;
    }
    w.in_flight =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(datagrams, default_buffer / charge(bytes)));
    w.together = std::clamp<std::uint32_t>(w.in_flight / trains, 1, datagram_batch::most);
    return w;
}

measurement raw_udp_stream(raw_stream_kind kind, const raw_udp_config& config) {
    const auto how = config.sleeps ? datagram_socket::waiting::sleeps : datagram_socket::waiting::spins;
    const datagram_socket near(0x7F3D0001, how), far(0x7F3D0002, how);
    if (kind == raw_stream_kind::segmented) far.coalesce();
    const flow f(kind, config);
    std::atomic<bool> stop{false};
    return on_two_threads(
        config.cpus,
        [&] {
            source s(f, near, far.here());
            auto m = s.run();
            stop = true;
            return m;
        },
        [&] {
            sink s(f, far);
            return s.run(near.here(), stop);
        },
        [&] { stop = true; });
}

} // namespace rocio::tools
