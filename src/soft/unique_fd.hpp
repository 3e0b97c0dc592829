#pragma once

#include <utility>

#include <unistd.h>

namespace rocio::soft {

/// Owns a file descriptor; -1: none.
class unique_fd {
  public:
    unique_fd() noexcept = default;
    explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~unique_fd() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const noexcept { return fd_; }

  private:
    int fd_ = -1;
};

} // namespace rocio::soft
