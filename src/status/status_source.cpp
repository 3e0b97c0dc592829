#include <rocio/status/status_source.hpp>

#include <chrono>
#include <list>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace rocio {

namespace detail {

struct status_providers {
    const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::list<status_source::provider> list;
};

} // namespace detail

status_registration::status_registration(std::shared_ptr<detail::status_providers> providers,
                                         const void* key) noexcept
    : providers_(std::move(providers)), key_(key) {}

status_registration::status_registration(status_registration&& other) noexcept
    : providers_(std::move(other.providers_)), key_(std::exchange(other.key_, nullptr)) {}

status_registration& status_registration::operator=(status_registration&& other) noexcept {
    status_registration taken(std::move(other));
    std::swap(providers_, taken.providers_);
    std::swap(key_, taken.key_);
    return *this;
}

status_registration::~status_registration() {
    reset();
}

void status_registration::reset() noexcept {
    const auto providers = std::exchange(providers_, nullptr);
    if (!providers) return;
    std::list<status_source::provider> removed; // its captures die outside the lock
    const std::lock_guard lock(providers->mutex);
    for (auto it = providers->list.begin(); it != providers->list.end(); ++it) {
        if (&*it != key_) continue;
        removed.splice(removed.begin(), providers->list, it);
        break;
    }
}

status_source::status_source() : providers_(std::make_shared<detail::status_providers>()) {}

status_registration status_source::add(provider show) {
    std::list<provider> added;
    added.push_back(std::move(show));
    const void* key = &added.front();
    const std::lock_guard lock(providers_->mutex);
    providers_->list.splice(providers_->list.end(), added);
    return {providers_, key};
}

status_snapshot status_source::snapshot() const {
    status_snapshot result;
    result.process.version = ROCIO_VERSION;
    result.process.pid = ::getpid();
    result.process.uptime = std::chrono::steady_clock::now() - providers_->started;
    const std::lock_guard lock(providers_->mutex);
    for (const auto& show : providers_->list) show(result);
    return result;
}

} // namespace rocio
