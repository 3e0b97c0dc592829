#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/memory_access.hpp>
#include <rocio/types/memory_key.hpp>
#include <rocio/types/registered_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rocio::transport {

/// The memory regions of one device. Keys are {index, generation}: a key of a removed region never names a
/// new one (until 2^8 reuses of its place), and no key is 0. lkey and rkey of a region have the same value,
/// as rxe does it. Only add() allocates. Not thread-safe.
class memory_region_table {
  public:
    struct region {
        std::byte* base = nullptr;
        std::uint64_t length = 0;
        std::uint64_t iova = 0; ///< Address by which peers name base.
        memory_access access = memory_access::local_read;
    };

    /// Gives the key; errc::invalid_argument for remote_write without local_write, an empty span, or iova +
    /// length beyond 2^64; errc::limit_exceeded beyond 2^24 - 1 regions.
    errc add(const region& r, std::uint32_t& key);
    /// errc::invalid_argument for an unknown key.
    errc remove(std::uint32_t key);

    /// True when `buffer` lies inside the region its key names and the region grants `need`. An empty buffer
    /// needs no region.
    bool check_local(const registered_buffer& buffer, memory_access need) const noexcept;

    /// The memory for a remote access of `length` bytes at `address`, if key, bounds and rights allow it.
    /// Zero bytes need neither key nor address (capture peer_rc_write_zero_len_bad_rkey) and give an empty
    /// span.
    std::optional<std::span<std::byte>> check_remote(rkey key, std::uint64_t address, std::uint64_t length,
                                                     memory_access need) const noexcept;

    std::size_t size() const noexcept { return live_; }

  private:
    struct place {
        region value{};
        std::uint8_t generation = 0;
        bool used = false;
    };
    const place* find(std::uint32_t key) const noexcept;

    std::vector<place> places_;
    std::vector<std::uint32_t> free_;
    std::size_t live_ = 0;
};

} // namespace rocio::transport
