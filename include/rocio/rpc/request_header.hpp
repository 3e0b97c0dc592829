#pragma once

#include <rocio/rpc/detail/little_endian.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::rpc {

/// The first 24 bytes of a request, little-endian on the wire (CUDA-Q realtime, `RPCHeader`):
/// magic, function id, argument length, request id (4 bytes each), timestamp (8). The arguments follow.
struct request_header {
    static constexpr std::uint32_t magic = 0x43555152; ///< On the wire: 52 51 55 43.
    static constexpr std::size_t size = 24;

    std::uint32_t function = 0;   ///< FNV-1a of the name; see function_id.
    std::uint32_t arg_len = 0;    ///< Bytes of arguments behind the header. As told by the peer: unchecked.
    std::uint32_t request_id = 0; ///< The answer carries it again.
    std::uint64_t timestamp = 0;  ///< Opaque (a PTP time from an FPGA); the answer carries it again.

    /// Nothing if there are fewer than 24 bytes or the magic is another.
    static constexpr std::optional<request_header> decode(std::span<const std::byte> in) noexcept {
        if (in.size() < size) return std::nullopt;
        const auto header = in.first<size>();
        if (detail::load_little<std::uint32_t>(header.subspan<0, 4>()) != magic) return std::nullopt;
        return request_header{.function = detail::load_little<std::uint32_t>(header.subspan<4, 4>()),
                              .arg_len = detail::load_little<std::uint32_t>(header.subspan<8, 4>()),
                              .request_id = detail::load_little<std::uint32_t>(header.subspan<12, 4>()),
                              .timestamp = detail::load_little<std::uint64_t>(header.subspan<16, 8>())};
    }

    /// Writes the first 24 bytes of `out`; false, and nothing written, if it is shorter.
    [[nodiscard]] constexpr bool encode(std::span<std::byte> out) const noexcept {
        if (out.size() < size) return false;
        const auto header = out.first<size>();
        detail::store_little(magic, header.subspan<0, 4>());
        detail::store_little(function, header.subspan<4, 4>());
        detail::store_little(arg_len, header.subspan<8, 4>());
        detail::store_little(request_id, header.subspan<12, 4>());
        detail::store_little(timestamp, header.subspan<16, 8>());
        return true;
    }

    friend bool operator==(const request_header&, const request_header&) = default;
};

} // namespace rocio::rpc
