#include "bound_provider.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <exception>
#include <utility>

namespace rocio::detail {

namespace asio = boost::asio;

namespace {

context_end& end_of(const asio::any_io_executor& executor) {
    return asio::use_service<context_end>(asio::query(executor, asio::execution::context));
}

} // namespace

bound_provider::bound_provider(asio::any_io_executor executor, std::string name, status_source::provider show,
                               std::shared_ptr<wake_list> answered)
    : name_(std::move(name)),
      answered_(std::move(answered)),
      show_(std::move(show)),
      executor_(std::move(executor)) {}

void bound_provider::attach() {
    end_of(*executor_).add(shared_from_this());
}

void bound_provider::close() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (executor_) end_of(*executor_).remove(this);
        executor_.reset();
    }
    answered_->wake_all();
    const std::lock_guard no_call(call_mutex_);
    show_ = nullptr;
}

void bound_provider::on_context_end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        executor_.reset();
        latest_.ended = true;
    }
    answered_->wake_all();
}

void bound_provider::ask() {
    const std::lock_guard lock(mutex_);
    if (!executor_ || latest_.asked_at) return;
    asio::post(*executor_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->call();
    });
    latest_.asked_at = std::chrono::steady_clock::now();
}

void bound_provider::call() {
    auto part = std::make_shared<status_snapshot>();
    std::string failure;
    {
        const std::lock_guard lock(call_mutex_);
        if (!show_) return;
        try {
            show_(*part);
        } catch (const std::exception& e) {
            failure = e.what();
        } catch (...) {
            failure = "an exception of unknown type";
        }
    }
    keep(std::move(part), std::move(failure));
    answered_->wake_all();
}

void bound_provider::keep(std::shared_ptr<const status_snapshot> part, std::string failure) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    latest_.asked_at.reset();
    latest_.failure = std::move(failure);
    settled_at_ = now;
    if (!latest_.failure.empty()) return;
    latest_.part = std::move(part);
    latest_.at = now;
}

bound_provider::answer bound_provider::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

bool bound_provider::answered_since(time_point since) const {
    const std::lock_guard lock(mutex_);
    return !executor_ || (settled_at_ && *settled_at_ >= since);
}

} // namespace rocio::detail
