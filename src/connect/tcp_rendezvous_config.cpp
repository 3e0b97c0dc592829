#include "connect/deadline_check.hpp"

#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_rendezvous_config.hpp>

namespace rocio {

using namespace std::chrono_literals;

error_info validate(const tcp_rendezvous_config& config) {
    if (auto e = detail::check_deadline("connect_deadline", config.connect_deadline, 1ms)) return e;
    if (auto e = detail::check_deadline("exchange_deadline", config.exchange_deadline, 1ms)) return e;
    if (auto e = detail::check_deadline("ready_deadline", config.ready_deadline, 1ms)) return e;
    if (auto e = detail::check_deadline("total_deadline", config.total_deadline, 1ms)) return e;
    if (auto e = detail::check_deadline("release_deadline", config.release_deadline, 1ms)) return e;
    return detail::check_deadline("liveness_deadline", config.liveness_deadline, 0ms);
}

error_info validate(const tcp_listener_config& config) {
    if (config.max_unfinished == 0)
        return {errc::invalid_argument, "max_unfinished is 0, at least 1 is needed"};
    return validate(config.handshake);
}

} // namespace rocio
