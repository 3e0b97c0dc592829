#include "connect/cm_greeting.hpp"

#include "connect/big_endian.hpp"

#include <algorithm>

namespace rocio::cm_greeting {

namespace {

using rendezvous::big_endian_reader;
using rendezvous::big_endian_writer;

constexpr std::uint32_t magic = 0x524F434D; // "ROCM"
constexpr std::uint8_t current_version = 1;
constexpr std::uint8_t kind_greeting = 1;
constexpr std::uint8_t kind_refusal = 2;
constexpr std::size_t length_offset = 6;

void put_header(big_endian_writer& w, std::uint8_t kind) {
    w.u32(magic);
    w.u8(current_version);
    w.u8(kind);
    w.u16(0);
}

void set_length(std::vector<std::byte>& out) {
    out[length_offset] = static_cast<std::byte>(out.size());
}

struct message_header {
    std::uint8_t version = current_version, kind = 0;
    std::size_t length = 0; ///< 0 in a header that is cut short.
};

std::optional<message_header> header_of(std::span<const std::byte> data) {
    big_endian_reader r(data);
    if (r.u32() != magic) return std::nullopt;
    if (r.left() < 3) return message_header{};
    message_header out;
    out.version = r.u8();
    out.kind = r.u8();
    out.length = r.u8();
    return out;
}

error_info malformed(const std::string& what) {
    return {errc::handshake_malformed, "the private data of the connection are damaged: " + what};
}

} // namespace

std::vector<std::byte> encode(const greeting& g) {
    std::vector<std::byte> out;
    big_endian_writer w(out);
    put_header(w, kind_greeting);
    w.u64(g.region.address);
    w.u64(g.region.length);
    w.u32(g.region.key.value);
    w.u32(g.max_payload);
    w.u32(g.depth);
    w.u32(g.largest_message);
    w.u32(0);
    set_length(out);
    return out;
}

std::vector<std::byte> encode(const rendezvous::refusal& r) {
    std::vector<std::byte> out;
    big_endian_writer w(out);
    put_header(w, kind_refusal);
    w.u16(static_cast<std::uint16_t>(r.reason));
    const auto text = rendezvous::printable(r.text).substr(0, max_refusal_text);
    w.bytes(std::as_bytes(std::span(text)));
    set_length(out);
    return out;
}

std::optional<greeting> decode_greeting(std::span<const std::byte> data, error_info& error) {
    const auto h = header_of(data);
    if (!h) return std::nullopt;
    if (h->version != current_version) {
        error = {errc::version_mismatch, "one side speaks version " + std::to_string(h->version) +
                                             " of rocio's greeting, the other version " +
                                             std::to_string(current_version) + ": update the older one"};
        return std::nullopt;
    }
    if (h->length == 0 || h->length > data.size()) {
        error = malformed("a length of " + std::to_string(h->length) + " is told, " +
                          std::to_string(data.size()) + " bytes came");
        return std::nullopt;
    }
    if (h->kind != kind_greeting) {
        error = malformed("kind " + std::to_string(h->kind) + ", 1 expected");
        return std::nullopt;
    }
    big_endian_reader r(data.first(h->length));
    (void)r.u64(); // the header, looked at already
    greeting out;
    out.region.address = r.u64();
    out.region.length = r.u64();
    out.region.key = rkey{r.u32()};
    out.max_payload = r.u32();
    out.depth = r.u32();
    out.largest_message = r.u32();
    (void)r.u32();
    if (r.ok()) return out;
    error = malformed("a greeting of " + std::to_string(r.size()) + " bytes is cut short");
    return std::nullopt;
}

std::optional<rendezvous::refusal> decode_refusal(std::span<const std::byte> data) {
    const auto h = header_of(data);
    if (!h || h->kind != kind_refusal || h->length > data.size()) return std::nullopt;
    big_endian_reader r(data.first(h->length));
    (void)r.u64();
    rendezvous::refusal out;
    out.reason = static_cast<rendezvous::refusal_reason>(r.u16());
    if (!r.ok()) return std::nullopt;
    std::string text(std::min(r.left(), max_refusal_text), '\0');
    r.bytes(std::as_writable_bytes(std::span(text)));
    out.text = rendezvous::printable(text);
    return out;
}

error_info check_fit(const greeting& connecting, const greeting& listening) {
    rendezvous::offer a;
    rendezvous::offer b;
    a.largest_message = connecting.largest_message;
    a.side.max_payload = connecting.max_payload;
    b.largest_message = listening.largest_message;
    b.side.max_payload = listening.max_payload;
    return rendezvous::check_fit(a, b);
}

} // namespace rocio::cm_greeting
