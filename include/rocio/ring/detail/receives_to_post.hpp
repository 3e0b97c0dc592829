#pragma once

#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::detail {

/// Receives that are to be posted again, by their tokens, in order. While slots come and go in order the
/// tokens are numbers in a row, the first one behind the last, and neither a list nor a copy of the requests
/// is made.
class receives_to_post {
  public:
    /// `slots`: a power of two.
    explicit receives_to_post(std::uint32_t slots)
        : mask_(slots - 1),
          prebuilt_(2 * std::size_t{slots}),
          others_(prebuilt_.size()),
          chain_(prebuilt_.size()) {}

    /// The work request of a token.
    void prebuild(std::uint32_t token, const receive_request& request) noexcept {
        prebuilt_[token] = prebuilt_[token + mask_ + 1] = request;
    }

    bool empty() const noexcept { return count_ + other_count_ == 0; }
    std::uint32_t size() const noexcept { return count_ + other_count_; }
    void clear() noexcept { count_ = other_count_ = 0; }

    void add(std::uint32_t token, std::uint32_t n = 1) noexcept {
        if (empty()) first_ = token;
        if (other_count_ > 0 || token != ((first_ + count_) & mask_)) [[unlikely]]
            return add_others(token, n);
        count_ += n;
    }
    std::span<const receive_request> requests() noexcept {
        if (other_count_ == 0) [[likely]]
            return std::span(prebuilt_).subspan(first_, count_);
        return copied();
    }
    /// The first `n` are posted.
    void drop(std::uint32_t n) noexcept {
        if (n == size()) [[likely]]
            return clear();
        drop_some(n);
    }

  private:
    void add_others(std::uint32_t token, std::uint32_t n) noexcept;
    std::span<const receive_request> copied() noexcept;
    void drop_some(std::uint32_t n) noexcept;

    std::uint32_t first_ = 0, count_ = 0; ///< In a row; before the others.
    std::uint32_t other_count_ = 0;
    std::uint32_t mask_;
    std::vector<receive_request> prebuilt_; ///< Twice: a row may go on with the first one.
    std::vector<std::uint32_t> others_;
    std::vector<receive_request> chain_;
};

} // namespace rocio::detail
