#pragma once

#include "context_end.hpp"
#include "wake_list.hpp"

#include <rocio/status/status_source.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rocio::detail {

/// A provider that is asked on an executor of its own, which may not answer: the last answer is kept, and no
/// more than one request is queued. Thread-safe.
class bound_provider final : public context_end::listener,
                             public std::enable_shared_from_this<bound_provider> {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    struct answer {
        std::shared_ptr<const status_snapshot> part{}; ///< Null until there is one.
        time_point at{};                               ///< When `part` was taken.
        std::string failure{};                         ///< What the latest call threw instead of a part.
        std::optional<time_point> asked_at{};          ///< Of the request that waits for its answer.
        bool ended = false;                            ///< Its context is gone; no other answer will come.
    };

    /// `answered` is woken after each answer, and when there will be none.
    bound_provider(boost::asio::any_io_executor executor, std::string name, status_source::provider show,
                   std::shared_ptr<wake_list> answered);

    /// Once, before it is used: it is to hear of its context's end.
    void attach();
    /// Takes the provider out, and waits for a call of it that is under way.
    void close() noexcept;

    const std::string& name() const noexcept { return name_; }
    /// Queues a request unless an older one still waits.
    void ask();
    answer latest() const;
    /// Whether nothing has to be waited for: an answer, or a failure, later than `since`.
    bool answered_since(time_point since) const;

  private:
    void on_context_end() noexcept override;
    void call();
    void keep(std::shared_ptr<const status_snapshot> part, std::string failure);

    const std::string name_;
    const std::shared_ptr<wake_list> answered_;

    std::mutex call_mutex_; ///< Held while the provider runs.
    status_source::provider show_;

    mutable std::mutex mutex_;
    std::optional<boost::asio::any_io_executor> executor_; ///< Nothing once its context is gone.
    answer latest_;
    std::optional<time_point> settled_at_; ///< The latest call, whether it gave a part or failed.
};

} // namespace rocio::detail
