#include <rocio/types/rnr_timer.hpp>

#include <array>

namespace rocio {

namespace {

/// Microseconds by code (IBA 9.7.5.2.8). rdma_rxe has 61.41 ms for code 25 and so disagrees with the
/// standard by 30 us.
constexpr std::array<std::uint32_t, 32> table = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,    320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

} // namespace

std::chrono::microseconds rnr_timer::duration() const noexcept {
    return std::chrono::microseconds{table[code_]};
}

rnr_timer rnr_timer::at_least(std::chrono::microseconds wait) noexcept {
    for (std::uint32_t code = 1; code < table.size(); ++code) {
        if (std::chrono::microseconds{table[code]} >= wait) return rnr_timer{code};
    }
    return rnr_timer{0};
}

} // namespace rocio
