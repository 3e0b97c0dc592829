#include "bound_provider.hpp"
#include "build_text.hpp"
#include "snapshot_parts.hpp"
#include "strand_task.hpp"
#include "wake_list.hpp"

#include <rocio/status/status_source.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include <unistd.h>

namespace rocio {

namespace detail {

using clock = std::chrono::steady_clock;

/// What one add() keeps: a provider without an executor, or one with it.
struct status_entry {
    status_source::provider show{};
    std::shared_ptr<bound_provider> bound{};
};

struct status_providers {
    std::vector<std::shared_ptr<bound_provider>> ask() const;
    /// Everything there is now. A bound provider is late when it has not answered since `since`, or lets
    /// another request wait for longer than `deadline`.
    status_snapshot collect(clock::time_point since, std::chrono::milliseconds deadline) const;

    const clock::time_point started = clock::now();
    const std::shared_ptr<wake_list> answered = std::make_shared<wake_list>(); ///< By bound providers.
    const std::shared_ptr<wake_list> changed = std::make_shared<wake_list>();
    mutable std::mutex mutex;
    std::string program{};
    std::list<status_entry> list{};

  private:
    void show_process(status_snapshot& to) const;
    void show_bound(status_snapshot& to, const bound_provider& from, clock::time_point since,
                    std::chrono::milliseconds deadline) const;
};

namespace {

std::string reason_of(const bound_provider::answer& answer, clock::time_point since,
                      std::chrono::milliseconds deadline) {
    if (answer.ended) return "its context has ended";
    if (!answer.failure.empty()) return "it failed: " + answer.failure;
    const bool overdue = answer.asked_at && clock::now() - *answer.asked_at > deadline;
    if (answer.part && answer.at >= since && !overdue) return {};
    return "no answer within " + std::to_string(deadline.count()) + " ms";
}

bool all_answered(const std::vector<std::shared_ptr<bound_provider>>& asked, clock::time_point since) {
    return std::all_of(asked.begin(), asked.end(),
                       [since](const auto& provider) { return provider->answered_since(since); });
}

asio::awaitable<status_snapshot> gather(std::shared_ptr<status_providers> providers,
                                        std::chrono::milliseconds deadline) {
    const auto executor = co_await asio::this_coro::executor;
    wake_list::waiter waiter(providers->answered, executor);
    const auto since = clock::now();
    const auto end = since + deadline;
    const auto asked = providers->ask();
    while (!all_answered(asked, since) && clock::now() < end) {
        const bool woken = co_await waiter.wait_until(end);
        (void)woken;
    }
    co_return providers->collect(since, deadline);
}

} // namespace

std::vector<std::shared_ptr<bound_provider>> status_providers::ask() const {
    std::vector<std::shared_ptr<bound_provider>> asked;
    const std::lock_guard lock(mutex);
    for (const auto& entry : list) {
        if (!entry.bound) continue;
        entry.bound->ask();
        asked.push_back(entry.bound);
    }
    return asked;
}

status_snapshot status_providers::collect(clock::time_point since, std::chrono::milliseconds deadline) const {
    status_snapshot result;
    const std::lock_guard lock(mutex);
    show_process(result);
    for (const auto& entry : list) {
        if (entry.bound) {
            show_bound(result, *entry.bound, since, deadline);
        } else {
            entry.show(result);
        }
    }
    note_stalled_engines(result, status_source::longest_turn);
    return result;
}

void status_providers::show_process(status_snapshot& to) const {
    static const std::string build = build_text();
    to.process.name = program;
    to.process.version = ROCIO_VERSION;
    to.process.build = build;
    to.process.uptime = clock::now() - started;
    to.process.now = std::chrono::system_clock::now();
    to.process.pid = ::getpid();
}

void status_providers::show_bound(status_snapshot& to, const bound_provider& from, clock::time_point since,
                                  std::chrono::milliseconds deadline) const {
    const auto answer = from.latest();
    if (answer.part) append(to, *answer.part);
    const auto reason = reason_of(answer, since, deadline);
    if (reason.empty()) return;
    to.stale.push_back({from.name(), clock::now() - (answer.part ? answer.at : started), reason});
}

} // namespace detail

status_registration::status_registration(std::shared_ptr<detail::status_providers> providers,
                                         const void* key) noexcept
    : providers_(std::move(providers)), key_(key) {}

status_registration::status_registration(status_registration&& other) noexcept
    : providers_(std::move(other.providers_)), key_(std::exchange(other.key_, nullptr)) {}

status_registration& status_registration::operator=(status_registration&& other) noexcept {
    status_registration taken(std::move(other));
    std::swap(providers_, taken.providers_);
    std::swap(key_, taken.key_);
    return *this;
}

status_registration::~status_registration() {
    reset();
}

void status_registration::reset() noexcept {
    const auto providers = std::exchange(providers_, nullptr);
    if (!providers) return;
    std::list<detail::status_entry> removed; // its captures die outside the lock
    {
        const std::lock_guard lock(providers->mutex);
        const auto found = std::find_if(providers->list.begin(), providers->list.end(),
                                        [this](const auto& entry) { return &entry == key_; });
        if (found != providers->list.end()) removed.splice(removed.begin(), providers->list, found);
    }
    for (const auto& entry : removed) {
        if (entry.bound) entry.bound->close();
    }
}

status_source::status_source(std::string program) : providers_(std::make_shared<detail::status_providers>()) {
    providers_->program = std::move(program);
}

void status_source::set_program_name(std::string program) {
    const std::lock_guard lock(providers_->mutex);
    providers_->program = std::move(program);
}

status_registration status_source::insert(detail::status_entry entry) {
    std::list<detail::status_entry> added;
    added.push_back(std::move(entry));
    const void* key = &added.front();
    const std::lock_guard lock(providers_->mutex);
    providers_->list.splice(providers_->list.end(), added);
    return {providers_, key};
}

status_registration status_source::add(provider show) {
    return insert({.show = std::move(show)});
}

status_registration status_source::add(asio::any_io_executor executor, std::string name, provider show) {
    auto bound = std::make_shared<detail::bound_provider>(std::move(executor), std::move(name),
                                                          std::move(show), providers_->answered);
    bound->attach();
    return insert({.bound = std::move(bound)});
}

status_snapshot status_source::snapshot() const {
    providers_->ask();
    return providers_->collect(detail::clock::time_point::min(), default_deadline);
}

void status_source::start_snapshot(const std::shared_ptr<detail::status_providers>& providers,
                                   const asio::any_io_executor& executor, std::chrono::milliseconds deadline,
                                   async::control_handler<signature> handler) {
    detail::run_on_strand(
        asio::make_strand(executor), [providers, deadline] { return detail::gather(providers, deadline); },
        std::move(handler));
}

void status_source::notify() const noexcept {
    providers_->changed->wake_all();
}

const std::shared_ptr<detail::wake_list>& status_source::changes() const noexcept {
    return providers_->changed;
}

} // namespace rocio
