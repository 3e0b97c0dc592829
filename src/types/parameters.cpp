#include <rocio/types/parameters.hpp>

#include <cinttypes>
#include <cstdio>
#include <limits>

namespace rocio {

namespace {

template <class... Values>
error_info refuse(const char* format, Values... values) {
    char text[224];
    std::snprintf(text, sizeof text, format, values...);
    return {errc::invalid_peer_parameters, text};
}

error_info check_addressing(const peer_parameters& p) {
    if (p.queue_pair.value() < 2) {
        return refuse("peer queue_pair is %" PRIu32
                      ", allowed are 2..16777215 (0 and 1 are management queue pairs)",
                      p.queue_pair.value());
    }
    if (p.address.is_zero() || p.address == gid::from_v4({})) {
        return refuse("peer address is %s, a GID other than zero is needed",
                      p.address.to_address_string().c_str());
    }
    if (p.udp_port == 0) return refuse("peer udp_port is 0, allowed are 1..65535 (RoCEv2 has %d)", 4791);
    return {};
}

error_info check_path_mtu(const peer_parameters& p) {
    if (mtu_from_code(code(p.path_mtu))) return {};
    return refuse("peer path_mtu has code %u, allowed are 1..5 (256..4096 bytes)",
                  unsigned{code(p.path_mtu)});
}

error_info check_geometry(const peer_parameters& p) {
    const std::uint64_t needed = std::uint64_t{p.depth} * p.max_payload;
    if (needed > std::numeric_limits<std::uint32_t>::max()) {
        return refuse("peer depth %" PRIu32 " x max_payload %" PRIu32 " is %" PRIu64
                      " bytes, allowed are 4294967295",
                      p.depth, p.max_payload, needed);
    }
    const auto& r = p.region;
    if (r.length != 0 && r.address + (r.length - 1) < r.address) {
        return refuse("peer region at 0x%016" PRIx64 " of length %" PRIu64
                      " goes beyond the 64-bit address space",
                      r.address, r.length);
    }
    if (r.length != 0 && r.length < needed) {
        return refuse("peer region length is %" PRIu64 ", its depth %" PRIu32 " x max_payload %" PRIu32
                      " needs %" PRIu64,
                      r.length, p.depth, p.max_payload, needed);
    }
    return {};
}

error_info check_immediates(const peer_parameters& p) {
    const auto& layout = p.immediates;
    if (unsigned{layout.psn_shift} + layout.psn_width <= 32) return {};
    return refuse("peer immediates have psn_shift %u and psn_width %u, together at most 32 bits are allowed",
                  unsigned{layout.psn_shift}, unsigned{layout.psn_width});
}

} // namespace

error_info validate(const peer_parameters& peer) {
    if (auto bad = check_addressing(peer)) return bad;
    if (auto bad = check_path_mtu(peer)) return bad;
    if (auto bad = check_geometry(peer)) return bad;
    return check_immediates(peer);
}

} // namespace rocio
