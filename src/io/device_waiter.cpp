#include "io/device_waiter.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace rocio {

boost::system::error_code device_waiter::probe() const noexcept {
    const auto last_error = [] { return boost::system::error_code(errno, boost::system::system_category()); };
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    if (set < 0) return last_error();
    epoll_event event{};
    event.events = EPOLLIN;
    const auto result =
        ::epoll_ctl(set, EPOLL_CTL_ADD, source_, &event) == 0 ? boost::system::error_code() : last_error();
    ::close(set);
    return result;
}

bool device_waiter::open(asio::io_context& context) {
    if (descriptor_) return true;
    const int copy = ::fcntl(source_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return false;
    descriptor_.emplace(context);
    boost::system::error_code ec;
    descriptor_->assign(copy, ec);
    if (!ec) return true;
    ::close(copy);
    descriptor_.reset();
    return false;
}

void device_waiter::close() noexcept {
    waiting_ = false;
    ++round_;
    descriptor_.reset();
}

} // namespace rocio
