#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::rendezvous {

/// Appends big-endian numbers to a vector.
class big_endian_writer {
  public:
    explicit big_endian_writer(std::vector<std::byte>& out) noexcept : out_(out) {}

    void u8(std::uint8_t v) { put(v, 1); }
    void u16(std::uint16_t v) { put(v, 2); }
    void u32(std::uint32_t v) { put(v, 4); }
    void u64(std::uint64_t v) { put(v, 8); }
    void bytes(std::span<const std::byte> b) { out_.insert(out_.end(), b.begin(), b.end()); }
    /// Overwrites two bytes written before.
    void u16_at(std::size_t offset, std::uint16_t v) {
        out_[offset] = std::byte(v >> 8);
        out_[offset + 1] = std::byte(v & 0xFF);
    }

  private:
    void put(std::uint64_t v, unsigned size) {
        for (unsigned i = size; i-- > 0;) out_.push_back(std::byte((v >> (8 * i)) & 0xFF));
    }

    std::vector<std::byte>& out_;
};

/// Takes big-endian numbers from the front of a span. Reading beyond its end gives zeros and makes ok() false
/// for good, so it is enough to ask once at the end.
class big_endian_reader {
  public:
    explicit big_endian_reader(std::span<const std::byte> in) noexcept : in_(in) {}

    std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(get(1)); }
    std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(get(2)); }
    std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(get(4)); }
    std::uint64_t u64() noexcept { return get(8); }
    void bytes(std::span<std::byte> out) noexcept {
        if (take(out.size()))
            std::copy_n(in_.begin() + static_cast<std::ptrdiff_t>(at_ - out.size()), out.size(), out.begin());
    }

    bool ok() const noexcept { return ok_; }
    std::size_t size() const noexcept { return in_.size(); }
    std::size_t left() const noexcept { return in_.size() - at_; }

  private:
    bool take(std::size_t n) noexcept {
        ok_ = ok_ && n <= left();
        if (ok_) at_ += n;
        return ok_;
    }
    std::uint64_t get(std::size_t n) noexcept {
        std::uint64_t v = 0;
        if (!take(n)) return v;
        for (const auto b : in_.subspan(at_ - n, n)) v = v << 8 | std::to_integer<std::uint64_t>(b);
        return v;
    }

    std::span<const std::byte> in_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

} // namespace rocio::rendezvous
