#include "cudaq/reply_matcher.hpp"

#include <rocio/rpc/detail/little_endian.hpp>
#include <rocio/rpc/request_header.hpp>

#include <algorithm>
#include <utility>

namespace rocio::tools {

namespace {

// Requests and responses have both at the same place, and so have requests that are sent back as they came.
constexpr std::size_t id_at = 12;
constexpr std::size_t timestamp_at = 16;

template <class T, std::size_t At>
std::optional<T> load(std::span<const std::byte> in) noexcept {
    if (in.size() < At + sizeof(T)) return std::nullopt;
    return rpc::detail::load_little<T>(in.subspan<At, sizeof(T)>());
}

} // namespace

sent_window reply_matcher::describe(std::span<const std::byte> bytes, std::uint32_t window,
                                    std::uint64_t pass) noexcept {
    sent_window sent{.window = window, .pass = pass};
    if (const auto header = rpc::request_header::decode(bytes)) {
        sent.request_id = header->request_id;
        sent.timestamp = header->timestamp;
    }
    return sent;
}

void reply_matcher::sent(const sent_window& what) {
    give_up();
    current_ = what;
}

void reply_matcher::give_up() {
    if (!current_) return;
    if (current_->request_id) unanswered_.push_back(*current_);
    if (unanswered_.size() > memory) unanswered_.pop_front();
    current_.reset();
}

reply_matcher::match reply_matcher::take_current() {
    return {verdict::current, *std::exchange(current_, std::nullopt)};
}

reply_matcher::match reply_matcher::take_unanswered(std::uint32_t id,
                                                    std::optional<std::uint64_t> timestamp) {
    const auto found = std::ranges::find_if(unanswered_, [&](const sent_window& w) {
        return w.request_id == id && (!timestamp || w.timestamp == *timestamp);
    });
    if (found == unanswered_.end()) return {};
    const match late{verdict::late, *found};
    unanswered_.erase(found);
    return late;
}

reply_matcher::match reply_matcher::take(std::span<const std::byte> reply) {
    const auto id = load<std::uint32_t, id_at>(reply);
    // Without an id, in the window or in the reply, the order of arrival is all there is.
    if (current_ && (!current_->request_id || !id)) return take_current();
    if (!id) return {};
    const auto timestamp = load<std::uint64_t, timestamp_at>(reply).value_or(0);
    const bool has_current_id = current_ && current_->request_id == *id;
    if (has_current_id && current_->timestamp == timestamp) return take_current();
    if (timestamp != 0) {
        if (const auto late = take_unanswered(*id, timestamp); late.what == verdict::late) return late;
    }
    if (has_current_id) return take_current();
    return take_unanswered(*id, std::nullopt);
}

} // namespace rocio::tools
