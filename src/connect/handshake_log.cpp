#include <rocio/connect/handshake_log.hpp>

#include <utility>

namespace rocio {

handshake_log::handshake_log(std::string name) {
    seen_.name = std::move(name);
}

void handshake_log::identify(std::string kind, std::string endpoint) {
    const std::lock_guard held(mutex_);
    seen_.kind = std::move(kind);
    seen_.endpoint = std::move(endpoint);
}

void handshake_log::began() {
    const std::lock_guard held(mutex_);
    ++seen_.attempts;
}

void handshake_log::established() {
    const std::lock_guard held(mutex_);
    ++seen_.established;
}

void handshake_log::failed(const error_info& why, const std::string& peer) {
    const auto now = std::chrono::system_clock::now();
    const std::lock_guard held(mutex_);
    ++seen_.failed;
    seen_.last_error = why;
    seen_.last_error_peer = peer;
    seen_.last_error_time = now;
}

handshake_snapshot handshake_log::snapshot() const {
    const std::lock_guard held(mutex_);
    return seen_;
}

} // namespace rocio
