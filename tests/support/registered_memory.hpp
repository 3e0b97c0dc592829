#pragma once

#include <rocio/transport/memory_region_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace rocio::test {

/// One region of a table with buffers cut from it one after the other.
class registered_memory {
  public:
    registered_memory(transport::memory_region_table& table, std::size_t size,
                      memory_access access = memory_access::local_write, std::uint64_t iova = 0)
        : table_(table), bytes_(size) {
        if (table.add({bytes_.data(), bytes_.size(), iova, access}, key_) != errc::success)
            throw std::invalid_argument("the table refuses the region");
    }
    registered_memory(const registered_memory&) = delete;
    registered_memory& operator=(const registered_memory&) = delete;

    registered_buffer take(std::size_t size) {
        if (used_ + size > bytes_.size()) throw std::length_error("the test's registered memory is used up");
        const registered_buffer b{bytes_.data() + used_, static_cast<std::uint32_t>(size), lkey{key_}};
        used_ += size;
        return b;
    }
    std::uint32_t key() const noexcept { return key_; }
    std::span<std::byte> bytes() noexcept { return bytes_; }
    void deregister() { table_.remove(key_); }

  private:
    transport::memory_region_table& table_;
    std::vector<std::byte> bytes_;
    std::uint32_t key_ = 0;
    std::size_t used_ = 0;
};

} // namespace rocio::test
