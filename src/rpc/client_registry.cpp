#include <rocio/rpc/detail/client_core.hpp>
#include <rocio/rpc/detail/client_registry.hpp>

#include <utility>

namespace rocio::rpc::detail {

boost::asio::execution_context::id client_registry::id;

void client_registry::add(client_core& core) {
    std::lock_guard lock(mutex_);
    cores_.push_back(&core);
}

void client_registry::remove(client_core& core) noexcept {
    std::lock_guard lock(mutex_);
    std::erase(cores_, &core);
}

void client_registry::shutdown() noexcept {
    for (;;) {
        std::shared_ptr<client_core> core;
        {
            std::lock_guard lock(mutex_);
            if (cores_.empty()) return;
            core = cores_.back()->weak_from_this().lock();
            cores_.pop_back();
        }
        if (core) core->shutdown();
    }
}

} // namespace rocio::rpc::detail
