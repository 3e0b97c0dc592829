#pragma once

#include <cstdint>

namespace rocio::transport {

/// Packets of one segmented send: all of them as long as the first, but the last, which may be shorter.
class packet_train {
  public:
    /// UDP payload of one send; the kernel refuses more than 65,507.
    static constexpr std::uint32_t longest_bytes = 65'000;

    bool empty() const noexcept { return packets_ == 0; }

    /// Whether a packet of so many bytes of UDP payload may be the next one of at most `longest`.
    bool takes(std::uint32_t datagram_bytes, std::uint32_t longest) const noexcept {
        if (packets_ == 0 || packets_ >= longest || closed_ || datagram_bytes > size_) return false;
        return (packets_ + 1) * size_ <= longest_bytes;
    }
    /// Adds a packet that takes() allowed, or begins a new train with it.
    void add(std::uint32_t datagram_bytes, std::uint32_t longest) noexcept {
        if (!takes(datagram_bytes, longest)) *this = packet_train(datagram_bytes);
        closed_ = datagram_bytes < size_;
        ++packets_;
    }
    /// Place of the newest packet, from 0; 0 of an empty train.
    std::uint8_t last_place() const noexcept {
        return packets_ == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(packets_ - 1);
    }

    packet_train() noexcept = default;

  private:
    explicit packet_train(std::uint32_t size) noexcept : size_(size) {}

    std::uint32_t size_ = 0;
    std::uint32_t packets_ = 0;
    bool closed_ = false;
};

} // namespace rocio::transport
