#include "verbs/device_core.hpp"
#include "verbs/verbs_completion_queue.hpp"
#include "verbs/verbs_memory_region.hpp"
#include "verbs/verbs_queue_pair.hpp"

#include <rocio/verbs/native.hpp>
#include <rocio/verbs/verbs_device.hpp>

namespace rocio::verbs {

ibv_context* native_context(const device& dev) noexcept {
    const auto* found = dynamic_cast<const verbs_device*>(&dev);
    return found != nullptr ? found->core()->context() : nullptr;
}

ibv_pd* native_protection_domain(const device& dev) noexcept {
    const auto* found = dynamic_cast<const verbs_device*>(&dev);
    return found != nullptr ? found->core()->protection_domain() : nullptr;
}

ibv_cq* native_handle(const device_completion_queue& queue) noexcept {
    const auto* found = dynamic_cast<const verbs_completion_queue*>(&queue);
    return found != nullptr ? found->handle() : nullptr;
}

ibv_qp* native_handle(const device_queue_pair& pair) noexcept {
    const auto* found = dynamic_cast<const verbs_queue_pair*>(&pair);
    return found != nullptr ? found->handle() : nullptr;
}

ibv_mr* native_handle(const device_memory_region& region) noexcept {
    const auto* found = dynamic_cast<const verbs_memory_region*>(&region);
    return found != nullptr ? found->handle() : nullptr;
}

} // namespace rocio::verbs
