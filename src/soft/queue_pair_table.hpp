#pragma once

#include <rocio/types/qpn.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocio::soft {

class soft_queue_pair;

/// Queue pairs by number. The low bits of a number are its place, so finding one is one comparison, also for
/// numbers that a stranger made up. Numbers are given out in rising order from a start of the caller's: one
/// is not used again before 2^24 others, and 0..0x10 (the management queue pairs, and those next to them)
/// never.
class queue_pair_table {
  public:
    static constexpr std::uint32_t first_number = 0x11;

    explicit queue_pair_table(std::uint32_t start) : next_(legal(start)), places_(16) {}

    qpn insert(soft_queue_pair& qp) {
        if (2 * (live_ + 1) > places_.size()) grow();
        while (at(next_).qp != nullptr) advance();
        const qpn number{next_};
        at(next_) = {number.value(), &qp};
        ++live_;
        advance();
        return number;
    }

    void erase(qpn number) noexcept {
        if (find(number) == nullptr) return;
        at(number.value()) = {};
        --live_;
    }

    soft_queue_pair* find(qpn number) const noexcept {
        const place& p = places_[number.value() & (places_.size() - 1)];
        return p.number == number.value() ? p.qp : nullptr;
    }

    std::size_t size() const noexcept { return live_; }
    template <class F>
    void for_each(F&& f) const {
        for (const place& p : places_)
            if (p.qp != nullptr) f(*p.qp);
    }

  private:
    struct place {
        std::uint32_t number = 0;
        soft_queue_pair* qp = nullptr;
    };

    static std::uint32_t legal(std::uint32_t n) noexcept {
        n &= qpn::max;
        return n < first_number ? first_number : n;
    }
    place& at(std::uint32_t number) noexcept { return places_[number & (places_.size() - 1)]; }
    void advance() noexcept { next_ = legal(next_ + 1); }

    /// Places distinct under the smaller mask are distinct under the larger one.
    void grow() {
        std::vector<place> old(places_.size() * 2);
        old.swap(places_);
        for (const place& p : old)
            if (p.qp != nullptr) at(p.number) = p;
    }

    std::uint32_t next_;
    std::vector<place> places_;
    std::size_t live_ = 0;
};

} // namespace rocio::soft
