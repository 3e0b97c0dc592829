#pragma once

#include <rocio/rpc/detail/little_endian.hpp>

#include <cstddef>
#include <span>

namespace rocio::rpc {

/// An array where it lies in a message: any alignment, little-endian. Reads each element as it is asked for.
/// Valid as long as the message's slot is held; for a handler's argument, until the handler returns.
template <class T>
class packed_view {
  public:
    using value_type = T;

    class iterator {
      public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        constexpr iterator() noexcept = default;
        constexpr iterator(const packed_view* view, std::size_t at) noexcept : view_(view), at_(at) {}

        constexpr T operator*() const noexcept { return (*view_)[at_]; }
        constexpr iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        constexpr iterator operator++(int) noexcept {
            auto before = *this;
            ++at_;
            return before;
        }
        friend constexpr bool operator==(const iterator&, const iterator&) = default;

      private:
        const packed_view* view_ = nullptr;
        std::size_t at_ = 0;
    };

    constexpr packed_view() noexcept = default;
    /// Bytes that make no whole element are left out.
    constexpr explicit packed_view(std::span<const std::byte> bytes) noexcept
        : bytes_(bytes.first(bytes.size() / sizeof(T) * sizeof(T))) {}

    constexpr std::size_t size() const noexcept { return bytes_.size() / sizeof(T); }
    constexpr bool empty() const noexcept { return bytes_.empty(); }
    /// Precondition: i < size().
    constexpr T operator[](std::size_t i) const noexcept {
        return detail::load_little<T>(bytes_.subspan(i * sizeof(T)).template first<sizeof(T)>());
    }
    constexpr std::span<const std::byte> bytes() const noexcept { return bytes_; }
    constexpr iterator begin() const noexcept { return {this, 0}; }
    constexpr iterator end() const noexcept { return {this, size()}; }

  private:
    std::span<const std::byte> bytes_;
};

} // namespace rocio::rpc
