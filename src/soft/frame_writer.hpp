#pragma once

#include <rocio/types/gid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::soft {

/// The fields of IP and UDP around one datagram.
struct frame_fields {
    gid source{};
    gid destination{};
    std::uint16_t source_port = 4791;
    std::uint16_t destination_port = 4791;
    std::uint16_t ip_id = 0;
    std::uint8_t hop_limit = 64;
    std::uint8_t traffic_class = 0;
};

/// Ethernet, IPv4 or IPv6, and UDP header in front of `datagram_size` bytes.
class frame_header {
  public:
    frame_header(const frame_fields& fields, std::size_t datagram_size) noexcept;
    std::span<const std::byte> bytes() const noexcept { return {data_.data(), size_}; }

  private:
    void put8(unsigned v) noexcept { data_[size_++] = static_cast<std::byte>(v); }
    void put16(unsigned v) noexcept;
    void put(std::span<const std::uint8_t> bytes) noexcept;
    void put_ethernet(const gid& address) noexcept;
    void put_v4(const frame_fields& f, std::size_t udp_size) noexcept;
    void put_v6(const frame_fields& f, std::size_t udp_size) noexcept;

    std::array<std::byte, 14 + 40 + 8> data_{};
    std::size_t size_ = 0;
};

} // namespace rocio::soft
