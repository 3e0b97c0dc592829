#include "http_front.hpp"

#include "event_feed.hpp"
#include "http_access.hpp"
#include "http_path.hpp"
#include "status_page.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/prometheus_text.hpp>
#include <rocio/status/status_json.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>

namespace rocio::detail {

namespace {

namespace json = boost::json;
using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds sample_interval{500};
constexpr std::string_view whole = "/status";
constexpr std::array<std::string_view, 6> other_paths = {"/",        "/metrics", "/events",
                                                         "/healthz", "/readyz",  whole};
/// The page holds its script and style, asks this server alone, and is in nobody's frame.
constexpr const char* page_policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

http_found page_found() {
    static const auto page =
        std::make_shared<const http_content>(std::string(status_page()), http_content::small);
    http_found found{.content = page, .content_type = "text/html; charset=utf-8", .may_be_kept = true};
    found.fields.emplace_back("Content-Security-Policy", page_policy);
    found.fields.emplace_back("Referrer-Policy", "no-referrer");
    return found;
}

http_found not_found(std::string_view path) {
    json::array paths;
    for (const auto other : other_paths) paths.emplace_back(other);
    static const auto empty = to_json(status_snapshot{});
    for (const auto& [part, value] : empty) paths.emplace_back(std::string(whole) + "/" + std::string(part));
    auto found = found_text(json::serialize(json::object{{"error", "there is nothing at this path"},
                                                         {"status", 404},
                                                         {"path", json_text(path)},
                                                         {"paths", std::move(paths)}}));
    found.status = 404;
    return found;
}

bool is_part(std::string_view path) {
    return path.starts_with(whole) && path.size() > whole.size() && path[whole.size()] == '/';
}

/// Those with times change by themselves.
bool has_times(std::string_view part) {
    return part.starts_with("process") || part.starts_with("stale");
}

error_info bad_setting(const char* name, const std::string& asked, const char* allowed) {
    return {errc::invalid_argument,
            std::string("status server: ") + name + " is " + asked + ", allowed is " + allowed};
}

bool is_token(std::string_view text) { // RFC 6750, 2.1
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-._~+/=").find(c) != std::string_view::npos;
    });
}

bool is_field_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

} // namespace

bool is_status_path(std::string_view target) {
    const auto path = path_of(target);
    return is_part(path) || std::find(other_paths.begin(), other_paths.end(), path) != other_paths.end();
}

error_info http_front::check(const status_routes_config& config) {
    const auto ms = [](std::chrono::milliseconds value) { return std::to_string(value.count()) + " ms"; };
    if (!is_token(config.token))
        return bad_setting("token", "of other characters", "letters, digits and -._~+/=");
    if (!is_field_value(config.allow_origin))
        return bad_setting("allow_origin", "not one origin", "such as https://host or *");
    if (config.snapshot_deadline.count() <= 0)
        return bad_setting("snapshot_deadline", ms(config.snapshot_deadline), "1 ms and more");
    if (config.snapshot_age.count() < 0)
        return bad_setting("snapshot_age", ms(config.snapshot_age), "0 ms and more");
    if (config.event_interval.count() <= 0)
        return bad_setting("event_interval", ms(config.event_interval), "1 ms and more");
    if (config.heartbeat.count() <= 0) return bad_setting("heartbeat", ms(config.heartbeat), "1 ms and more");
    return {};
}

http_front::http_front(const status_source& source, status_routes_config config)
    : config_(std::move(config)),
      changes_(source.changes()),
      share_(std::make_shared<snapshot_share>(source, config_.snapshot_deadline)) {}

http_answer http_front::fitted(http_found found, const http_question& question) const {
    return fit(std::move(found), question, config_);
}

asio::awaitable<http_answer> http_front::answer(http_question question) {
    const auto self = shared_from_this();
    if (auto refusal = refuse(question, config_)) co_return fitted(std::move(*refusal), question);
    const auto path = path_of(question.target);
    if (path == "/events") co_return co_await answer_events(question);
    http_found found;
    try {
        found = co_await find(path);
    } catch (const std::exception& failure) {
        found = error_found(500, failure.what());
    }
    co_return fitted(std::move(found), question);
}

asio::awaitable<http_found> http_front::find(std::string_view path) {
    if (path == "/healthz") co_return found_text("ok", "text/plain");
    if (path == "/") co_return page_found();
    if (path == whole || path == "/metrics" || path == "/readyz" || is_part(path))
        co_return co_await find_in_status(path);
    co_return not_found(path);
}

asio::awaitable<http_found> http_front::find_in_status(std::string_view path) {
    const auto status = co_await share_->get(clock::now() - config_.snapshot_age);
    if (path == whole) co_return found_content(status->json_text());
    if (path == "/metrics") co_return found_content(status->metrics_text(), prometheus_content_type);
    if (path == "/readyz") co_return readiness(*status);
    const auto part = path.substr(whole.size() + 1);
    const auto* value = find_part(status->document(), part);
    if (value == nullptr) co_return not_found(path);
    auto found = found_text(json::serialize(*value));
    found.may_be_kept = !has_times(part);
    co_return found;
}

http_found http_front::readiness(const shared_status& status) const {
    json::array why;
    for (const auto& part : status.snapshot().stale)
        why.emplace_back(json_text(part.name + ": " + part.reason));
    if (config_.not_ready) {
        const auto reason = config_.not_ready(status.snapshot());
        if (!reason.empty()) why.emplace_back(json_text(reason));
    }
    const bool ready = why.empty();
    auto found = found_text(json::serialize(json::object{{"ready", ready}, {"why", std::move(why)}}));
    found.status = ready ? 200 : 503;
    return found;
}

std::shared_ptr<void> http_front::take_subscription() {
    auto taken = subscribers_->load();
    do {
        if (taken >= config_.max_subscribers) return nullptr;
    } while (!subscribers_->compare_exchange_weak(taken, taken + 1));
    return {subscribers_.get(), [all = subscribers_](void*) { --*all; }};
}

asio::awaitable<http_answer> http_front::answer_events(const http_question& question) {
    const auto executor = co_await asio::this_coro::executor;
    const auto* strand = executor.target<any_strand>(); // every caller's
    const bool wanted = question.method == "GET";
    auto subscription = wanted ? take_subscription() : nullptr;
    if (wanted && !subscription) {
        auto full = error_found(503, "as many clients as may listen to events do so; try again later");
        full.fields.emplace_back("Retry-After", "5");
        co_return fitted(std::move(full), question);
    }
    auto answer = fitted({}, question);
    answer.fields.emplace_back("Content-Type", "text/event-stream");
    if (wanted) {
        answer.events =
            std::make_shared<event_feed>(share_, changes_, config_, std::move(subscription), *strand);
    }
    co_return answer;
}

void http_front::start_sampling(const any_strand& strand) {
    run_on_strand(strand, [self = shared_from_this()] { return sample(self); });
}

asio::awaitable<void> http_front::sample(std::shared_ptr<http_front> self) {
    const auto executor = co_await asio::this_coro::executor;
    wake_list::waiter waiter(self->ended_, executor);
    while (!self->stopped_) {
        const bool woken = co_await waiter.wait_until(clock::now() + sample_interval);
        if (woken) continue;
        try {
            co_await self->share_->get(clock::now() - sample_interval / 2);
        } catch (const std::exception&) {
            continue; // whoever asks is told
        }
    }
}

void http_front::stop() {
    stopped_ = true;
    ended_->wake_all();
}

} // namespace rocio::detail
