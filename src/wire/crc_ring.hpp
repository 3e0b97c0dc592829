#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Arithmetic in the ring of CRC-32: polynomials over GF(2) modulo P = 0x104C11DB7. Values are kept in the
/// reflected form of the CRC register: bit 31 is the coefficient of x^0, bit 0 that of x^31.
namespace rocio::wire::crc_ring {

inline constexpr std::uint32_t polynomial = 0xEDB88320;
inline constexpr std::uint32_t one = 0x80000000;

constexpr std::uint32_t times_x(std::uint32_t v) noexcept {
    return (v >> 1) ^ ((v & 1) != 0 ? polynomial : 0);
}

/// P has a constant term, so x has an inverse.
constexpr std::uint32_t over_x(std::uint32_t v) noexcept {
    return (v & one) != 0 ? (v ^ polynomial) << 1 | 1 : v << 1;
}

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint32_t sum = 0;
    for (; a != 0; a <<= 1) {
        if ((a & one) != 0) sum ^= b;
        b = times_x(b);
    }
    return sum;
}

/// The same by the CPU's carry-less multiplication where it has one.
std::uint32_t fast_product(std::uint32_t a, std::uint32_t b) noexcept;

/// shift_tables[k][b]: the byte b at the register's low end, moved on by 8 (k + 1) bits.
using shift_table_set = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr shift_table_set make_shift_tables() noexcept {
    shift_table_set t{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t v = byte;
        for (int bit = 0; bit < 8; ++bit) v = times_x(v);
        t[0][byte] = v;
    }
    for (std::size_t k = 1; k < 4; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t v = t[k - 1][byte];
            t[k][byte] = v >> 8 ^ t[0][v & 0xFF];
        }
    }
    return t;
}

inline constexpr shift_table_set shift_tables = make_shift_tables();

/// v * x^8: one zero byte through the CRC register.
constexpr std::uint32_t times_x8(std::uint32_t v) noexcept {
    return v >> 8 ^ shift_tables[0][v & 0xFF];
}

/// v * x^32.
constexpr std::uint32_t times_x32(std::uint32_t v) noexcept {
    return shift_tables[3][v & 0xFF] ^ shift_tables[2][v >> 8 & 0xFF] ^ shift_tables[1][v >> 16 & 0xFF] ^
           shift_tables[0][v >> 24];
}

} // namespace rocio::wire::crc_ring
