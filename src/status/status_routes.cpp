#include "event_feed.hpp"
#include "http_front.hpp"

#include <rocio/status/status_routes.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
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
    return feed_->executor();
}

void status_events::start_next(const std::shared_ptr<detail::event_feed>& feed,
                               async::control_handler<signature> handler) {
    asio::co_spawn(feed->executor(), next_of(feed),
                   [h = std::move(handler)](std::exception_ptr failure, std::string text) mutable {
                       h.post(std::move(failure), std::move(text));
                   });
}

void status_events::cancel() noexcept {
    if (!feed_) return;
    asio::post(feed_->executor(), [feed = feed_] { feed->cancel(); });
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

void status_routes::start_answer(std::shared_ptr<detail::http_front> front,
                                 const asio::any_io_executor& executor, detail::http_question question,
                                 connection from, async::control_handler<signature> handler) {
    const bool head = question.method == "HEAD";
    auto work = [front = std::move(front), question = std::move(question)]() mutable {
        return front->answer(std::move(question)); // which keeps what it uses
    };
    asio::co_spawn(
        asio::any_io_executor(asio::make_strand(executor)), std::move(work),
        [h = std::move(handler), from, head](std::exception_ptr failure, detail::http_answer found) mutable {
            status_response response;
            if (!failure) {
                if (found.events) response.events = status_events(found.events);
                const bool keep_alive = from.keep_alive && !found.events;
                response.message = detail::response_of(std::move(found), head, from.version, keep_alive);
            }
            h.post(std::move(failure), std::move(response));
        });
}

} // namespace rocio
