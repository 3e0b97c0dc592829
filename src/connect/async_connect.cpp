#include "connect/connection.hpp"
#include "connect/control_plane.hpp"

#include <rocio/connect/async_connect.hpp>

namespace rocio::detail {

void start_connect(std::shared_ptr<connectable> target, any_handshake how,
                   async::control_handler<void(error_code)> handler) {
    const auto strand = control_plane::strand_of(target->control_executor());
    const auto c = std::make_shared<connection>(strand);
    relay_cancellation(handler.slot(), c);
    asio::co_spawn(strand, connection::run(c, std::move(target), std::move(how), std::move(handler)),
                   [](const std::exception_ptr& e) {
                       if (e) std::rethrow_exception(e);
                   });
}

} // namespace rocio::detail
