#include "bench/measured_part.hpp"

#include <algorithm>
#include <ctime>

namespace rocio::tools {

namespace {

double thread_cpu_seconds() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

} // namespace

void resource_meter::begin() noexcept {
    allocations_.reset();
    cpu_begin_ = thread_cpu_seconds();
}

resource_use resource_meter::used() const noexcept {
    return {thread_cpu_seconds() - cpu_begin_, allocations_.allocations()};
}

measured_part::measured_part(std::uint64_t warm_up, std::uint64_t count)
    : warm_up_(warm_up),
      total_(warm_up + count),
      piece_(std::max<std::uint64_t>(1, count / pieces)),
      next_(warm_up) {}

void measured_part::checkpoint(std::uint64_t messages) {
    const auto now = clock::now();
    if (begin_ == clock::time_point{}) {
        begin_ = last_ = now;
        last_messages_ = messages;
        next_ = std::min(messages + piece_, total_);
        meter_.begin();
        return;
    }
    const auto took = std::chrono::duration<double>(now - last_).count();
    // A last piece that is not whole says little.
    const auto moved = messages - last_messages_;
    if (took > 0 && (moved >= piece_ || result_.peak_rate == 0))
        result_.peak_rate = std::max(result_.peak_rate, static_cast<double>(moved) / took);
    last_ = now;
    last_messages_ = messages;
    next_ = std::min(messages + piece_, total_);
    if (messages < total_) return;
    result_.use = meter_.used();
    result_.seconds = std::chrono::duration<double>(now - begin_).count();
    result_.messages = messages - warm_up_;
    next_ = never;
}

measurement measured_part::result() const {
    return result_;
}

} // namespace rocio::tools
