#include <rocio/wire/headers.hpp>
#include <rocio/wire/opcode.hpp>

#include <array>
#include <cstddef>

namespace rocio::wire {

namespace {

using traits = detail::opcode_traits;

/// Operations 0x00..0x05 and 0x06..0x0b: FIRST, MIDDLE, LAST, LAST with immediate, ONLY, ONLY with immediate.
constexpr traits message_part(operation what, unsigned place) noexcept {
    traits t;
    t.what = what;
    t.starts = place == 0 || place >= 4;
    t.ends = place >= 2;
    t.payload = true;
    t.immediate = place == 3 || place == 5;
    t.reth = what == operation::rdma_write && t.starts;
    return t;
}

/// Operations 0x0d..0x10: FIRST, MIDDLE, LAST, ONLY; all but MIDDLE carry an AETH.
constexpr traits read_response(unsigned place) noexcept {
    traits t;
    t.what = operation::read_response;
    t.starts = place == 0 || place == 3;
    t.ends = place >= 2;
    t.payload = true;
    t.aeth = place != 1;
    return t;
}

constexpr traits single(operation what) noexcept {
    traits t;
    t.what = what;
    t.starts = t.ends = true;
    t.reth = what == operation::read_request;
    t.aeth = what == operation::acknowledge || what == operation::atomic_acknowledge;
    t.atomic_ack_eth = what == operation::atomic_acknowledge;
    t.atomic_eth = what == operation::compare_swap || what == operation::fetch_add;
    return t;
}

/// Operations 0x16 and 0x17: SEND LAST and ONLY with invalidate.
constexpr traits send_with_invalidate(bool only) noexcept {
    traits t;
    t.what = operation::send;
    t.starts = only;
    t.ends = true;
    t.payload = true;
    t.ieth = true;
    return t;
}

constexpr traits connected(unsigned op) noexcept {
    if (op <= 0x05) return message_part(operation::send, op);
    if (op <= 0x0b) return message_part(operation::rdma_write, op - 0x06);
    return {};
}

constexpr traits reliable(unsigned op) noexcept {
    if (op <= 0x0b) return connected(op);
    if (op >= 0x0d && op <= 0x10) return read_response(op - 0x0d);
    switch (op) {
    case 0x0c:
        return single(operation::read_request);
    case 0x11:
        return single(operation::acknowledge);
    case 0x12:
        return single(operation::atomic_acknowledge);
    case 0x13:
        return single(operation::compare_swap);
    case 0x14:
        return single(operation::fetch_add);
    case 0x16:
        return send_with_invalidate(false);
    case 0x17:
        return send_with_invalidate(true);
    default:
        return {};
    }
}

/// UD knows the two ONLY sends and puts a DETH in front of what they carry.
constexpr traits datagram(unsigned op) noexcept {
    if (op != 0x04 && op != 0x05) return {};
    traits t = message_part(operation::send, op);
    t.deth = true;
    return t;
}

constexpr traits derive(std::uint8_t code) noexcept {
    const unsigned op = code & 0x1FU;
    switch (static_cast<service>(code >> 5)) {
    case service::rc:
        return reliable(op);
    case service::uc:
        return connected(op);
    case service::ud:
        return datagram(op);
    default:
        return {};
    }
}

template <class Row>
constexpr auto for_all_codes(Row row) noexcept {
    std::array<decltype(row(0)), 256> all{};
    for (unsigned code = 0; code < 256; ++code) all[code] = row(static_cast<std::uint8_t>(code));
    return all;
}

constexpr bool is_request(operation what) noexcept {
    switch (what) {
    case operation::send:
    case operation::rdma_write:
    case operation::read_request:
    case operation::compare_swap:
    case operation::fetch_add:
        return true;
    default:
        return false;
    }
}

constexpr std::uint8_t extension_bytes(const traits& t) noexcept {
    std::size_t n = 0;
    if (t.deth) n += deth::size;
    if (t.reth) n += reth::size;
    if (t.aeth) n += aeth::size;
    if (t.atomic_eth) n += atomic_eth::size;
    if (t.atomic_ack_eth) n += atomic_ack_eth::size;
    if (t.immediate) n += immediate::size;
    if (t.ieth) n += ieth::size;
    return static_cast<std::uint8_t>(n);
}

constexpr traits complete(std::uint8_t code) noexcept {
    traits t = derive(code);
    t.request = is_request(t.what);
    t.extension_size = extension_bytes(t);
    return t;
}

class name_text {
  public:
    constexpr void append(std::string_view part) noexcept {
        for (const char c : part) text_[size_++] = c;
    }
    constexpr std::string_view view() const noexcept { return {text_.data(), size_}; }

  private:
    std::array<char, 40> text_{};
    std::size_t size_ = 0;
};

constexpr std::string_view operation_name(operation what) noexcept {
    switch (what) {
    case operation::send:
        return "SEND";
    case operation::rdma_write:
        return "RDMA_WRITE";
    case operation::read_request:
        return "RDMA_READ_REQUEST";
    case operation::read_response:
        return "RDMA_READ_RESPONSE";
    case operation::acknowledge:
        return "ACKNOWLEDGE";
    case operation::atomic_acknowledge:
        return "ATOMIC_ACKNOWLEDGE";
    case operation::compare_swap:
        return "COMPARE_SWAP";
    case operation::fetch_add:
        return "FETCH_ADD";
    case operation::unknown:
        break;
    }
    return "unknown";
}

constexpr std::string_view service_name(service s) noexcept {
    return s == service::rc ? "RC_" : s == service::uc ? "UC_" : "UD_";
}

constexpr std::string_view place_name(const traits& t) noexcept {
    if (!t.payload) return "";
    if (t.starts) return t.ends ? "_ONLY" : "_FIRST";
    return t.ends ? "_LAST" : "_MIDDLE";
}

constexpr name_text spell(std::uint8_t code) noexcept {
    const traits t = derive(code);
    name_text name;
    if (t.what != operation::unknown) name.append(service_name(static_cast<service>(code >> 5)));
    name.append(operation_name(t.what));
    name.append(place_name(t));
    if (t.immediate) name.append("_WITH_IMMEDIATE");
    if (t.ieth) name.append("_WITH_INVALIDATE");
    return name;
}

constexpr auto names = for_all_codes(spell);

} // namespace

constexpr std::array<traits, 256> detail::opcode_table = for_all_codes(complete);

std::string_view opcode::name() const noexcept {
    return names[value_].view();
}

} // namespace rocio::wire
