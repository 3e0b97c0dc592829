#include "verbs/verbs_completion_queue.hpp"

#include "verbs/completion_status.hpp"
#include "verbs/failure.hpp"

#include <algorithm>
#include <cerrno>

namespace rocio::verbs {

namespace {

constexpr std::size_t most_at_once = 32;

} // namespace

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

/// Mostly there is nothing, which a spinning thread finds out over and over: that goes first.
[[gnu::flatten]] std::size_t verbs_completion_queue::poll(std::span<work_completion> out,
                                                          errc& error) noexcept {
    ibv_wc found[most_at_once];
    const auto wanted = std::min(most_at_once, out.size());
    const int n = ibv_poll_cq(handle_.get(), static_cast<int>(wanted), found);
    error = n < 0 ? errc::local_operation_error : errc::success;
    if (n <= 0) return 0;
    const auto count = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i) {
        translate(found[i], out[i]);
        if (out[i].status != errc::success) [[unlikely]]
            core_->note_failure(out[i].queue_pair);
    }
    if (count < most_at_once) return count;
    return count + poll_more(out.subspan(count));
}

/// An error after the first completions is what the next call says.
[[gnu::noinline]] std::size_t verbs_completion_queue::poll_more(std::span<work_completion> out) noexcept {
    errc later = errc::success;
    return out.empty() ? 0 : poll(out, later);
}

errc verbs_completion_queue::arm() noexcept {
    if (ibv_req_notify_cq(handle_.get(), 0) != 0) return errc::local_operation_error;
    core_->expect_event();
    return errc::success;
}

} // namespace rocio::verbs
