#include "soft/udp_receiver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <netinet/udp.h>

namespace rocio::soft {

namespace {

#ifndef UDP_GRO
constexpr int UDP_GRO = 104;
#endif

/// So often the other mode must have been the better one.
constexpr unsigned streak_of_change = 4;
/// What comes one after the other while messages go to and fro: an answer and an acknowledgement.
constexpr unsigned usual_run = 2;
/// Each change costs a system call: what did not pay is tried again less often.
constexpr unsigned longest_patience = 4096;
constexpr int most_gain = 1024;
constexpr std::size_t large_datagram = 512;
constexpr int attempts = 8;

bool is_empty(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK;
}

/// 0: the message is one datagram.
std::size_t segment_size(msghdr& m) noexcept {
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO) continue;
        int size = 0;
        std::memcpy(&size, CMSG_DATA(c), sizeof size);
        return size > 0 ? static_cast<std::size_t>(size) : 0;
    }
    return 0;
}

} // namespace

udp_receiver::udp_receiver(int fd)
    : fd_(fd), staging_(std::make_unique_for_overwrite<std::byte[]>(messages * stride)) {
    for (std::size_t i = 0; i < messages; ++i) {
        pieces_[i] = {place(i), stride};
        headers_[i].msg_hdr.msg_name = &from_[i];
        headers_[i].msg_hdr.msg_iov = &pieces_[i];
        headers_[i].msg_hdr.msg_iovlen = 1;
        prepare(i);
    }
}

std::size_t udp_receiver::receive(std::span<received_datagram> out) noexcept {
    if (out.empty()) return 0;
    if (current_ < fetched_count_) return give_out(out);
    const std::size_t n = burst_ ? receive_burst(out) : receive_single(out);
    if (n != 0) calls.add();
    return n;
}

/// ICMP and device errors surface as errors of the next receive; the socket works on (bugs of other
/// receivers: the loop ends at ECONNREFUSED).
bool udp_receiver::is_passed_over(int error) noexcept {
    if (is_empty(error)) return false;
    socket_errors.add();
    return true;
}

/// What was joined before UDP_GRO was switched off looks like one datagram. So the change takes place only
/// when nothing waits: what comes later is not joined.
bool udp_receiver::may_be_train() noexcept {
    if (!may_hold_train_) return false;
    const ssize_t n = ::recv(fd_, nullptr, 0, MSG_PEEK);
    may_hold_train_ = n >= 0 || !is_empty(errno);
    return may_hold_train_;
}

std::size_t udp_receiver::receive_one() noexcept {
    for (int attempt = 0; attempt < attempts; ++attempt) {
        socklen_t size = sizeof from_[0];
        const ssize_t n = ::recvfrom(fd_, place(0), stride, 0, &from_[0].generic, &size);
        if (n >= 0) {
            fetched_[0] = {static_cast<std::size_t>(n), 0};
            return 1;
        }
        if (!is_passed_over(errno)) return 0;
    }
    return 0;
}

/// One small datagram is the usual thing while messages go to and fro. After a long one the rest is fetched
/// too: the kernel gives a socket's memory back only when its queue was read to the end (or by quarters of
/// SO_RCVBUF), so acknowledging before that would let a peer with a full window overrun the buffer.
std::size_t udp_receiver::receive_single(std::span<received_datagram> out) noexcept {
    if (may_be_train()) {
        set_burst(true);
        return receive_burst(out);
    }
    fetched_count_ = receive_one();
    current_ = offset_ = 0;
    const bool more = fetched_count_ == 1 && fetched_[0].length >= large_datagram;
    if (more && out.size() > 1) fetch(1, out.size());
    learn_single();
    return give_out(out);
}

/// A train is read by itself: what waits behind it is best read when it is needed, by a processor that has
/// it in its cache then. Of its memory the kernel may hold back less than a quarter of SO_RCVBUF, for which
/// there is room: joined, trains cost that much less than their sender counts (socket_cost.hpp).
std::size_t udp_receiver::receive_burst(std::span<received_datagram> out) noexcept {
    fetched_count_ = 0;
    current_ = offset_ = 0;
    const bool expected = expects_train_;
    fetch(0, expected ? 1 : out.size());
    expects_train_ = fetched_count_ != 0 && fetched_[fetched_count_ - 1].segment != 0;
    const bool other = expected && fetched_count_ == 1 && !expects_train_;
    if (other && fetched_[0].length >= large_datagram) fetch(1, out.size());
    learn_burst();
    return give_out(out);
}

/// As recvmmsg() for one, without what that does for the sake of several.
int udp_receiver::receive_message(std::size_t i) noexcept {
    const ssize_t n = ::recvmsg(fd_, &headers_[i].msg_hdr, 0);
    if (n < 0) return -1;
    headers_[i].msg_len = static_cast<unsigned>(n);
    return 1;
}

/// Fills the places [first, most) as far as there are messages.
void udp_receiver::fetch(std::size_t first, std::size_t most) noexcept {
    const std::size_t room = std::min(most, messages) - std::min(most, first);
    if (room == 0) return;
    int n = -1;
    for (int attempt = 0; attempt < attempts && n < 0; ++attempt) {
        n = room == 1 ? receive_message(first)
                      : ::recvmmsg(fd_, headers_.data() + first, static_cast<unsigned>(room), 0, nullptr);
        if (n < 0 && !is_passed_over(errno)) return;
    }
    for (std::size_t i = first; i < first + static_cast<std::size_t>(std::max(n, 0)); ++i) {
        const std::size_t length = headers_[i].msg_len;
        const std::size_t segment = joins_ ? segment_size(headers_[i].msg_hdr) : 0;
        fetched_[i] = {length, segment < length ? segment : 0};
        trains.add(fetched_[i].segment != 0);
        ++fetched_count_;
        prepare(i);
    }
}

/// The kernel writes into a header how much of it it used; most calls use few of them or none.
void udp_receiver::prepare(std::size_t i) noexcept {
    msghdr& m = headers_[i].msg_hdr;
    m.msg_namelen = sizeof from_[i];
    m.msg_control = joins_ ? controls_[i].space.data() : nullptr;
    m.msg_controllen = joins_ ? controls_[i].space.size() : 0;
}

std::size_t udp_receiver::give_out(std::span<received_datagram> out) noexcept {
    std::size_t n = 0;
    while (n < out.size() && current_ < fetched_count_) {
        const message& m = fetched_[current_];
        const std::size_t left = m.length - offset_;
        const std::size_t size = m.segment == 0 ? left : std::min(m.segment, left);
        out[n++] = {gid_of(from_[current_]),
                    port_of(from_[current_]),
                    size > longest_packet,
                    {place(current_) + offset_, std::min(size, longest_packet)}};
        offset_ += size;
        if (offset_ < m.length) continue;
        ++current_;
        offset_ = 0;
        if (m.segment != 0) break;
    }
    return n;
}

/// A datagram right behind another one argues for bursts, one between two empty looks against them. Where no
/// look is empty, because both ends work all the time, this takes messages to and fro for a burst; that it
/// did not pay makes it rare.
void udp_receiver::learn_single() noexcept {
    if (fetched_count_ == 0) {
        if (run_ == 1) streak_ = 0;
        run_ = 0;
        return;
    }
    run_ += static_cast<unsigned>(fetched_count_);
    if (run_ > usual_run && ++streak_ >= patience_) set_burst(true);
}

/// It ends at an empty look: a datagram that waits then may be a train (may_be_train()), which would begin
/// the next burst at once, again and again where the answer to each message is there at the next look.
void udp_receiver::learn_burst() noexcept {
    if (fetched_count_ == 0) {
        if (streak_ >= streak_of_change) end_burst();
        return;
    }
    const bool few = fetched_count_ <= usual_run && fetched_[0].segment == 0;
    gain_ = std::clamp(gain_ + (few ? -1 : 1), -most_gain, most_gain);
    streak_ = few ? streak_ + 1 : 0;
}

void udp_receiver::end_burst() noexcept {
    const bool paid = gain_ > 0;
    patience_ = paid ? streak_of_change : std::min(2 * patience_, longest_patience);
    set_burst(false);
    (void)may_be_train(); // now, while it is as good as certain that nothing waits
}

/// Where the kernel knows nothing of UDP_GRO it takes trains apart itself.
void udp_receiver::set_burst(bool on) noexcept {
    burst_ = on;
    streak_ = run_ = 0;
    gain_ = 0;
    expects_train_ = false;
    const int value = on ? 1 : 0;
    const bool done = setsockopt(fd_, IPPROTO_UDP, UDP_GRO, &value, sizeof value) == 0;
    may_hold_train_ = !on && joins_;
    joins_ = on && done;
    for (std::size_t i = 0; i < messages; ++i) prepare(i);
}

} // namespace rocio::soft
