#include "instant_device.hpp"

#include <time.h>

/// Replaces the C library's, which std::chrono's clocks call: every clock tells virtual time here.
extern "C" int clock_gettime(clockid_t, timespec* out) noexcept {
    auto& c = rocio::test::instant::clock();
    ++c.reads;
    out->tv_sec = static_cast<time_t>(c.now / 1'000'000'000);
    out->tv_nsec = static_cast<long>(c.now % 1'000'000'000);
    return 0;
}
