#include "bench/raw_udp.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocio::tools {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t batch = 16;
constexpr std::uint32_t in_flight = 32;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A non-blocking UDP socket on a free port of a loopback address.
class datagram_socket {
  public:
    explicit datagram_socket(std::uint32_t address) {
        if (fd_ < 0) fail("socket");
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(address);
        if (::bind(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) fail("bind");
        socklen_t size = sizeof here_;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&here_), &size);
    }
    ~datagram_socket() { ::close(fd_); }
    datagram_socket(const datagram_socket&) = delete;
    datagram_socket& operator=(const datagram_socket&) = delete;

    int fd() const noexcept { return fd_; }
    const sockaddr_in& here() const noexcept { return here_; }
    void send(const void* data, std::size_t size, const sockaddr_in& to) const {
        ::sendto(fd_, data, size, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }

  private:
    int fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in here_{};
};

void pin_this_thread(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

/// Room for a batch of datagrams of one size.
class datagram_batch {
  public:
    explicit datagram_batch(std::uint32_t bytes) : memory_(batch * bytes) {
        for (std::size_t i = 0; i < batch; ++i) {
            parts_[i] = {memory_.data() + i * bytes, bytes};
            messages_[i].msg_hdr.msg_iov = &parts_[i];
            messages_[i].msg_hdr.msg_iovlen = 1;
        }
    }
    void address(sockaddr_in& to) {
        for (auto& m : messages_) {
            m.msg_hdr.msg_name = &to;
            m.msg_hdr.msg_namelen = sizeof to;
        }
    }
    mmsghdr* messages() noexcept { return messages_.data(); }
    std::uint8_t* bytes() noexcept { return memory_.data(); }

  private:
    std::vector<std::uint8_t> memory_;
    std::array<iovec, batch> parts_{};
    std::array<mmsghdr, batch> messages_{};
};

void echo(const datagram_socket& socket, std::uint32_t bytes, const std::atomic<bool>& stop, unsigned cpu) {
    pin_this_thread(cpu);
    std::vector<std::uint8_t> buffer(bytes);
    sockaddr_in from{};
    while (!stop.load(std::memory_order_relaxed)) {
        socklen_t size = sizeof from;
        const auto n =
            ::recvfrom(socket.fd(), buffer.data(), bytes, 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (n > 0) socket.send(buffer.data(), static_cast<std::size_t>(n), from);
    }
}

void sink(const datagram_socket& socket, std::uint32_t bytes, sockaddr_in sender,
          const std::atomic<bool>& stop, std::atomic<std::uint64_t>& received, unsigned cpu) {
    pin_this_thread(cpu);
    datagram_batch datagrams(bytes);
    std::uint64_t total = 0;
    while (!stop.load(std::memory_order_relaxed)) {
        const int n = ::recvmmsg(socket.fd(), datagrams.messages(), batch, 0, nullptr);
        if (n <= 0) continue;
        total += static_cast<std::uint64_t>(n);
        received.store(total, std::memory_order_relaxed);
        socket.send(&total, sizeof total, sender);
    }
}

/// The newest total the receiver has told, or the old one.
std::uint64_t read_acknowledgements(const datagram_socket& socket, std::uint64_t acknowledged) {
    std::uint64_t told = 0;
    while (::recv(socket.fd(), &told, sizeof told, 0) == sizeof told) acknowledged = told;
    return acknowledged;
}

} // namespace

round_trip_result raw_udp_round_trip(std::uint32_t bytes, std::uint32_t iterations, const bench_cpus& cpus) {
    const datagram_socket near(0x7F3D0001), far(0x7F3D0002);
    std::atomic<bool> stop{false};
    std::thread other([&] { echo(far, bytes, stop, cpus.second); });
    pin_this_thread(cpus.first);
    std::vector<std::uint8_t> buffer(bytes);
    std::vector<double> samples;
    samples.reserve(iterations);
    const auto warm_up = iterations / 10;
    for (std::uint32_t i = 0; i < iterations + warm_up; ++i) {
        const auto begin = clock::now();
        near.send(buffer.data(), bytes, far.here());
        while (::recv(near.fd(), buffer.data(), bytes, 0) < 0 &&
               clock::now() - begin < std::chrono::seconds{1}) {
        }
        if (i >= warm_up)
            samples.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    }
    stop = true;
    other.join();
    return round_trips(samples, 0);
}

stream_result raw_udp_stream(std::uint32_t bytes, std::chrono::milliseconds duration,
                             const bench_cpus& cpus) {
    const datagram_socket near(0x7F3D0001), far(0x7F3D0002);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> received{0};
    std::thread other([&] { sink(far, bytes, near.here(), stop, received, cpus.second); });
    pin_this_thread(cpus.first);
    datagram_batch datagrams(bytes);
    sockaddr_in to = far.here();
    datagrams.address(to);
    std::uint64_t sent = 0, acknowledged = 0, written_off = 0;
    const auto begin = clock::now();
    auto last_progress = begin;
    for (auto now = begin; now - begin < duration; now = clock::now()) {
        const auto before = acknowledged;
        acknowledged = read_acknowledgements(near, acknowledged);
        if (acknowledged != before) last_progress = now;
        if (now - last_progress > std::chrono::milliseconds{20}) {
            // Dropped datagrams are never acknowledged: stop waiting for them.
            written_off = sent - acknowledged;
            last_progress = now;
        }
        if (sent - acknowledged - written_off > in_flight - batch) continue;
        const int n = ::sendmmsg(near.fd(), datagrams.messages(), batch, 0);
        if (n > 0) sent += static_cast<std::uint64_t>(n);
    }
    const auto seconds = std::chrono::duration<double>(clock::now() - begin).count();
    const auto total = received.load();
    stop = true;
    other.join();
    return {static_cast<double>(total) * bytes / seconds, written_off, 0};
}

} // namespace rocio::tools
