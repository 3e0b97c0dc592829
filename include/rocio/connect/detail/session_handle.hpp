#pragma once

#include <memory>
#include <utility>

namespace rocio::detail {

/// The owner of a session: `abandon(std::shared_ptr<Session>&&)` is called when it drops one.
template <class Session>
class session_handle {
  public:
    session_handle() noexcept = default;
    explicit session_handle(std::shared_ptr<Session> session) noexcept : session_(std::move(session)) {}
    session_handle(session_handle&&) noexcept = default;
    session_handle& operator=(session_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(session_, std::move(other.session_)));
        return *this;
    }
    ~session_handle() { abandon(std::move(session_)); }

    const std::shared_ptr<Session>& get() const noexcept { return session_; }

  private:
    std::shared_ptr<Session> session_;
};

} // namespace rocio::detail
