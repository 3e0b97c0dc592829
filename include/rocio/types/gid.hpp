#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocio {

/// Global identifier: on RoCEv2 the port's IPv6 address, or its IPv4 address mapped into IPv6 (RFC 4291).
class gid {
  public:
    using bytes_type = std::array<std::uint8_t, 16>;
    using v4_bytes = std::array<std::uint8_t, 4>;

    constexpr gid() noexcept = default;
    explicit constexpr gid(const bytes_type& bytes) noexcept : bytes_(bytes) {}
    static gid from_v4(const v4_bytes& address) noexcept;
    /// "10.0.0.1", "fd00::1", "::ffff:10.0.0.1" or eight groups of four hex digits; else nothing.
    static std::optional<gid> parse(std::string_view text) noexcept;

    constexpr const bytes_type& bytes() const noexcept { return bytes_; }
    bool is_zero() const noexcept;
    constexpr bool is_v4_mapped() const noexcept {
        constexpr bytes_type marker = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
        const auto own = std::bit_cast<words>(bytes_);
        return own.subnet == 0 && own.middle == std::bit_cast<words>(marker).middle;
    }
    bool is_link_local() const noexcept; ///< fe80::/10.
    /// The IPv4 address when is_v4_mapped().
    std::optional<v4_bytes> v4() const noexcept;
    /// True when the first `bits` (0..128) equal the other's. For IPv4-mapped ones a prefix of n bits is 96 +
    /// n.
    bool shares_prefix(const gid& other, unsigned bits) const noexcept;

    /// Eight groups of four lower-case hex digits, 39 characters, as sysfs and rogue print it.
    std::string to_string() const;
    /// "10.0.0.1" for a mapped one, else the compressed IPv6 text.
    std::string to_address_string() const;

    friend constexpr auto operator<=>(const gid&, const gid&) noexcept = default;
    /// By words: a comparison of byte arrays is a call, and one or two run per packet.
    friend constexpr bool operator==(const gid& a, const gid& b) noexcept {
        return std::bit_cast<words>(a.bytes_) == std::bit_cast<words>(b.bytes_);
    }

  private:
    /// As the bytes lie in memory.
    struct words {
        std::uint64_t subnet;
        std::uint32_t middle, v4;
        friend constexpr bool operator==(const words&, const words&) noexcept = default;
    };

    bytes_type bytes_{};
};

/// The IPv4 text of an eight-group GID text such as sysfs gives; "" for anything that is not IPv4-mapped.
std::string host_ip_from_gid_text(std::string_view text);

} // namespace rocio
