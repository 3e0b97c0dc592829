#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/memory_key.hpp>

#include <cstdint>

namespace rocio {

/// Bytes inside a peer's registered memory, as RDMA names them. Made by remote_region::buffer().
struct remote_buffer {
    std::uint64_t address = 0; ///< RDMA address (iova) of the first byte.
    std::uint64_t size = 0;    ///< Bytes.
    rkey key{};
};

/// A memory region as the peer sees it.
struct remote_region {
    std::uint64_t address = 0; ///< Where RDMA addresses start (iova).
    std::uint64_t length = 0;  ///< Bytes.
    rkey key{};

    /// `n` bytes from `offset`. Throws rocio::exception(errc::not_in_region) if they do not lie inside.
    remote_buffer buffer(std::uint64_t offset, std::uint64_t n) const;
    /// The same; an empty buffer and errc::not_in_region if they do not lie inside.
    remote_buffer buffer(std::uint64_t offset, std::uint64_t n, error_code& ec) const noexcept;
    /// All of it.
    remote_buffer buffer() const noexcept { return {address, length, key}; }
};

} // namespace rocio
