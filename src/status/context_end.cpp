#include "context_end.hpp"

#include <utility>

namespace rocio::detail {

context_end::context_end(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context) {}

void context_end::add(const std::shared_ptr<listener>& who) {
    const std::lock_guard lock(mutex_);
    listeners_.emplace(who.get(), who);
}

void context_end::remove(const listener* who) noexcept {
    const std::lock_guard lock(mutex_);
    listeners_.erase(who);
}

void context_end::shutdown() {
    std::map<const listener*, std::weak_ptr<listener>> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(listeners_);
    }
    for (const auto& entry : all) {
        if (const auto who = entry.second.lock()) who->on_context_end();
    }
}

} // namespace rocio::detail
