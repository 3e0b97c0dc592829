#include "connect/control_plane.hpp"

namespace rocio::detail {

asio::execution_context::id control_plane::id;

control_strand control_plane::strand_of(const asio::any_io_executor& executor) {
    auto& self = asio::use_service<control_plane>(asio::query(executor, asio::execution::context));
    const std::lock_guard held(self.mutex_);
    if (!self.strand_) self.strand_ = asio::make_strand(executor);
    return *self.strand_;
}

void control_plane::shutdown() {
    const std::lock_guard held(mutex_);
    strand_.reset();
}

} // namespace rocio::detail
