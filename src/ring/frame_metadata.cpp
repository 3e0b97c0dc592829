#include <rocio/ring/frame_metadata.hpp>

#include <algorithm>
#include <type_traits>

namespace rocio {

namespace {

// Offsets of the fields.
constexpr std::size_t flags_at = 0;
constexpr std::size_t psn_at = 4;
constexpr std::size_t crc_at = 8;
constexpr std::size_t seconds_at = 12;
constexpr std::size_t nanoseconds_at = 20;
constexpr std::size_t bytes_at = 24;
constexpr std::size_t frame_number_at = 34;
constexpr std::size_t written_seconds_at = 36;
constexpr std::size_t written_nanoseconds_at = 44;

constexpr std::uint32_t flag_early_end = 1;
constexpr std::uint32_t flag_by_count = 2;
constexpr std::uint32_t psn_mask = 0xFFFFFF;

template <class Number>
Number get(std::span<const std::byte> in, std::size_t at) noexcept {
    Number value = 0;
    for (const auto b : in.subspan(at, sizeof(Number)))
        value = static_cast<Number>(value << 8 | std::to_integer<Number>(b));
    return value;
}

template <class Number>
void put(std::span<std::byte> out, std::size_t at, Number value) noexcept {
    for (std::size_t i = sizeof(Number); i-- > 0; value = static_cast<Number>(value >> 8))
        out[at + i] = static_cast<std::byte>(value & 0xFF);
}

} // namespace

frame_metadata frame_metadata::decode(std::span<const std::byte, size> in) noexcept {
    frame_metadata out;
    const auto flags = get<std::uint32_t>(in, flags_at);
    out.early_end = (flags & flag_early_end) != 0;
    out.ended_by_count = (flags & flag_by_count) != 0;
    out.psn = get<std::uint32_t>(in, psn_at) & psn_mask;
    out.crc = get<std::uint32_t>(in, crc_at);
    out.first_data_seconds = get<std::uint64_t>(in, seconds_at);
    out.first_data_nanoseconds = get<std::uint32_t>(in, nanoseconds_at);
    out.bytes_written = get<std::uint64_t>(in, bytes_at);
    out.frame_number = get<std::uint16_t>(in, frame_number_at);
    out.written_seconds = get<std::uint64_t>(in, written_seconds_at);
    out.written_nanoseconds = get<std::uint32_t>(in, written_nanoseconds_at);
    return out;
}

void frame_metadata::encode(std::span<std::byte, size> out) const noexcept {
    std::fill(out.begin(), out.end(), std::byte{0});
    put<std::uint32_t>(out, flags_at,
                       (early_end ? flag_early_end : 0) | (ended_by_count ? flag_by_count : 0));
    put(out, psn_at, psn & psn_mask);
    put(out, crc_at, crc);
    put(out, seconds_at, first_data_seconds);
    put(out, nanoseconds_at, first_data_nanoseconds);
    put(out, bytes_at, bytes_written);
    put(out, frame_number_at, frame_number);
    put(out, written_seconds_at, written_seconds);
    put(out, written_nanoseconds_at, written_nanoseconds);
}

std::uint32_t frame_counter::extend(std::uint16_t number) noexcept {
    if (!any_) {
        any_ = true;
        return last_ = number;
    }
    const auto step =
        static_cast<std::int16_t>(static_cast<std::uint16_t>(number - static_cast<std::uint16_t>(last_)));
    if (step < 0) return last_ + static_cast<std::uint32_t>(static_cast<std::int32_t>(step));
    return last_ += static_cast<std::uint32_t>(step);
}

} // namespace rocio
