#include <rocio/types/gid.hpp>

#include <algorithm>

#include <arpa/inet.h>

namespace rocio {

namespace {

constexpr std::size_t v4_offset = 12;
constexpr std::array<std::uint8_t, v4_offset> v4_marker = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

using terminated_text = std::array<char, INET6_ADDRSTRLEN>;

/// inet_pton wants a terminating zero, and would stop at one inside.
std::optional<terminated_text> terminated(std::string_view text) noexcept {
    terminated_text copy{};
    if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
    std::ranges::copy(text, copy.begin());
    return copy;
}

std::string v4_text(const gid::v4_bytes& a) {
    std::string text;
    for (const auto byte : a) {
        if (!text.empty()) text += '.';
        text += std::to_string(byte);
    }
    return text;
}

} // namespace

gid gid::from_v4(const v4_bytes& address) noexcept {
    bytes_type bytes{};
    std::ranges::copy(v4_marker, bytes.begin());
    std::ranges::copy(address, bytes.begin() + v4_offset);
    return gid{bytes};
}

std::optional<gid> gid::parse(std::string_view text) noexcept {
    const auto copy = terminated(text);
    if (!copy) return std::nullopt;
    v4_bytes v4{};
    if (inet_pton(AF_INET, copy->data(), v4.data()) == 1) return from_v4(v4);
    bytes_type v6{};
    if (inet_pton(AF_INET6, copy->data(), v6.data()) == 1) return gid{v6};
    return std::nullopt;
}

bool gid::is_zero() const noexcept {
    return bytes_ == bytes_type{};
}

bool gid::is_link_local() const noexcept {
    return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0x80;
}

std::optional<gid::v4_bytes> gid::v4() const noexcept {
    if (!is_v4_mapped()) return std::nullopt;
    v4_bytes address{};
    std::copy(bytes_.begin() + v4_offset, bytes_.end(), address.begin());
    return address;
}

bool gid::shares_prefix(const gid& other, unsigned bits) const noexcept {
    bits = std::min(bits, 128U);
    const unsigned whole = bits / 8;
    if (!std::equal(bytes_.begin(), bytes_.begin() + whole, other.bytes_.begin())) return false;
    if (bits % 8 == 0) return true;
    const unsigned unused = 8 - bits % 8;
    return bytes_[whole] >> unused == other.bytes_[whole] >> unused;
}

std::string gid::to_string() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(39);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
        if (i != 0 && i % 2 == 0) text += ':';
        text += digits[bytes_[i] >> 4];
        text += digits[bytes_[i] & 0x0F];
    }
    return text;
}

std::string gid::to_address_string() const {
    if (const auto address = v4()) return v4_text(*address);
    terminated_text text{};
    return inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
}

std::string host_ip_from_gid_text(std::string_view text) {
    const bool eight_groups = std::ranges::count(text, ':') == 7 &&
                              text.find("::") == std::string_view::npos &&
                              text.find('.') == std::string_view::npos;
    if (!eight_groups) return {};
    const auto value = gid::parse(text);
    const auto address = value ? value->v4() : std::nullopt;
    return address ? v4_text(*address) : std::string{};
}

} // namespace rocio
