#include "connect/deadline_check.hpp"

#include <rocio/connect/cm_acceptor_config.hpp>
#include <rocio/connect/cm_config.hpp>
#include <rocio/device/connection_manager.hpp>

#include <string>

namespace rocio {

using namespace std::chrono_literals;
using detail::check_deadline;

error_info validate(const cm_config& config) {
    if (auto e = check_deadline("resolve_deadline", config.resolve_deadline, 1ms)) return e;
    if (auto e = check_deadline("connect_deadline", config.connect_deadline, 1ms)) return e;
    if (auto e = check_deadline("ready_deadline", config.ready_deadline, 1ms)) return e;
    if (auto e = check_deadline("total_deadline", config.total_deadline, 1ms)) return e;
    if (auto e = check_deadline("release_deadline", config.release_deadline, 1ms)) return e;
    if (auto e = check_deadline("time_wait_deadline", config.time_wait_deadline, 0ms)) return e;
    if (!config.private_data || config.private_data->size() <= cm_private_data::most_at_accept) return {};
    return {errc::invalid_argument,
            "private_data is " + std::to_string(config.private_data->size()) + " bytes, allowed are 0..196"};
}

error_info validate(const cm_acceptor_config& config) {
    if (config.max_waiting == 0) return {errc::invalid_argument, "max_waiting is 0, at least 1 is needed"};
    if (auto e = check_deadline("patience", config.patience, 1ms)) return e;
    return validate(config.handshake);
}

} // namespace rocio
