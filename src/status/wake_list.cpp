#include "wake_list.hpp"

#include "strand_task.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>
#include <utility>

namespace rocio::detail {

namespace asio = boost::asio;

namespace {

/// Posting through the strand itself copies no shared any_io_executor on the waker's thread; Asio 1.26 counts
/// the owners of one in a way that ThreadSanitizer does not follow.
const any_strand& strand_of(const asio::any_io_executor& executor) {
    const auto* found = executor.target<any_strand>();
    if (found == nullptr) throw std::logic_error("a waiter that is on no strand");
    return *found;
}

} // namespace

struct wake_list::sleeper final : context_end::listener {
    explicit sleeper(const asio::any_io_executor& on) : executor(strand_of(on)), timer(on) {}

    void on_context_end() noexcept override {
        const std::lock_guard lock(mutex);
        ended = true;
    }

    void wake() {
        woken = true;
        timer.cancel();
    }

    std::mutex mutex; ///< Posting, against the context's end.
    bool ended = false;
    any_strand executor;
    asio::steady_timer timer;
    bool woken = false;
    std::atomic<bool> on_its_way = false;
};

void wake_list::wake_all() noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& one : sleepers_) post_wake(one);
}

void wake_list::post_wake(const std::shared_ptr<sleeper>& to) noexcept {
    const std::lock_guard alive(to->mutex);
    if (to->ended || to->on_its_way.exchange(true)) return;
    try {
        asio::post(to->executor, [weak = std::weak_ptr(to)] {
            const auto self = weak.lock();
            if (!self) return;
            self->on_its_way = false;
            self->wake();
        });
    } catch (...) {
        to->on_its_way = false;
    }
}

wake_list::waiter::waiter(std::shared_ptr<wake_list> list, const asio::any_io_executor& executor)
    : list_(std::move(list)), sleeper_(std::make_shared<sleeper>(executor)) {
    asio::use_service<context_end>(asio::query(executor, asio::execution::context)).add(sleeper_);
    const std::lock_guard lock(list_->mutex_);
    list_->sleepers_.push_back(sleeper_);
}

wake_list::waiter::~waiter() {
    {
        const std::lock_guard lock(list_->mutex_);
        list_->sleepers_.remove(sleeper_);
    }
    const std::lock_guard alive(sleeper_->mutex);
    if (sleeper_->ended) return;
    asio::use_service<context_end>(asio::query(sleeper_->executor, asio::execution::context))
        .remove(sleeper_.get());
}

asio::awaitable<bool> wake_list::waiter::wait_until(time_point end) {
    auto& state = *sleeper_;
    if (!state.woken) {
        state.timer.expires_at(end);
        auto [ignored] = co_await state.timer.async_wait(asio::as_tuple(asio::use_awaitable));
        (void)ignored;
    }
    co_return std::exchange(state.woken, false);
}

void wake_list::waiter::wake() {
    sleeper_->wake();
}

} // namespace rocio::detail
