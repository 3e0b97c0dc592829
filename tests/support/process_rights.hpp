#pragma once

#include <array>
#include <stdexcept>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rocio::test {

/// While it lives the calling thread has not the capability, as if the program were run by somebody else.
class without_capability {
  public:
    explicit without_capability(unsigned number) {
        if (::syscall(SYS_capget, &header_, before_.data()) != 0) throw std::runtime_error("capget");
        auto fewer = before_;
        fewer.at(number / 32).effective &= ~(1U << (number % 32));
        if (::syscall(SYS_capset, &header_, fewer.data()) != 0) throw std::runtime_error("capset");
    }
    ~without_capability() { (void)::syscall(SYS_capset, &header_, before_.data()); }
    without_capability(const without_capability&) = delete;
    without_capability& operator=(const without_capability&) = delete;

  private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> before_{};
};

/// While it lives a limit of the process is lower.
class lower_limit {
  public:
    lower_limit(decltype(RLIMIT_MEMLOCK) resource, rlim_t value) : resource_(resource) {
        if (::getrlimit(resource_, &before_) != 0) throw std::runtime_error("getrlimit");
        auto lower = before_;
        lower.rlim_cur = value;
        if (::setrlimit(resource_, &lower) != 0) throw std::runtime_error("setrlimit");
    }
    ~lower_limit() { (void)::setrlimit(resource_, &before_); }
    lower_limit(const lower_limit&) = delete;
    lower_limit& operator=(const lower_limit&) = delete;

  private:
    decltype(RLIMIT_MEMLOCK) resource_;
    rlimit before_{};
};

} // namespace rocio::test
