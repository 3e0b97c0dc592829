#include "wire/ip_id_solver.hpp"

#include "wire/crc_ring.hpp"

#include <rocio/wire/packet.hpp>

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#define ROCIO_HAS_PCLMUL 1
#endif

namespace rocio::wire {

namespace {

/// Bytes that the CRC covers behind the id, beside those from BTH to the ICRC: flags to destination address,
/// UDP.
constexpr std::size_t covered_behind_id = 14 + 8;

/// inverse_powers[n]: x^-(8 * (covered_behind_id + 4n)) for a packet of 4n bytes. Of those, the ICRC itself
/// is not covered, but the CRC multiplies its input by x^32, which is as many bits.
constexpr auto inverse_powers = [] {
    std::array<std::uint32_t, max_packet_size / 4 + 1> t{};
    std::uint32_t v = crc_ring::one;
    for (std::size_t bit = 0; bit < 8 * covered_behind_id; ++bit) v = crc_ring::over_x(v);
    for (auto& power : t) {
        power = v;
        for (int bit = 0; bit < 32; ++bit) v = crc_ring::over_x(v);
    }
    return t;
}();

#if ROCIO_HAS_PCLMUL
__attribute__((target("pclmul,sse4.1"))) std::uint32_t product_by_pclmul(std::uint32_t a,
                                                                         std::uint32_t b) noexcept {
    const __m128i x = _mm_cvtsi64_si128(static_cast<long long>(a));
    const __m128i y = _mm_cvtsi64_si128(static_cast<long long>(b));
    // The product of two reflected 32-bit values has 63 bits; one bit to the left its bit 63 is x^0.
    const auto wide = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_clmulepi64_si128(x, y, 0))) << 1;
    return static_cast<std::uint32_t>(wide >> 32) ^ crc_ring::times_x32(static_cast<std::uint32_t>(wide));
}
#endif

std::uint32_t product_by_best_means(std::uint32_t a, std::uint32_t b) noexcept {
#if ROCIO_HAS_PCLMUL
    if (__builtin_cpu_supports("pclmul")) return product_by_pclmul(a, b);
#endif
    return crc_ring::product(a, b);
}

} // namespace

std::uint32_t crc_ring::fast_product(std::uint32_t a, std::uint32_t b) noexcept {
    return product_by_best_means(a, b);
}

std::optional<std::uint16_t> solve_ip_id(std::uint32_t difference, std::size_t packet_size) noexcept {
    if (difference == 0) return std::uint16_t{0};
    const std::uint32_t v = product_by_best_means(difference, inverse_powers[packet_size / 4]);
    if ((v & 0xFFFF) != 0) return std::nullopt;
    // Bytes enter the CRC low bit first, so the id's second byte is the one nearest x^0.
    return static_cast<std::uint16_t>((v >> 16 & 0xFF) << 8 | v >> 24);
}

} // namespace rocio::wire
