#include "event_feed.hpp"
#include "http_front.hpp"
#include "strand_task.hpp"

#include <rocio/status/status_routes.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio {

namespace {

asio::awaitable<std::string> next_of(std::shared_ptr<detail::event_feed> feed) {
    co_return co_await feed->next();
}

} // namespace

status_events::status_events(std::shared_ptr<detail::event_feed> feed) noexcept : feed_(std::move(feed)) {}

status_events& status_events::operator=(status_events&& other) noexcept {
    if (this == &other) return *this;
    cancel();
    feed_ = std::move(other.feed_);
    return *this;
}

status_events::~status_events() {
    cancel();
}

status_events::executor_type status_events::get_executor() const noexcept {
    return feed_->strand().get_inner_executor();
}

void status_events::start_next(const std::shared_ptr<detail::event_feed>& feed,
                               async::control_handler<signature> handler) {
    detail::run_on_strand(
        feed->strand(), [feed] { return next_of(feed); }, std::move(handler));
}

void status_events::cancel() noexcept {
    if (!feed_) return;
    asio::post(feed_->strand(), [feed = feed_] { feed->cancel(); });
}

status_routes::status_routes(const asio::any_io_executor& executor, const status_source& source,
                             status_routes_config config)
    : executor_(executor) {
    throw_if(detail::http_front::check(config));
    front_ = std::make_shared<detail::http_front>(source, std::move(config));
    front_->start_sampling(asio::make_strand(executor_));
}

status_routes& status_routes::operator=(status_routes&& other) noexcept {
    if (this == &other) return *this;
    stop();
    executor_ = other.executor_;
    front_ = std::move(other.front_);
    return *this;
}

status_routes::~status_routes() {
    stop();
}

bool status_routes::serves(std::string_view target) const {
    return detail::is_status_path(target);
}

std::size_t status_routes::subscribers() const noexcept {
    return front_->subscribers();
}

void status_routes::stop() noexcept {
    if (front_) front_->stop();
}

asio::awaitable<status_response> status_routes::answer(std::shared_ptr<detail::http_front> front,
                                                       detail::http_question question, connection from) {
    const bool head = question.method == "HEAD";
    auto found = co_await front->answer(std::move(question));
    status_response response;
    if (found.events) response.events = status_events(found.events);
    const bool keep_alive = from.keep_alive && !found.events;
    response.message = detail::response_of(std::move(found), head, from.version, keep_alive);
    co_return response;
}

void status_routes::start_answer(std::shared_ptr<detail::http_front> front,
                                 const asio::any_io_executor& executor, detail::http_question question,
                                 connection from, async::control_handler<signature> handler) {
    auto work = [front = std::move(front), question = std::move(question), from]() mutable {
        return answer(std::move(front), std::move(question), from);
    };
    detail::run_on_strand(asio::make_strand(executor), std::move(work), std::move(handler));
}

} // namespace rocio
