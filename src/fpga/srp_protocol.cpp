#include "fpga/srp_protocol.hpp"

#include "fpga/byte_order.hpp"

namespace rocio::fpga::detail {

namespace {

srp_opcode opcode_of(access_kind kind) {
    switch (kind) {
    case access_kind::read:
        return srp_opcode::read;
    case access_kind::write:
        return srp_opcode::write;
    case access_kind::post:
        return srp_opcode::posted_write;
    default:
        return srp_opcode::null;
    }
}

} // namespace

srp_request srp_protocol::request(std::uint32_t id, const register_access& access) const {
    srp_request r;
    r.opcode = opcode_of(access.kind);
    r.id = id;
    r.address = access.address;
    r.timeout = config_.board_timeout;
    r.protection = config_.protection;
    const auto words = access.kind == access_kind::read ? access.into.size() : access.from.size();
    if (access.kind != access_kind::null) r.size = static_cast<std::uint32_t>(4 * words);
    return r;
}

std::vector<std::byte> srp_protocol::encode(std::uint32_t id, const register_access& access) const {
    std::vector<std::byte> data(4 * access.from.size());
    for (std::size_t i = 0; i < access.from.size(); ++i)
        store_little(std::span(data).subspan(4 * i), access.from[i]);
    auto r = request(id, access);
    r.data = data;
    return fpga::encode(r);
}

std::optional<std::uint32_t> srp_protocol::id_of(std::span<const std::byte> message) const {
    const auto reply = parse_srp_reply(message);
    return reply ? std::optional(reply->id) : std::nullopt;
}

std::optional<error_info> srp_protocol::judge(std::uint32_t id, const register_access& access,
                                              std::span<const std::byte> message) const {
    if (access.kind == access_kind::post) return std::nullopt;
    const auto reply = parse_srp_reply(message);
    if (!reply || !reply->answers(request(id, access))) return std::nullopt;
    if (reply->status != 0) return error_info{srp_error(reply->status), {}};
    for (std::size_t i = 0; i < access.into.size(); ++i)
        access.into[i] = load_little<std::uint32_t>(reply->data.subspan(4 * i));
    return error_info{};
}

} // namespace rocio::fpga::detail
