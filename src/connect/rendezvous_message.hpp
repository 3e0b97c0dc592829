#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The messages of rocio's own rendezvous over TCP. Every number is big-endian.
//
//   offset  bytes  header, the same in every version
//        0      4  magic "ROCI"
//        4      1  version, now 1
//        5      1  kind
//        6      2  length of the whole message, 8..4096
//
// Body of hello (connecting side) and accept (listening side):
//
//        8     16  GID
//       24      2  UDP port
//       26      1  path MTU code 1..5
//       27      1  flags: bit 0 exact ICRC; the others are ignored
//       28      4  queue pair number        (24 bits)
//       32      4  PSN of the first packet this side sends (24 bits)
//       36      4  PSN this side expects first             (24 bits)
//       40      8  region address
//       48      8  region length
//       56      4  region rkey
//       60      4  bytes of the largest message this side takes, 0: not told
//       64      4  receives this side keeps posted, 0: not told
//       68      2  packets of the longest segmented send
//       70      1  retry count 0..7
//       71      1  RNR retry 0..7
//       72      4  bytes a receiving socket holds, 0: unknown
//       76      4  bytes of the largest message this side sends, 0: not told
//       80      1  minimal RNR timer code 0..31
//       81      1  acknowledgement timeout code 0..31
//       82      2  zero, ignored
//       84      4  milliseconds of silence after which this side takes the other for lost, 0: never
//
// Body of refuse, the same in every version: 2 bytes reason, 2 bytes length n of the text (0..256), n bytes
// of text. ready, bye and ping have no body. A version may append fields to a body: what follows the known
// ones is ignored, and so are kinds that are not known.

namespace rocio::rendezvous {

inline constexpr std::uint8_t current_version = 1;
inline constexpr std::size_t header_size = 8;
inline constexpr std::size_t max_message_size = 4096;
inline constexpr std::size_t max_refusal_text = 256;

enum class message_kind : std::uint8_t { hello = 1, accept, refuse, ready, bye, ping };

/// Why a side refuses. Values are part of the wire format.
enum class refusal_reason : std::uint16_t {
    malformed = 1,  ///< errc::handshake_malformed
    version = 2,    ///< errc::version_mismatch
    parameters = 3, ///< errc::invalid_peer_parameters
    geometry = 4,   ///< errc::geometry_mismatch
    path_mtu = 5,   ///< errc::path_mtu_mismatch
    busy = 6,       ///< errc::refused_by_peer
    application = 7 ///< errc::refused_by_peer
};

/// What a hello or an accept says about its sender.
struct offer {
    local_parameters side{};
    std::uint32_t largest_message = 0; ///< Bytes it will send at most; 0: not told.
    std::chrono::milliseconds liveness{0};
};

struct refusal {
    refusal_reason reason = refusal_reason::application;
    std::string text{}; ///< Printable ASCII, at most max_refusal_text.
};

/// One message; `content` counts for hello and accept, `why` for refuse.
struct message {
    message_kind kind = message_kind::ping;
    offer content{};
    refusal why{};
};

std::vector<std::byte> encode(const message& m);
inline std::vector<std::byte> encode(message_kind bare) {
    return encode(message{bare, {}, {}});
}

/// What the bytes received so far hold.
struct frame {
    error_info error{};   ///< Not a rendezvous, or a length outside its bounds.
    std::size_t size = 0; ///< Bytes of the first message; 0: not all of it has come.
};

/// Looks at the header alone. Gives an error as early as the bytes allow: "GET " is recognised after four.
frame find_frame(std::span<const std::byte> received);

/// Decodes one whole message as found by find_frame(). Errors: errc::version_mismatch (never for a refuse),
/// errc::handshake_malformed, errc::invalid_peer_parameters, all with a sentence. An unknown kind is no
/// error.
error_info decode(std::span<const std::byte> whole, message& out);

refusal_reason reason_of(const error_code& ec) noexcept;
/// The error that the refused side reports.
errc error_of(refusal_reason reason) noexcept;
/// The first max_refusal_text characters, each outside printable ASCII as '?'.
std::string printable(std::string_view text);

/// The numbers of an offer as the other side needs them.
peer_parameters peer_of(const offer& o);

/// Whether the two sides can work together: path MTU, and the largest message of each against what the other
/// takes. The sentence reads the same on both sides. errc::path_mtu_mismatch, errc::geometry_mismatch.
error_info check_fit(const offer& connecting, const offer& listening);

} // namespace rocio::rendezvous
