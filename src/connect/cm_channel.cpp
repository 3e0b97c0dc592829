#include "connect/cm_channel.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace rocio::detail {

namespace {

/// Then the others on the strand have their turn.
constexpr int events_per_turn = 64;

std::unique_ptr<connection_manager> manager_of(const std::shared_ptr<device>& dev) {
    if (!dev) throw exception({errc::invalid_argument, "rdma_cm needs a device"});
    std::unique_ptr<connection_manager> made;
    throw_if(dev->create_connection_manager(made));
    return made;
}

} // namespace

cm_channel::cm_channel(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev)
    : strand_(asio::make_strand(executor)), device_(dev), manager_(manager_of(dev)), descriptor_(strand_) {
    const int copy = ::fcntl(manager_->event_fd(), F_DUPFD_CLOEXEC, 0);
    error_code ec;
    if (copy < 0)
        ec = error_code(errno, boost::system::system_category());
    else
        descriptor_.assign(copy, ec);
    if (!ec) return;
    if (copy >= 0) ::close(copy);
    throw exception({ec, "no descriptor for the events of rdma_cm: " + ec.message()});
}

cm_channel::attendance::attendance(const std::shared_ptr<cm_channel>& channel) : channel_(channel) {
    channel_->take_events();
    ++channel_->attending_;
    if (std::exchange(channel_->fetching_, true)) return;
    asio::co_spawn(channel_->strand_, fetch(channel_), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

cm_channel::attendance::~attendance() {
    if (--channel_->attending_ != 0) return;
    error_code ignored;
    channel_->descriptor_.cancel(ignored);
}

void cm_channel::destroy(cm_id id) noexcept {
    targets_.erase(id);
    manager_->destroy(id);
}

task<void> cm_channel::fetch(std::shared_ptr<cm_channel> self) {
    while (self->attending_ != 0) {
        auto [ec] = co_await self->descriptor_.async_wait(asio::posix::descriptor_base::wait_read, as_result);
        if (self->attending_ == 0 || (ec && ec != asio::error::operation_aborted)) break;
        self->take_events();
    }
    self->fetching_ = false;
}

void cm_channel::take_events() {
    cm_event event;
    for (int n = 0; n < events_per_turn && manager_->next_event(event); ++n) deliver(event);
}

void cm_channel::deliver(const cm_event& event) {
    const auto found = targets_.find(event.id);
    const auto target = found == targets_.end() ? nullptr : found->second.lock();
    if (target) return target->on_event(event);
    if (event.kind == cm_event_kind::connect_request) manager_->destroy(event.connection);
}

} // namespace rocio::detail
