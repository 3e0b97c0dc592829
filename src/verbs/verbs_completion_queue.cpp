#include "verbs/verbs_completion_queue.hpp"

#include "verbs/completion_status.hpp"
#include "verbs/failure.hpp"

#include <algorithm>
#include <cerrno>

namespace rocio::verbs {

error_info verbs_completion_queue::make(std::shared_ptr<device_core> core, std::uint32_t depth,
                                        std::unique_ptr<device_completion_queue>& out) {
    const auto most = static_cast<std::uint32_t>(std::max(core->attributes().max_cqe, 0));
    if (depth < 1 || depth > most)
        return outside(errc::limit_exceeded, "completion queue depth", core->name(), depth, 1, most);
    std::unique_ptr<verbs_completion_queue> made(new verbs_completion_queue(std::move(core)));
    const device_core& c = *made->core_;
    made->handle_.reset(ibv_create_cq(c.context(), static_cast<int>(depth), made.get(), c.channel(), 0));
    if (!made->handle_)
        return failure(errno, "ibv_create_cq", c.name(),
                       "depth " + std::to_string(depth) + " asked, at most " + std::to_string(most) +
                           " allowed per queue");
    out = std::move(made);
    return {};
}

[[gnu::flatten]] std::size_t verbs_completion_queue::poll(std::span<work_completion> out,
                                                          errc& error) noexcept {
    constexpr std::size_t batch = 16;
    error = errc::success;
    std::size_t done = 0;
    while (done < out.size()) {
        ibv_wc found[batch];
        const std::size_t wanted = std::min(batch, out.size() - done);
        const int n = ibv_poll_cq(handle_.get(), static_cast<int>(wanted), found);
        if (n < 0) {
            if (done == 0) error = errc::local_operation_error; // else the next call says so
            break;
        }
        for (int i = 0; i < n; ++i) {
            out[done] = completion_of(found[i]);
            if (out[done].status != errc::success) core_->note_failure(out[done].queue_pair);
            ++done;
        }
        if (static_cast<std::size_t>(n) < wanted) break;
    }
    return done;
}

errc verbs_completion_queue::arm() noexcept {
    if (ibv_req_notify_cq(handle_.get(), 0) != 0) return errc::local_operation_error;
    core_->expect_event();
    return errc::success;
}

} // namespace rocio::verbs
