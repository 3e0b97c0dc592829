#include "soft/fault_dice.hpp"

#include <algorithm>
#include <array>

namespace rocio::soft {

namespace {

/// The output function of splitmix64 (Steele, Lea, Flood 2014): a bijection that passes the usual statistical
/// tests on consecutive inputs.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

constexpr double to_unit(std::uint64_t x) noexcept {
    return static_cast<double>(x >> 11) * 0x1.0p-53;
}

} // namespace

std::uint64_t fault_dice::draw(std::uint64_t number, use u, std::uint64_t index) const noexcept {
    return mix(mix(mix(plan_.seed) + number) + (static_cast<std::uint64_t>(u) << 32) + index);
}

bool fault_dice::happens(double probability, std::uint64_t number, use u) const noexcept {
    return probability > 0 && to_unit(draw(number, u)) < probability;
}

fault_decision fault_dice::decide(std::uint64_t number) const noexcept {
    fault_decision d;
    d.drop = happens(plan_.drop, number, use::drop);
    if (d.drop) return d;
    d.duplicate = happens(plan_.duplicate, number, use::duplicate);
    d.reorder = happens(plan_.reorder, number, use::reorder);
    if (d.reorder)
        d.distance = 1 + static_cast<std::uint32_t>(draw(number, use::distance) % plan_.reorder_distance);
    d.delay = !d.reorder && happens(plan_.delay, number, use::delay);
    if (d.delay) {
        const double longest = static_cast<double>(std::chrono::nanoseconds{plan_.delay_time}.count());
        d.delay_time = std::chrono::nanoseconds{
            static_cast<std::int64_t>(longest * to_unit(draw(number, use::delay_time)))};
    }
    d.corrupt = happens(plan_.corrupt, number, use::corrupt);
    if (d.corrupt) d.bits = 1 + static_cast<std::uint32_t>(draw(number, use::bits) % plan_.corrupt_bits);
    return d;
}

void fault_dice::flip(std::span<std::byte> bytes, std::uint32_t bits, std::uint64_t number) const noexcept {
    std::array<std::uint64_t, 32> chosen{};
    const std::uint64_t all = bytes.size() * 8;
    const std::size_t wanted = std::min<std::uint64_t>({bits, all, chosen.size()});
    std::size_t n = 0;
    for (std::uint64_t i = 0; n < wanted; ++i) {
        const std::uint64_t bit = draw(number, use::flip, i) % all;
        if (std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(n), bit) !=
            chosen.begin() + static_cast<std::ptrdiff_t>(n))
            continue;
        chosen[n++] = bit;
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
}

} // namespace rocio::soft
