#include <rocio/rpc/detail/pending_table.hpp>

#include <algorithm>
#include <bit>

namespace rocio::rpc::detail {

pending_table::pending_table(std::size_t capacity)
    : places_(std::bit_ceil(2 * std::max<std::size_t>(capacity, 1))) {}

// Ids are given out one after the other, so their low bits spread without a hash.
std::size_t pending_table::home_of(std::uint32_t id) const noexcept {
    return id & (places_.size() - 1);
}

/// The place of the id, or the empty place where the search for it ends.
std::size_t pending_table::locate(std::uint32_t request_id) const noexcept {
    std::size_t at = home_of(request_id);
    while (places_[at].call && places_[at].request_id != request_id) at = next(at);
    return at;
}

call_base* pending_table::find(std::uint32_t request_id) const noexcept {
    return places_[locate(request_id)].call;
}

void pending_table::insert(std::uint32_t request_id, call_base& call) noexcept {
    places_[locate(request_id)] = {request_id, &call};
    ++size_;
}

bool pending_table::erase(std::uint32_t request_id) noexcept {
    std::size_t hole = locate(request_id);
    if (!places_[hole].call) return false;
    --size_;
    // Those behind it move up, so that no search ends at the hole.
    for (std::size_t at = next(hole); places_[at].call; at = next(at)) {
        const std::size_t mask = places_.size() - 1;
        const std::size_t from_home = (at - home_of(places_[at].request_id)) & mask;
        if (from_home < ((at - hole) & mask)) continue;
        places_[hole] = places_[at];
        hole = at;
    }
    places_[hole] = {};
    return true;
}

void pending_table::clear() noexcept {
    std::ranges::fill(places_, place{});
    size_ = 0;
}

} // namespace rocio::rpc::detail
