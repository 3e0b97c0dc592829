#include <rocio/wire/packet.hpp>

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace rocio::wire {

namespace {

/// Collects " name=value" parts; no part is longer than its buffer.
class line {
  public:
    void word(std::string_view text) { text_.append(text); }
    template <class... Values>
    void field(const char* format, Values... values) {
        char part[96];
        const int n = std::snprintf(part, sizeof part, format, values...);
        if (n > 0) text_.append(part, static_cast<std::size_t>(n));
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

const char* nak_text(std::uint8_t code) noexcept {
    switch (static_cast<nak_code>(code)) {
    case nak_code::psn_sequence_error:
        return "psn-sequence-error";
    case nak_code::invalid_request:
        return "invalid-request";
    case nak_code::remote_access_error:
        return "remote-access-error";
    case nak_code::remote_operational_error:
        return "remote-operational-error";
    case nak_code::invalid_rd_request:
        return "invalid-rd-request";
    }
    return "reserved";
}

void add_bth(line& out, const bth& h) {
    out.word(h.op.name());
    out.field(" qp=0x%06" PRIx32 " psn=0x%06" PRIx32, h.destination.value(), h.sequence.value());
    if (h.ack_request) out.word(" ack");
    if (h.solicited) out.word(" solicited");
    if (h.migration) out.word(" migration");
    if (h.pkey != 0xFFFF) out.field(" pkey=0x%04x", unsigned{h.pkey});
    if (h.reserved8a != 0 || h.reserved7 != 0) {
        out.field(" reserved=0x%02x/0x%02x", unsigned{h.reserved8a}, unsigned{h.reserved7});
    }
}

void add_aeth(line& out, const aeth& h) {
    switch (h.kind()) {
    case aeth_kind::ack:
        out.field(" ACK credit=%u", unsigned{h.value()});
        break;
    case aeth_kind::rnr_nak:
        out.field(" RNR-NAK timer=%u", unsigned{h.value()});
        break;
    case aeth_kind::nak:
        out.field(" NAK %s(%u)", nak_text(h.value()), unsigned{h.value()});
        break;
    case aeth_kind::reserved:
        out.field(" reserved-syndrome=0x%02x", unsigned{h.syndrome});
        break;
    }
    out.field(" msn=%" PRIu32, h.msn);
}

void add_atomics(line& out, const packet_view& p) {
    if (p.op().has_atomic_eth()) {
        const auto h = p.atomic_eth();
        out.field(" va=0x%016" PRIx64 " rkey=0x%08" PRIx32, h.address, h.key.value);
        out.field(" swap_or_add=0x%" PRIx64 " compare=0x%" PRIx64, h.swap_or_add, h.compare);
    }
    if (p.op().has_atomic_ack_eth()) out.field(" original=0x%" PRIx64, p.atomic_ack_eth().original);
}

void add_extensions(line& out, const packet_view& p) {
    const auto op = p.op();
    if (op.has_deth()) {
        out.field(" qkey=0x%08" PRIx32 " source_qp=0x%06" PRIx32, p.deth().qkey, p.deth().source.value());
    }
    if (op.has_reth()) {
        const auto h = p.reth();
        out.field(" va=0x%016" PRIx64 " rkey=0x%08" PRIx32 " dma_len=%" PRIu32, h.address, h.key.value,
                  h.length);
    }
    if (op.has_aeth()) add_aeth(out, p.aeth());
    add_atomics(out, p);
    if (op.has_immediate()) out.field(" imm=0x%08" PRIx32, p.immediate().value);
    if (op.has_ieth()) out.field(" invalidate=0x%08" PRIx32, p.ieth().key.value);
}

} // namespace

std::string to_text(const packet_view& packet) {
    line out;
    add_bth(out, packet.bth());
    add_extensions(out, packet);
    if (packet.op().has_payload()) out.field(" len=%zu", packet.payload().size());
    if (packet.bth().pad != 0) out.field(" pad=%u", unsigned{packet.bth().pad});
    out.field(" icrc=0x%08" PRIx32, packet.icrc());
    return out.take();
}

} // namespace rocio::wire
