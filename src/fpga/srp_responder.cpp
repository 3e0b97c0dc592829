#include "fpga/srp_responder.hpp"

#include "fpga/byte_order.hpp"

#include <rocio/fpga/srp.hpp>

namespace rocio::fpga::detail {

namespace {

/// The first word that fails ends the access, as it does on the board.
bus_response read_words(register_space& space, const srp_request& r, std::span<std::byte> into) {
    for (std::size_t at = 0; at < into.size(); at += 4) {
        std::uint32_t value = 0;
        const auto response = space.read(r.address + at, value);
        if (response != bus_response::ok) return response;
        store_little(into.subspan(at), value);
    }
    return bus_response::ok;
}

bus_response write_words(register_space& space, const srp_request& r) {
    for (std::size_t at = 0; at < r.data.size(); at += 4) {
        const auto response = space.write(r.address + at, load_little<std::uint32_t>(r.data.subspan(at)));
        if (response != bus_response::ok) return response;
    }
    return bus_response::ok;
}

} // namespace

std::vector<std::byte> answer_srp(register_space& space, std::span<const std::byte> message) {
    const auto received = parse_srp_request(message);
    if (!received) return {};
    const auto& r = received->request;
    const bool posted = r.opcode == srp_opcode::posted_write;
    if (received->status != 0)
        return posted ? std::vector<std::byte>{} : encode_srp_reply(message, {}, received->status);
    if (r.opcode == srp_opcode::null) return encode_srp_reply(message, {}, 0);
    std::vector<std::byte> data(r.data.begin(), r.data.end());
    data.resize(r.size);
    auto response = r.opcode == srp_opcode::read ? read_words(space, r, data) : write_words(space, r);
    if (posted) return {};
    if (r.ignore_bus_response) response = bus_response::ok;
    return encode_srp_reply(message, data, static_cast<std::uint32_t>(response));
}

} // namespace rocio::fpga::detail
