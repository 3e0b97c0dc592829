#include <rocio/fpga/hsb_registers.hpp>

namespace rocio::fpga::hsb {

namespace {

constexpr std::uint32_t flags_word = 16; // bits 512 to 543
constexpr std::uint32_t time_shift = 9;  // bit 521 is bit 9 of it

std::uint32_t load_little(const std::array<std::byte, 64>& in, std::size_t at) noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(in[at + i]) << (8 * i);
    return value;
}

void store_little(std::array<std::byte, 64>& out, std::size_t at, std::uint32_t value) noexcept {
    for (std::size_t i = 0; i < 4; ++i) out[at + i] = static_cast<std::byte>(value >> (8 * i));
}

} // namespace

ila_sample::words ila_sample::pack() const noexcept {
    words out{};
    for (std::size_t i = 0; i < flags_word; ++i) out[i] = load_little(data, 4 * i);
    const std::uint32_t flags = (valid ? 1U : 0U) | (last ? 2U : 0U) | ((write_count & 0x7FU) << 2);
    out[flags_word] = flags | static_cast<std::uint32_t>(time << time_shift);
    out[flags_word + 1] = static_cast<std::uint32_t>(time >> (32 - time_shift));
    out[flags_word + 2] = static_cast<std::uint32_t>(time >> (64 - time_shift));
    return out;
}

ila_sample ila_sample::unpack(const words& in) noexcept {
    ila_sample sample;
    for (std::size_t i = 0; i < flags_word; ++i) store_little(sample.data, 4 * i, in[i]);
    const auto flags = in[flags_word];
    sample.valid = (flags & 1) != 0;
    sample.last = (flags & 2) != 0;
    sample.write_count = static_cast<std::uint8_t>((flags >> 2) & 0x7F);
    sample.time = (flags >> time_shift) |
                  (static_cast<std::uint64_t>(in[flags_word + 1]) << (32 - time_shift)) |
                  (static_cast<std::uint64_t>(in[flags_word + 2]) << (64 - time_shift));
    return sample;
}

} // namespace rocio::fpga::hsb
