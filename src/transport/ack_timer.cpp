#include "transport/ack_timer.hpp"

namespace rocio::transport {

ack_timer::ack_timer(ack_timeout timeout) noexcept : duration_(timeout.duration()) {}

void ack_timer::start(time_point now) noexcept {
    if (duration_.count() != 0) deadline_ = now + duration_;
}

} // namespace rocio::transport
