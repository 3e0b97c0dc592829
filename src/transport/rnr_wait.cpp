#include "transport/rnr_wait.hpp"

namespace rocio::transport {

void rnr_wait::start(time_point now, rnr_timer timer) noexcept {
    until_ = now + timer.duration();
}

} // namespace rocio::transport
