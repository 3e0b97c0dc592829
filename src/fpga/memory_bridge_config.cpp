#include <rocio/fpga/memory_bridge_config.hpp>

#include <string>

namespace rocio::fpga {

namespace {

error_info check(const char* what, std::chrono::milliseconds asked) {
    using namespace std::chrono_literals;
    if (asked >= 1ms && asked <= 60s) return {};
    return {errc::invalid_argument,
            std::string(what) + " of " + std::to_string(asked.count()) + " ms, allowed are 1 ms to 60 s"};
}

} // namespace

error_info validate(const memory_bridge_config& config) {
    if (auto wrong = check("answer_deadline", config.answer_deadline)) return wrong;
    return check("probe_period", config.probe_period);
}

} // namespace rocio::fpga
