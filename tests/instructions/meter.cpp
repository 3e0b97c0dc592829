#include "meter.hpp"

#include "instant_device.hpp"

#include <valgrind/callgrind.h>

namespace rocio::test::user {

void meter::begin() noexcept {
    reads_before_ = instant::clock().reads;
    counter_.reset();
    CALLGRIND_TOGGLE_COLLECT;
}

void meter::end() noexcept {
    CALLGRIND_TOGGLE_COLLECT;
    allocations_ += counter_.allocations();
    clock_reads_ += instant::clock().reads - reads_before_;
}

bool meter::take(std::uint64_t n) noexcept {
    if (done_) return false;
    seen_ += n;
    if (!running_ && seen_ >= warm_up) {
        running_ = true;
        began_at_ = seen_;
        begin();
    } else if (running_ && seen_ - began_at_ >= measured) {
        end();
        messages_ = seen_ - began_at_;
        done_ = true;
    }
    return !done_;
}

void dump(const std::string& name) {
    CALLGRIND_DUMP_STATS_AT(name.c_str());
}

} // namespace rocio::test::user
