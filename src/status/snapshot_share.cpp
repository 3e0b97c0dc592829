#include "snapshot_share.hpp"

#include <rocio/status/prometheus_text.hpp>
#include <rocio/status/status_json.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>

#include <optional>
#include <utility>

namespace rocio::detail {

using clock = std::chrono::steady_clock;

shared_status::shared_status(status_snapshot snapshot, time_point asked_at)
    : snapshot_(std::move(snapshot)), asked_at_(asked_at) {}

const boost::json::object& shared_status::document() const {
    std::call_once(document_once_, [this] { document_ = to_json(snapshot_); });
    return document_;
}

std::shared_ptr<const http_content> shared_status::json_text() const {
    std::call_once(json_once_,
                   [this] { json_ = std::make_shared<http_content>(boost::json::serialize(document())); });
    return json_;
}

std::shared_ptr<const http_content> shared_status::metrics_text() const {
    std::call_once(metrics_once_,
                   [this] { metrics_ = std::make_shared<http_content>(to_prometheus(snapshot_)); });
    return metrics_;
}

/// Ends the taking of a snapshot, also when a provider throws or the context ends.
class snapshot_share::turn {
  public:
    explicit turn(snapshot_share& share) : share_(share) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
        {
            const std::lock_guard lock(share_.mutex_);
            share_.taking_ = false;
        }
        share_.taken_->wake_all();
    }

  private:
    snapshot_share& share_;
};

snapshot_share::snapshot_share(status_source source, std::chrono::milliseconds deadline)
    : source_(std::move(source)), deadline_(deadline) {}

std::shared_ptr<const shared_status> snapshot_share::latest_or_turn(time_point not_before, bool& my_turn) {
    const std::lock_guard lock(mutex_);
    if (latest_ && latest_->asked_at() >= not_before) return latest_;
    my_turn = !std::exchange(taking_, true);
    return nullptr;
}

asio::awaitable<std::shared_ptr<const shared_status>> snapshot_share::get(time_point not_before) {
    std::optional<wake_list::waiter> waiter;
    for (;;) {
        bool my_turn = false;
        if (auto found = latest_or_turn(not_before, my_turn)) co_return found;
        if (my_turn) break;
        if (waiter) {
            const bool woken = co_await waiter->wait();
            (void)woken;
        } else { // then look once more: the other may have ended just now
            const auto executor = co_await asio::this_coro::executor;
            waiter.emplace(taken_, executor);
        }
    }
    const turn mine(*this);
    co_return co_await take();
}

asio::awaitable<std::shared_ptr<const shared_status>> snapshot_share::take() {
    const auto asked_at = clock::now();
    const auto executor = co_await asio::this_coro::executor;
    auto snapshot = co_await source_.async_snapshot(executor, deadline_, asio::use_awaitable);
    rates_.fill(snapshot, asked_at);
    auto result = std::make_shared<const shared_status>(std::move(snapshot), asked_at);
    const std::lock_guard lock(mutex_);
    latest_ = result;
    co_return result;
}

} // namespace rocio::detail
