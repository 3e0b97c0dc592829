#pragma once

#include "connect/rendezvous_message.hpp"

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What rocio puts into the private data of rdma_cm. Every number is big-endian.
//
//   offset  bytes
//        0      4  magic "ROCM"
//        4      1  version, now 1
//        5      1  kind: 1 greeting (REQ and REP), 2 refusal (REJ)
//        6      1  length of the whole: private data come padded with zeros
//        7      1  zero, ignored
//   greeting, 44 bytes in all; REQ has room for 56:
//        8      8  region address
//       16      8  region length
//       24      4  region rkey
//       28      4  bytes of the largest message this side takes, 0: not told
//       32      4  receives this side keeps posted, 0: not told
//       36      4  bytes of the largest message this side sends, 0: not told
//       40      4  zero, ignored
//   refusal:
//        8      2  reason, as in the rendezvous over TCP
//       10        text, printable ASCII, up to the length

namespace rocio::cm_greeting {

inline constexpr std::size_t max_refusal_text = 128;

/// What is told beside the numbers that rdma_cm carries.
struct greeting {
    remote_region region{};
    std::uint32_t max_payload = 0;
    std::uint32_t depth = 0;
    std::uint32_t largest_message = 0;
};

std::vector<std::byte> encode(const greeting& g);
std::vector<std::byte> encode(const rendezvous::refusal& r);

/// Nothing when the data are not rocio's (another program's, or none at all). Errors:
/// errc::handshake_malformed, errc::version_mismatch for damaged or later ones that are.
std::optional<greeting> decode_greeting(std::span<const std::byte> data, error_info& error);
/// Nothing when it is not rocio's, or damaged.
std::optional<rendezvous::refusal> decode_refusal(std::span<const std::byte> data);

/// Whether the largest message of each fits what the other takes; the sentence reads the same on both sides.
/// errc::geometry_mismatch.
error_info check_fit(const greeting& connecting, const greeting& listening);

} // namespace rocio::cm_greeting
