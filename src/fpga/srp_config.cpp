#include <rocio/fpga/srp_config.hpp>

#include <string>

namespace rocio::fpga {

namespace {

error_info outside(const char* what, const std::string& asked, const char* allowed) {
    return {errc::invalid_argument, std::string(what) + " of " + asked + ", allowed are " + allowed};
}

} // namespace

error_info validate(const srp_config& config) {
    using namespace std::chrono_literals;
    if (config.answer_deadline < 1ms || config.answer_deadline > 60s)
        return outside("answer_deadline", std::to_string(config.answer_deadline.count()) + " ms",
                       "1 ms to 60 s");
    if (config.tries < 1 || config.tries > 1000)
        return outside("tries", std::to_string(config.tries), "1 to 1000");
    if (config.protection > 7) return outside("protection", std::to_string(config.protection), "0 to 7");
    return {};
}

} // namespace rocio::fpga
