#pragma once

#include "http_answer.hpp"
#include "snapshot_share.hpp"
#include "strand_task.hpp"
#include "wake_list.hpp"

#include <rocio/status/status_routes_config.hpp>
#include <rocio/status/status_source.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace rocio::detail {

/// Answers requests for the status, whatever server has read them. Thread-safe; its coroutines run on
/// strands.
class http_front : public std::enable_shared_from_this<http_front> {
  public:
    http_front(const status_source& source, status_routes_config config);

    /// Names the setting that cannot work.
    static error_info check(const status_routes_config& config);

    const status_routes_config& config() const noexcept { return config_; }
    std::size_t subscribers() const noexcept { return *subscribers_; }

    boost::asio::awaitable<http_answer> answer(http_question question);
    /// `found` with the fields that every answer has.
    http_answer fitted(http_found found, const http_question& question) const;

    /// Looks at the status twice a second, without which there were no rates, until stop().
    void start_sampling(const any_strand& strand);
    /// Any thread; once.
    void stop();

  private:
    boost::asio::awaitable<http_found> find(std::string_view path);
    boost::asio::awaitable<http_found> find_in_status(std::string_view path);
    boost::asio::awaitable<http_answer> answer_events(const http_question& question);
    std::shared_ptr<void> take_subscription(); ///< Null if there is none left.
    http_found readiness(const shared_status& status) const;
    static boost::asio::awaitable<void> sample(std::shared_ptr<http_front> self);

    const status_routes_config config_;
    const std::shared_ptr<wake_list> changes_;
    const std::shared_ptr<snapshot_share> share_;
    const std::shared_ptr<std::atomic<std::size_t>> subscribers_ =
        std::make_shared<std::atomic<std::size_t>>(0);
    const std::shared_ptr<wake_list> ended_ = std::make_shared<wake_list>();
    std::atomic<bool> stopped_ = false;
};

/// Whether a request for `target` is for the status, also where there is nothing at it.
bool is_status_path(std::string_view target);

} // namespace rocio::detail
