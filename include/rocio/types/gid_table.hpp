#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio {

enum class gid_type : std::uint8_t { infiniband, roce_v1, roce_v2 };

/// One entry of a port's GID table. Tables have holes (a zero GID) and their indices move when addresses
/// change.
struct gid_table_entry {
    std::uint32_t index = 0;
    gid value{};
    gid_type type = gid_type::roce_v2;
    std::string netdev{};
    /// The interface's prefix for this address in bits of the address itself (24 for a.b.c.d/24).
    std::optional<unsigned> prefix{};
};

/// What a caller wants of the choice.
struct gid_request {
    std::optional<std::uint32_t> index{}; ///< This index and no other (validated).
    std::optional<gid> peer{};            ///< The peer's address, where it is known.
};

struct gid_refusal {
    gid_table_entry entry;
    std::string reason;
};

struct gid_choice {
    std::optional<gid_table_entry> chosen;
    std::vector<gid_refusal> refused; ///< Every other entry, with the reason it lost.
    error_info error;                 ///< When nothing was chosen: table and way out in the text.
};

/// Chooses a GID table entry. Only RoCE v2 entries with an address of the peer's family serve.
///
/// - IPv4 peer: an entry in whose subnet (the interface's prefix, else /24) the peer is; all others are
/// refused.
/// - IPv6 peer: the entry in whose subnet (else /64) it is, then any global or unique-local one.
/// - Link-local peer: a link-local entry, then any other IPv6 one.
/// - No peer known: IPv4, then global or unique-local IPv6; never link-local.
///
/// Of equals the lowest index is taken. An index asked for overrides subnet and rank (the way to a peer
/// behind a router), but must exist, not be empty (errc::invalid_gid_index) and serve at all
/// (errc::no_usable_gid). Pure; throws only std::bad_alloc.
gid_choice choose_gid(std::span<const gid_table_entry> table, const gid_request& request);

} // namespace rocio
