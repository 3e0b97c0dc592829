#include <rocio/types/rate_limited_sink.hpp>

#include <algorithm>
#include <utility>

namespace rocio {

namespace {

constexpr std::size_t kept_bytes = 1024;

rate_limit sensible(rate_limit limit) {
    limit.lines = std::max(limit.lines, 1U);
    limit.period = std::max(limit.period, std::chrono::nanoseconds{1});
    limit.remembered = std::max(limit.remembered, std::size_t{1});
    return limit;
}

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Takes the number at the front away, and tells whether there was one.
bool skip_number(std::string_view& text) noexcept {
    if (text.empty() || !is_digit(text.front())) return false;
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    return true;
}

bool agree_but_for_numbers(std::string_view a, std::string_view b) noexcept {
    for (;;) {
        if (skip_number(a) != skip_number(b)) return false;
        if (a.empty() || b.empty()) return a.empty() && b.empty();
        if (a.front() != b.front()) return false;
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
}

} // namespace

bool rate_limited_sink::entry::is(log_level l, std::string_view r, std::string_view t,
                                  bool any_number) const noexcept {
    if (l != level || r != room) return false;
    const auto front = t.substr(0, kept_bytes);
    return any_number ? agree_but_for_numbers(front, text) : t.size() == length && front == text;
}

rate_limited_sink::rate_limited_sink(std::shared_ptr<log_sink> out, rate_limit limit)
    : rate_limited_sink(std::move(out), limit, [] { return clock::now(); }) {}

rate_limited_sink::rate_limited_sink(std::shared_ptr<log_sink> out, rate_limit limit, clock_function now)
    : out_(std::move(out)), limit_(sensible(limit)), now_(std::move(now)) {}

rate_limited_sink::~rate_limited_sink() {
    flush();
}

void rate_limited_sink::write(log_level level, std::string_view room, std::string_view text) noexcept {
    summaries before;
    bool written = true;
    try {
        const std::lock_guard lock(mutex_);
        written = passes(level, room, text, before);
    } catch (...) { // no memory: the line is worth more than the limit
    }
    tell(before);
    if (written) out_->write(level, room, text);
}

void rate_limited_sink::flush() noexcept {
    summaries all;
    try {
        const std::lock_guard lock(mutex_);
        for (auto& line : lines_) take(line, all);
    } catch (...) { // what could not be put down stays for the next time
    }
    tell(all);
}

bool rate_limited_sink::passes(log_level level, std::string_view room, std::string_view text,
                               summaries& before) {
    const auto now = now_();
    forget_ended(now, before);
    auto found = std::find_if(lines_.begin(), lines_.end(),
                              [&](const entry& e) { return e.is(level, room, text, limit_.any_number); });
    if (found == lines_.end()) {
        make_room(before);
        lines_.push_back(
            {level, std::string(room), std::string(text.substr(0, kept_bytes)), text.size(), now});
        found = std::prev(lines_.end());
    }
    if (found->passed == limit_.lines) {
        ++found->held_back;
        return false;
    }
    ++found->passed;
    tell_of_others(*found, before);
    return true;
}

void rate_limited_sink::forget_ended(clock::time_point now, summaries& told) {
    while (!lines_.empty() && now - lines_.front().begin >= limit_.period) {
        take(lines_.front(), told);
        lines_.pop_front();
    }
}

void rate_limited_sink::make_room(summaries& told) {
    if (lines_.size() < limit_.remembered) return;
    take(lines_.front(), told);
    lines_.pop_front();
}

void rate_limited_sink::tell_of_others(const entry& than, summaries& told) {
    for (auto& line : lines_) {
        if (&line == &than || line.held_back == 0 || std::exchange(line.told_early, true)) continue;
        take(line, told);
    }
}

void rate_limited_sink::take(entry& e, summaries& told) {
    if (e.held_back == 0) return;
    told.push_back({e.level, e.room, e.text + " … (repeated " + std::to_string(e.held_back) + " times)"});
    e.held_back = 0;
}

void rate_limited_sink::tell(const summaries& all) noexcept {
    for (const auto& line : all) out_->write(line.level, line.room, line.text);
}

} // namespace rocio
