#include <rocio/ring/detail/receives_to_post.hpp>

#include <algorithm>

namespace rocio::detail {

void receives_to_post::add_others(std::uint32_t token, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i) others_[other_count_++] = (token + i) & mask_;
}

std::span<const receive_request> receives_to_post::copied() noexcept {
    auto to = std::copy_n(prebuilt_.begin() + first_, count_, chain_.begin());
    std::transform(others_.begin(), others_.begin() + other_count_, to,
                   [&](std::uint32_t token) { return prebuilt_[token]; });
    return std::span(chain_).first(size());
}

void receives_to_post::drop_some(std::uint32_t n) noexcept {
    const auto in_row = std::min(n, count_);
    first_ = (first_ + in_row) & mask_;
    count_ -= in_row;
    n -= in_row;
    std::copy(others_.begin() + n, others_.begin() + other_count_, others_.begin());
    other_count_ -= n;
}

} // namespace rocio::detail
