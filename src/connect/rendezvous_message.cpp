#include "connect/rendezvous_message.hpp"

#include "connect/big_endian.hpp"

#include <algorithm>
#include <array>

namespace rocio::rendezvous {

namespace {

constexpr std::uint32_t magic = 0x524F4349; // "ROCI"
constexpr std::uint8_t exact_icrc_flag = 1;

error_info malformed(std::string text) {
    return {errc::handshake_malformed, std::move(text)};
}

error_info out_of_range(const char* field, std::uint64_t value, const char* allowed) {
    return {errc::invalid_peer_parameters,
            std::string("peer ") + field + " is " + std::to_string(value) + ", allowed are " + allowed};
}

std::string hex_of(std::span<const std::byte> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto b : bytes) {
        if (!text.empty()) text += ' ';
        text += digits[std::to_integer<unsigned>(b) >> 4];
        text += digits[std::to_integer<unsigned>(b) & 15];
    }
    return text;
}

void put_offer(big_endian_writer& w, const offer& o) {
    const auto& p = o.side;
    w.bytes(std::as_bytes(std::span(p.address.bytes())));
    w.u16(p.udp_port);
    w.u8(code(p.path_mtu));
    w.u8(p.capabilities.exact_icrc ? exact_icrc_flag : 0);
    w.u32(p.queue_pair.value());
    w.u32(p.send_psn.value());
    w.u32(p.receive_psn.value());
    w.u64(p.region.address);
    w.u64(p.region.length);
    w.u32(p.region.key.value);
    w.u32(p.max_payload);
    w.u32(p.depth);
    w.u16(p.capabilities.segment_train);
    w.u8(p.retry_count);
    w.u8(p.rnr_retry);
    w.u32(p.capabilities.receive_buffer);
    w.u32(o.largest_message);
    w.u8(p.min_rnr_timer.code());
    w.u8(p.timeout.code());
    w.u16(0);
    const auto silence = std::clamp<std::int64_t>(o.liveness.count(), 0, 0xFFFFFFFF);
    w.u32(static_cast<std::uint32_t>(silence));
}

/// A field that must not exceed `max`; the first that does is kept as the reader's error.
std::uint32_t limited(std::uint32_t value, std::uint32_t max, const char* field, const char* allowed,
                      error_info& error) {
    if (value <= max) return value;
    if (!error) error = out_of_range(field, value, allowed);
    return 0;
}

error_info get_offer(big_endian_reader& r, offer& o) {
    error_info error;
    auto& p = o.side;
    gid::bytes_type address{};
    r.bytes(std::as_writable_bytes(std::span(address)));
    p.address = gid(address);
    p.udp_port = r.u16();
    p.path_mtu = static_cast<mtu>(r.u8());
    p.capabilities.exact_icrc = (r.u8() & exact_icrc_flag) != 0;
    p.queue_pair = qpn(limited(r.u32(), qpn::max, "queue_pair", "2..16777215", error));
    p.send_psn = psn(limited(r.u32(), psn::mask, "send_psn", "0..16777215", error));
    p.receive_psn = psn(limited(r.u32(), psn::mask, "receive_psn", "0..16777215", error));
    p.region.address = r.u64();
    p.region.length = r.u64();
    p.region.key.value = r.u32();
    p.max_payload = r.u32();
    p.depth = r.u32();
    p.capabilities.segment_train = r.u16();
    p.retry_count = static_cast<std::uint8_t>(limited(r.u8(), 7, "retry_count", "0..7", error));
    p.rnr_retry = static_cast<std::uint8_t>(limited(r.u8(), 7, "rnr_retry", "0..7", error));
    p.capabilities.receive_buffer = r.u32();
    o.largest_message = r.u32();
    p.min_rnr_timer = rnr_timer(limited(r.u8(), 31, "min_rnr_timer", "0..31", error));
    p.timeout = ack_timeout(limited(r.u8(), 31, "timeout", "0..31", error));
    (void)r.u16();
    o.liveness = std::chrono::milliseconds(r.u32());
    if (!r.ok()) return malformed("a hello or accept of " + std::to_string(r.size()) + " bytes is cut short");
    return error ? error : validate(peer_of(o));
}

error_info get_refusal(big_endian_reader& r, refusal& out) {
    out.reason = static_cast<refusal_reason>(r.u16());
    const std::size_t length = r.u16();
    if (!r.ok() || length > max_refusal_text || length > r.left())
        return malformed("a refusal with a bad length");
    std::string text(length, '\0');
    r.bytes(std::as_writable_bytes(std::span(text)));
    out.text = printable(text);
    return {};
}

std::string takes(const char* sender, std::uint32_t bytes, const char* receiver, std::uint32_t slot) {
    return std::string("the ") + sender + " side sends messages of up to " + std::to_string(bytes) +
           " bytes, the " + receiver + " side takes at most " + std::to_string(slot) +
           ": lower the sender's largest message or raise the receiver's max_payload";
}

} // namespace

std::vector<std::byte> encode(const message& m) {
    std::vector<std::byte> out;
    big_endian_writer w(out);
    w.u32(magic);
    w.u8(current_version);
    w.u8(static_cast<std::uint8_t>(m.kind));
    w.u16(0);
    if (m.kind == message_kind::hello || m.kind == message_kind::accept) put_offer(w, m.content);
    if (m.kind == message_kind::refuse) {
        const auto text = printable(m.why.text);
        w.u16(static_cast<std::uint16_t>(m.why.reason));
        w.u16(static_cast<std::uint16_t>(text.size()));
        w.bytes(std::as_bytes(std::span(text)));
    }
    w.u16_at(6, static_cast<std::uint16_t>(out.size()));
    return out;
}

frame find_frame(std::span<const std::byte> received) {
    static constexpr std::array expected{std::byte{'R'}, std::byte{'O'}, std::byte{'C'}, std::byte{'I'}};
    const auto looked_at = std::min(received.size(), expected.size());
    if (!std::equal(expected.begin(), expected.begin() + looked_at, received.begin())) {
        return {malformed("received " + hex_of(received.first(looked_at)) +
                          ", a rocio rendezvous begins with 52 4f 43 49: another program uses this port"),
                0};
    }
    if (received.size() < header_size) return {};
    const std::size_t size = big_endian_reader(received.subspan(6, 2)).u16();
    if (size < header_size || size > max_message_size) {
        return {
            malformed("a message of " + std::to_string(size) + " bytes is announced, allowed are 8..4096"),
            0};
    }
    return {{}, received.size() < size ? 0 : size};
}

error_info decode(std::span<const std::byte> whole, message& out) {
    const auto found = find_frame(whole);
    if (found.error) return found.error;
    if (found.size == 0)
        return malformed("a message of " + std::to_string(whole.size()) + " bytes is cut short");
    big_endian_reader r(whole.first(found.size));
    (void)r.u32();
    const auto version = r.u8();
    out.kind = static_cast<message_kind>(r.u8());
    (void)r.u16();
    if (out.kind == message_kind::refuse) return get_refusal(r, out.why);
    if (version != current_version) {
        return {errc::version_mismatch, "one side speaks version " + std::to_string(version) +
                                            " of the rendezvous, the other version " +
                                            std::to_string(current_version) + ": update the older one"};
    }
    if (out.kind == message_kind::hello || out.kind == message_kind::accept) return get_offer(r, out.content);
    return {};
}

refusal_reason reason_of(const error_code& ec) noexcept {
    if (ec == errc::handshake_malformed) return refusal_reason::malformed;
    if (ec == errc::version_mismatch) return refusal_reason::version;
    if (ec == errc::invalid_peer_parameters) return refusal_reason::parameters;
    if (ec == errc::geometry_mismatch) return refusal_reason::geometry;
    if (ec == errc::path_mtu_mismatch) return refusal_reason::path_mtu;
    return refusal_reason::application;
}

errc error_of(refusal_reason reason) noexcept {
    switch (reason) {
    case refusal_reason::malformed:
        return errc::handshake_malformed;
    case refusal_reason::version:
        return errc::version_mismatch;
    case refusal_reason::parameters:
        return errc::invalid_peer_parameters;
    case refusal_reason::geometry:
        return errc::geometry_mismatch;
    case refusal_reason::path_mtu:
        return errc::path_mtu_mismatch;
    case refusal_reason::busy:
    case refusal_reason::application:
        break;
    }
    return errc::refused_by_peer;
}

std::string printable(std::string_view text) {
    std::string out(text.substr(0, max_refusal_text));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return out;
}

peer_parameters peer_of(const offer& o) {
    peer_parameters peer;
    static_cast<endpoint_parameters&>(peer) = o.side;
    return peer;
}

error_info check_fit(const offer& connecting, const offer& listening) {
    if (connecting.side.path_mtu != listening.side.path_mtu) {
        return {errc::path_mtu_mismatch, "the connecting side has path MTU " +
                                             to_string(connecting.side.path_mtu) + ", the listening side " +
                                             to_string(listening.side.path_mtu) +
                                             ": set path_mtu of both to the smaller one"};
    }
    const auto exceeds = [](std::uint32_t sends, std::uint32_t takes_at_most) {
        return sends != 0 && takes_at_most != 0 && sends > takes_at_most;
    };
    if (exceeds(connecting.largest_message, listening.side.max_payload)) {
        return {errc::geometry_mismatch,
                takes("connecting", connecting.largest_message, "listening", listening.side.max_payload)};
    }
    if (exceeds(listening.largest_message, connecting.side.max_payload)) {
        return {errc::geometry_mismatch,
                takes("listening", listening.largest_message, "connecting", connecting.side.max_payload)};
    }
    return {};
}

} // namespace rocio::rendezvous
