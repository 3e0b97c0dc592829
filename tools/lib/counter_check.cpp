#include "lib/counter_check.hpp"

#include <stdexcept>
#include <string>

namespace rocio::tools {

counter_check::counter_check(std::uint32_t period) : period_(period) {
    if (period <= full_period) return;
    throw std::invalid_argument("counter period is " + std::to_string(period) + ", allowed is 0 to 16777216");
}

void counter_check::check(std::uint32_t counter) {
    if (stands_still()) return;
    if (counter >= period_) {
        ++unexpected_;
        return;
    }
    const auto expected = expected_.value_or(counter);
    const auto ahead = counter >= expected ? counter - expected : counter + period_ - expected;
    if (ahead > (period_ - 1) / 2) {
        ++duplicated_;
        return;
    }
    lost_ += ahead;
    expected_ = (counter + 1) % period_;
}

std::optional<std::uint64_t> counter_check::lost() const {
    if (stands_still()) return std::nullopt;
    return lost_;
}

std::optional<std::uint64_t> counter_check::duplicated() const {
    if (stands_still()) return std::nullopt;
    return duplicated_;
}

} // namespace rocio::tools
