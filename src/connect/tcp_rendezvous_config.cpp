#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_rendezvous_config.hpp>

#include <string>

namespace rocio {

namespace {

using namespace std::chrono_literals;

error_info check(const char* name, std::chrono::milliseconds value, std::chrono::milliseconds least) {
    if (value >= least && value <= 1h) return {};
    return {errc::invalid_argument, std::string(name) + " is " + std::to_string(value.count()) +
                                        " ms, allowed are " + std::to_string(least.count()) + "..3600000"};
}

} // namespace

error_info validate(const tcp_rendezvous_config& config) {
    if (auto e = check("connect_deadline", config.connect_deadline, 1ms)) return e;
    if (auto e = check("exchange_deadline", config.exchange_deadline, 1ms)) return e;
    if (auto e = check("ready_deadline", config.ready_deadline, 1ms)) return e;
    if (auto e = check("total_deadline", config.total_deadline, 1ms)) return e;
    if (auto e = check("release_deadline", config.release_deadline, 1ms)) return e;
    return check("liveness_deadline", config.liveness_deadline, 0ms);
}

error_info validate(const tcp_listener_config& config) {
    if (config.max_unfinished == 0)
        return {errc::invalid_argument, "max_unfinished is 0, at least 1 is needed"};
    return validate(config.handshake);
}

} // namespace rocio
