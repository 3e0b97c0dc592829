#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocio::rpc::detail {

class call_base;

/// The calls that wait for an answer, by the 32 bits of their id that a response carries. Open addressing
/// with a fixed capacity; nothing is allocated after construction.
class pending_table {
  public:
    explicit pending_table(std::size_t capacity);

    std::size_t size() const noexcept { return size_; }
    /// Null if there is none.
    call_base* find(std::uint32_t request_id) const noexcept;
    /// Preconditions: not full, and find(request_id) is null.
    void insert(std::uint32_t request_id, call_base& call) noexcept;
    /// False if there is none.
    bool erase(std::uint32_t request_id) noexcept;
    void clear() noexcept;

    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& p : places_) {
            if (p.call) visit(*p.call);
        }
    }

  private:
    struct place {
        std::uint32_t request_id = 0;
        call_base* call = nullptr; ///< Null: empty.
    };

    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places_.size() - 1); }
    std::size_t home_of(std::uint32_t id) const noexcept;
    std::size_t locate(std::uint32_t request_id) const noexcept;

    std::vector<place> places_; ///< A power of two, at most half full.
    std::size_t size_ = 0;
};

} // namespace rocio::rpc::detail
