#pragma once

#include <rocio/rpc/detail/handover_desk.hpp>
#include <rocio/rpc/detail/slot_states.hpp>
#include <rocio/rpc/dispatcher.hpp>
#include <rocio/types/slot_ring.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace rocio::rpc {

/// Serves the requests of a slot ring: the answer to the request in receive slot n leaves from send slot n.
///
/// Handlers without an executor run inside on_request() or poll(), on the polling strand. Those with one get
/// a copy of the request there; the slot stays held until the answer is back, so answers leave in the order
/// in which handlers finish. A request whose send slot still waits to leave is held until it is free; nothing
/// is overwritten. A request that gets no answer only releases its slot.
///
/// Lifetimes: the ring must outlive this object. The executors of functions may outlive it: handlers that run
/// then finish on their copies and nobody hears of them, and no other is begun. They must be stopped before
/// the context of `home` is destroyed. Thread safety: everything, the destructor too, on the polling strand;
/// snapshot() there, too.
template <slot_ring Ring>
class ring_dispatcher {
  public:
    /// `home` is the executor of the polling strand: finished answers are sent from there. An empty one is
    /// for a loop without a context: answers then leave in resume() or poll(). Throws std::bad_alloc.
    ring_dispatcher(boost::asio::any_io_executor home, Ring& ring, function_table functions,
                    const dispatcher_config& config = {})
        : ring_(ring),
          states_(ring.slot_count()),
          desk_(std::make_shared<detail::handover_desk>(
              std::move(home), [this] { publish_answers(); }, std::move(functions), config, geometry(ring))) {
    }
    ring_dispatcher(Ring& ring, function_table functions, const dispatcher_config& config = {})
        : ring_dispatcher(boost::asio::any_io_executor(), ring, std::move(functions), config) {}
    ring_dispatcher(const ring_dispatcher&) = delete;
    ring_dispatcher& operator=(const ring_dispatcher&) = delete;
    /// Requests still held are not released.
    ~ring_dispatcher() { desk_->close(); }

    /// Receive slot `slot` was filled. A slot that is held already (the peer wrote into it again) and a
    /// number out of range are counted and ignored.
    void on_request(std::uint32_t slot) {
        if (!states_.hold(slot)) return;
        if (!ring_.tx_free(slot)) return states_.wait(slot);
        serve(slot);
    }

    /// Sends the answers of other executors and serves the requests whose send slot has become free. To be
    /// called after completions of sends, and once per round by a loop without a context.
    void resume() {
        publish_answers();
        states_.retry([this](std::uint32_t slot) {
            if (!ring_.tx_free(slot)) return false;
            serve(slot);
            return true;
        });
    }

    /// One round: what the ring has received, then resume(). Returns the number of requests.
    std::size_t poll() requires polled_slot_ring<Ring> {
        const std::size_t n = ring_.poll([this](std::uint32_t slot) { on_request(slot); });
        resume();
        return n;
    }

    const function_table& functions() const noexcept { return desk_->core().functions(); }
    rpc_snapshot snapshot() const {
        auto s = desk_->core().snapshot();
        s.with_executors = states_.handed();
        s.waiting = states_.waiting();
        s.repeated = states_.repeated();
        s.publish_errors = publish_errors_;
        s.last_publish_error = last_publish_error_;
        return s;
    }

  private:
    static detail::handover_desk::geometry geometry(Ring& ring) {
        if (ring.slot_count() == 0) return {};
        return {ring.slot_count(), std::span<const std::byte>(ring.rx_slot(0)).size(),
                std::span<std::byte>(ring.tx_slot(0)).size()};
    }

    void serve(std::uint32_t slot) {
        auto& core = desk_->core();
        const auto arrived = core.now();
        const std::span<const std::byte> rx = ring_.rx_slot(slot);
        const auto request = core.inspect(rx);
        if (request.what == verdict::called && request.function->executor()) {
            states_.hand_over(slot);
            return desk_->hand_over(slot, request, rx, arrived);
        }
        finish(slot, request, core.execute(request, rx, ring_.tx_slot(slot)), arrived);
    }

    void publish_answers() {
        for (const std::uint32_t slot : states_.take_finished(*desk_)) {
            const auto& handed = desk_->at(slot);
            const auto length = desk_->core().config().clear_tail ? handed.tx.size() : handed.result.length;
            std::ranges::copy(std::span(handed.tx).first(handed.result.answered() ? length : 0),
                              std::span<std::byte>(ring_.tx_slot(slot)).begin());
            finish(slot, handed.request, handed.result, handed.arrived);
        }
    }

    void finish(std::uint32_t slot, const inspected_request& request, const outcome& result,
                std::chrono::steady_clock::time_point arrived) {
        desk_->core().account(request, result, arrived);
        states_.free(slot);
        if (result.answered()) {
            // The answer before the release: a sender that sees its slot free may count on the answer's way.
            if (const error_code ec = ring_.publish(slot, result.length)) {
                ++publish_errors_;
                last_publish_error_ = ec;
            }
        }
        ring_.release(slot);
    }

    Ring& ring_;
    detail::slot_states states_;
    std::shared_ptr<detail::handover_desk> desk_;
    std::uint64_t publish_errors_ = 0;
    error_code last_publish_error_;
};

} // namespace rocio::rpc
