#pragma once

#include <memory>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// Destroys a verbs object. A refusal has no remedy in a destructor: EIO means the device is gone and took
/// the object with it, EBUSY that something still uses it, and then leaking it is the safe end.
template <auto Destroy>
struct destroy {
    template <class Object>
    void operator()(Object* object) const noexcept {
        (void)Destroy(object);
    }
};

using context_handle = std::unique_ptr<ibv_context, destroy<&ibv_close_device>>;
using protection_domain_handle = std::unique_ptr<ibv_pd, destroy<&ibv_dealloc_pd>>;
using completion_channel_handle = std::unique_ptr<ibv_comp_channel, destroy<&ibv_destroy_comp_channel>>;
using completion_queue_handle = std::unique_ptr<ibv_cq, destroy<&ibv_destroy_cq>>;
using queue_pair_handle = std::unique_ptr<ibv_qp, destroy<&ibv_destroy_qp>>;
using memory_region_handle = std::unique_ptr<ibv_mr, destroy<&ibv_dereg_mr>>;

} // namespace rocio::verbs
