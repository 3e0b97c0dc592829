#include <rocio/soft/fault_plan.hpp>

#include <array>
#include <sstream>
#include <string>
#include <utility>

namespace rocio {

namespace {

template <class T>
error_info refuse(const char* member, T asked, const char* allowed) {
    std::ostringstream text;
    text << "fault_plan." << member << ": " << asked << " asked, " << allowed << " allowed";
    return {errc::invalid_argument, text.str()};
}

bool within_a_second(std::chrono::microseconds t) {
    return t > std::chrono::microseconds{0} && t <= std::chrono::seconds{1};
}

} // namespace

error_info validate(const fault_plan& plan) {
    const std::array<std::pair<const char*, double>, 5> probabilities{{{"drop", plan.drop},
                                                                       {"duplicate", plan.duplicate},
                                                                       {"reorder", plan.reorder},
                                                                       {"delay", plan.delay},
                                                                       {"corrupt", plan.corrupt}}};
    for (const auto& [member, value] : probabilities)
        if (!(value >= 0 && value <= 1)) return refuse(member, value, "0 to 1"); // NaN too
    if (plan.reorder_distance < 1 || plan.reorder_distance > 64)
        return refuse("reorder_distance", plan.reorder_distance, "1 to 64");
    if (plan.corrupt_bits < 1 || plan.corrupt_bits > 32)
        return refuse("corrupt_bits", plan.corrupt_bits, "1 to 32");
    if (!within_a_second(plan.reorder_hold))
        return refuse("reorder_hold", plan.reorder_hold.count(), "1 to 1000000 microseconds");
    if (!within_a_second(plan.delay_time))
        return refuse("delay_time", plan.delay_time.count(), "1 to 1000000 microseconds");
    return {};
}

} // namespace rocio
