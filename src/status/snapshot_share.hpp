#pragma once

#include "http_content.hpp"
#include "rate_meter.hpp"
#include "wake_list.hpp"

#include <rocio/status/status_source.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <memory>
#include <mutex>

namespace rocio::detail {

/// A snapshot that several requests use, and what is made of it once. Immutable; thread-safe.
class shared_status {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    shared_status(status_snapshot snapshot, time_point asked_at);

    const status_snapshot& snapshot() const noexcept { return snapshot_; }
    /// Before any provider was asked.
    time_point asked_at() const noexcept { return asked_at_; }
    const boost::json::object& document() const;
    std::shared_ptr<const http_content> json_text() const;
    std::shared_ptr<const http_content> metrics_text() const;

  private:
    const status_snapshot snapshot_;
    const time_point asked_at_;
    mutable std::once_flag document_once_, json_once_, metrics_once_;
    mutable boost::json::object document_{};
    mutable std::shared_ptr<const http_content> json_{}, metrics_{};
};

/// Takes snapshots of a source for many, one at a time. Thread-safe.
class snapshot_share {
  public:
    using time_point = shared_status::time_point;

    snapshot_share(status_source source, std::chrono::milliseconds deadline);

    /// One that was asked for at `not_before` or later: the latest, the one that is being taken, or a new
    /// one. On a strand. Throws what a provider throws.
    boost::asio::awaitable<std::shared_ptr<const shared_status>> get(time_point not_before);

  private:
    class turn;

    /// The latest if it will do; else it is the caller's turn to take one, or null: to wait for another's.
    std::shared_ptr<const shared_status> latest_or_turn(time_point not_before, bool& my_turn);
    boost::asio::awaitable<std::shared_ptr<const shared_status>> take();

    const status_source source_;
    const std::chrono::milliseconds deadline_;
    const std::shared_ptr<wake_list> taken_ = std::make_shared<wake_list>();

    std::mutex mutex_;
    bool taking_ = false;
    std::shared_ptr<const shared_status> latest_{};
    rate_meter rates_{}; ///< Of who takes one.
};

} // namespace rocio::detail
