#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/status/status_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace rocio {

namespace detail {
struct status_entry;
struct status_providers;
class wake_list;
} // namespace detail

/// Keeps one provider in its status_source; leaving scope takes the provider out and waits for a call of it
/// that is under way, so that a provider may refer to objects that die right after. Move-only; an empty one
/// does nothing.
class status_registration {
  public:
    status_registration() noexcept = default;
    status_registration(status_registration&& other) noexcept;
    status_registration& operator=(status_registration&& other) noexcept;
    ~status_registration();

    /// Takes the provider out now. Idempotent. Not from inside a provider.
    void reset() noexcept;

  private:
    friend class status_source;
    status_registration(std::shared_ptr<detail::status_providers> providers, const void* key) noexcept;

    std::shared_ptr<detail::status_providers> providers_;
    const void* key_ = nullptr;
};

/// Where the objects of a program register what the status is to show of them:
///
///     rocio::status_source source("my program");
///     auto shown = source.add([&](rocio::status_snapshot& s) { s.streams.push_back(server.snapshot()); });
///
/// A handle: copies share the providers, and a copy keeps them alive. Thread-safe; snapshots may be taken
/// from any thread, so a provider must read what any thread may read, such as the snapshot() of a rocio
/// object. What only one thread may read is given with that thread's executor.
class status_source {
  public:
    /// Appends its part to the snapshot. Called under a lock, one provider at a time: it must neither call
    /// the source (notify() excepted) nor wait for a thread that does.
    using provider = std::function<void(status_snapshot&)>;

    /// How long a snapshot waits for providers with an executor, unless told otherwise.
    static constexpr std::chrono::milliseconds default_deadline{50};
    /// An engine whose turn lasts, or is due, for longer than this is shown as stale.
    static constexpr std::chrono::milliseconds longest_turn{500};

    /// `program`: its name, as process.name shows it.
    explicit status_source(std::string program = {});

    void set_program_name(std::string program);

    /// Adds a provider for as long as the result lives. Providers are asked in the order they were added.
    [[nodiscard]] status_registration add(provider show);
    /// As above, but `show` is called on `executor`, such as that of a data plane, and not under the source's
    /// lock. At most one request is queued there; while it waits, snapshots show the provider's last answer
    /// and `name` among what is stale, as they do when it throws. The executor's context may end before the
    /// registration.
    [[nodiscard]] status_registration add(boost::asio::any_io_executor executor, std::string name,
                                          provider show);

    /// The process and what every provider has to say; of those with an executor their last answers, and they
    /// are asked for new ones. Never waits for an executor. Throws what a provider without executor throws.
    status_snapshot snapshot() const;

    /// Takes a snapshot to which every provider may contribute.
    ///
    /// Effect: asks the providers with an executor, waits until each has answered or `deadline` has passed,
    /// then calls those without one. Whoever is late contributes its last answer and an entry in `stale`; so
    /// does an engine whose turn lasts for longer than longest_turn. Preconditions: none. Lifetimes: the
    /// source may be destroyed before; the context of `executor` runs. Completion signature:
    /// void(std::exception_ptr, status_snapshot). Executor: the handler's, default `executor`, on which the
    /// deadline is awaited; never inside this call. Cancellation: none, the deadline ends it. Errors: what a
    /// provider without executor throws. Thread safety: any thread.
    template <asio::completion_token_for<void(std::exception_ptr, status_snapshot)> Token =
                  default_token_t<asio::any_io_executor>>
    auto async_snapshot(const asio::any_io_executor& executor, std::chrono::milliseconds deadline,
                        Token&& token = default_token_t<asio::any_io_executor>()) const {
        return asio::async_initiate<Token, signature>(
            async::control_initiation<signature, asio::any_io_executor>{executor}, token, &start_snapshot,
            providers_, executor, deadline);
    }

    /// Something has happened that watchers should see at once, such as an event of a device: those of
    /// `/events` get a new snapshot. Never blocks and never fails; calls in a row count as one. Any thread.
    void notify() const noexcept;

    /// \cond
    const std::shared_ptr<detail::wake_list>& changes() const noexcept; // woken by notify()
                                                                        /// \endcond

  private:
    using signature = void(std::exception_ptr, status_snapshot);

    static void start_snapshot(const std::shared_ptr<detail::status_providers>& providers,
                               const asio::any_io_executor& executor, std::chrono::milliseconds deadline,
                               async::control_handler<signature> handler);
    status_registration insert(detail::status_entry entry);

    std::shared_ptr<detail::status_providers> providers_;
};

} // namespace rocio
