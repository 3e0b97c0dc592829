#include <rocio/io/detail/queue_pair_impl.hpp>
#include <rocio/io/detail/raw_completions.hpp>

#include <algorithm>
#include <array>

namespace rocio::detail {

// ---- Posts of whoever takes the completions himself

template <class Request>
post_outcome queue_pair_impl::post_raw(std::span<const Request> requests) noexcept {
    auto held = engine().lock();
    if (!raw_ || !core_.is_open() || engine().is_shut_down()) return {0, errc::invalid_state};
    if (raw_->is_full()) return {0, errc::queue_full};
    std::array<Request, 16> chain;
    post_outcome total;
    while (total.accepted < requests.size()) {
        const auto n = std::min(chain.size(), requests.size() - total.accepted);
        for (std::size_t i = 0; i < n; ++i) {
            chain[i] = requests[total.accepted + i];
            chain[i].id = core_.id(chain[i].id.slot);
        }
        const auto outcome = device_post(std::span<const Request>(chain.data(), n));
        total.accepted += outcome.accepted;
        total.reason = outcome.reason;
        if (outcome.accepted < n) break;
    }
    if (total.accepted > 0) engine().kick();
    return total;
}

post_outcome queue_pair_impl::post_send(std::span<const send_request> requests) noexcept {
    return post_raw(requests);
}

post_outcome queue_pair_impl::post_receive(std::span<const receive_request> requests) noexcept {
    return post_raw(requests);
}

} // namespace rocio::detail
