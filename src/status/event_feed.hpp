#pragma once

#include "snapshot_share.hpp"
#include "strand_task.hpp"
#include "wake_list.hpp"

#include <rocio/status/status_routes_config.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace rocio::detail {

/// What one subscriber of `/events` is sent, as server-sent events: "status", first whole and then as merge
/// patches of the one before, and "device", one for each event of a device as soon as the source is notified.
/// Holds one status document. On its strand, except for construction and destruction.
class event_feed {
  public:
    event_feed(std::shared_ptr<snapshot_share> share, std::shared_ptr<wake_list> changes,
               const status_routes_config& config, std::shared_ptr<void> subscription,
               const any_strand& strand);
    event_feed(const event_feed&) = delete;
    event_feed& operator=(const event_feed&) = delete;

    /// What is to be sent next, when there is something; "" after cancel().
    boost::asio::awaitable<std::string> next();
    void cancel();

    const any_strand& strand() const noexcept { return strand_; }

  private:
    using time_point = std::chrono::steady_clock::time_point;

    boost::asio::awaitable<std::string> next_text();
    /// The status asked for at `not_before` or later; null with the reason in `trouble` if it cannot be
    /// taken.
    boost::asio::awaitable<std::shared_ptr<const shared_status>> look(time_point not_before,
                                                                      std::string& trouble);
    boost::asio::awaitable<void> keep_distance();
    std::string status_text(const shared_status& status);
    std::string device_text(const shared_status& status);

    const std::shared_ptr<snapshot_share> share_;
    const std::chrono::milliseconds snapshot_age_;
    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds heartbeat_;
    const std::shared_ptr<void> subscription_; ///< Counts for as long as it lives.
    const any_strand strand_;
    wake_list::waiter waiter_;

    bool cancelled_ = false;
    time_point next_status_{};
    time_point next_beat_{};
    time_point looked_at_{};
    std::optional<boost::json::object> sent_{};
    std::map<std::string, std::uint64_t> events_seen_{}; ///< By the name of the device.
};

} // namespace rocio::detail
