#pragma once

#include <bit>
#include <cstdint>

namespace rocio::soft {

/// What Linux gives a socket that was not asked for more (net.core.rmem_default).
inline constexpr std::uint32_t default_receive_buffer = 212'992;

/// Bytes of SO_RCVBUF that a waiting UDP datagram of `payload` bytes takes (skb->truesize), never too few.
/// The kernel allocates headers, payload and skb_shared_info as one power of two and adds struct sk_buff
/// (256). Measured over loopback on 6.18: 832 up to 199 bytes, 1,280 up to 647, 2,304 up to 1,671, 4,352 up
/// to 3,719, 8,448 for 4 KiB. The extra `margin` leaves room for acknowledgements beside a full window: 24
/// datagrams of 4 KiB, not 25.
constexpr std::uint32_t socket_cost(std::uint32_t payload) noexcept {
    constexpr std::uint32_t overhead = 380; // headers 28, link-layer room 31, skb_shared_info 320, rounded up
    constexpr std::uint32_t sk_buff = 256;
    constexpr std::uint32_t smallest = 576; // head of the kernel's cache for small packets
    constexpr std::uint32_t margin = 320;
    const std::uint32_t data = std::bit_ceil(payload + overhead);
    return (data < smallest ? smallest : data) + sk_buff + margin;
}

/// The same of a datagram that follows another one in a segmented send. A kernel that has to take a train
/// apart for its receiver makes each of its datagrams cost its bytes and 832 more (measured, as above);
/// joined by UDP_GRO they cost 832 once.
constexpr std::uint32_t train_cost(std::uint32_t payload) noexcept {
    constexpr std::uint32_t head = 832;
    return payload + head;
}

} // namespace rocio::soft
