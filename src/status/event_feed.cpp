#include "event_feed.hpp"

#include "merge_patch.hpp"

#include <rocio/status/json_values.hpp>

#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace rocio::detail {

namespace {

namespace json = boost::json;
using clock = std::chrono::steady_clock;

/// How long a client waits before it comes back.
constexpr const char* retry_line = "retry: 1000\n";
constexpr const char* heartbeat_text = ":\n\n";

/// JSON as Boost writes it has no line breaks, so it is one line of data.
std::string event_text(const char* kind, const json::value& data) {
    return std::string("event: ") + kind + "\ndata: " + json::serialize(data) + "\n\n";
}

std::string comment_text(std::string text) {
    for (auto& c : text) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return ": " + text + "\n\n";
}

} // namespace

event_feed::event_feed(std::shared_ptr<snapshot_share> share, std::shared_ptr<wake_list> changes,
                       const status_routes_config& config, std::shared_ptr<void> subscription,
                       const any_strand& strand)
    : share_(std::move(share)),
      snapshot_age_(config.snapshot_age),
      interval_(config.event_interval),
      heartbeat_(config.heartbeat),
      subscription_(std::move(subscription)),
      strand_(strand),
      waiter_(std::move(changes), strand) {}

void event_feed::cancel() {
    cancelled_ = true;
    waiter_.wake();
}

asio::awaitable<std::string> event_feed::next() {
    std::string text;
    while (text.empty() && !cancelled_) text = co_await next_text();
    next_beat_ = clock::now() + heartbeat_;
    co_return cancelled_ ? std::string() : text;
}

asio::awaitable<std::string> event_feed::next_text() {
    const bool notified = co_await waiter_.wait_until(std::min(next_status_, next_beat_));
    if (cancelled_) co_return std::string();
    const auto now = clock::now();
    const bool due = now >= next_status_;
    if (!notified && !due) co_return std::string(heartbeat_text);
    if (notified) co_await keep_distance();
    if (cancelled_) co_return std::string();

    std::string trouble;
    const auto status = co_await look(notified ? clock::now() : now - snapshot_age_, trouble);
    if (due) next_status_ = now + interval_;
    if (!status) co_return comment_text(trouble);
    auto text = device_text(*status);
    if (due) text += status_text(*status);
    co_return text;
}

/// Notifications in a row must not make more snapshots than requests can.
asio::awaitable<void> event_feed::keep_distance() {
    while (!cancelled_ && clock::now() < looked_at_ + snapshot_age_) {
        const bool woken = co_await waiter_.wait_until(looked_at_ + snapshot_age_);
        (void)woken;
    }
}

asio::awaitable<std::shared_ptr<const shared_status>> event_feed::look(time_point not_before,
                                                                       std::string& trouble) {
    std::shared_ptr<const shared_status> status;
    try {
        status = co_await share_->get(not_before);
    } catch (const std::exception& failure) {
        trouble = failure.what();
    }
    looked_at_ = clock::now();
    co_return status;
}

std::string event_feed::status_text(const shared_status& status) {
    const auto& document = status.document();
    if (!sent_) {
        sent_ = document;
        return retry_line + event_text("status", document);
    }
    const auto patch = merge_patch(*sent_, document);
    sent_ = document;
    return patch.empty() ? std::string() : event_text("status", patch);
}

std::string event_feed::device_text(const shared_status& status) {
    std::string text;
    const auto& devices = status.snapshot().devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto so_far = devices[i].events_so_far;
        const auto before = std::exchange(events_seen_[devices[i].name], so_far);
        if (!sent_ || so_far <= before) continue; // the first status shows the earlier ones
        const auto& events = status.document().at("devices").at(i).at("events").as_array();
        const auto news = std::min<std::uint64_t>(so_far - before, events.size());
        for (auto at = events.size() - static_cast<std::size_t>(news); at < events.size(); ++at) {
            auto data = events[at].as_object();
            data.emplace("device", json_text(devices[i].name));
            text += event_text("device", data);
        }
    }
    return text;
}

} // namespace rocio::detail
