#include "wire/byte_order.hpp"

#include <rocio/wire/headers.hpp>

namespace rocio::wire {

namespace {

constexpr std::uint8_t bit(bool set, unsigned position) noexcept {
    return static_cast<std::uint8_t>(set ? 1U << position : 0U);
}

std::uint8_t byte_at(const std::byte* p) noexcept {
    return std::to_integer<std::uint8_t>(*p);
}

std::uint32_t word_of(std::uint8_t high, std::uint32_t low24) noexcept {
    return std::uint32_t{high} << 24 | (low24 & 0xFFFFFF);
}

} // namespace

bth bth::parse(std::span<const std::byte, size> in) noexcept {
    const std::byte* p = in.data();
    const std::uint8_t flags = byte_at(p + 1);
    bth h;
    h.op = opcode{byte_at(p)};
    h.solicited = (flags & 0x80) != 0;
    h.migration = (flags & 0x40) != 0;
    h.pad = flags >> 4 & 3;
    h.version = flags & 0x0F;
    h.pkey = load_big<std::uint16_t>(p + 2);
    h.reserved8a = byte_at(p + 4);
    h.destination = qpn{load_big24_of_word(p + 4)};
    h.ack_request = (byte_at(p + 8) & 0x80) != 0;
    h.reserved7 = byte_at(p + 8) & 0x7F;
    h.sequence = psn{load_big24_of_word(p + 8)};
    return h;
}

void bth::emit(std::span<std::byte, size> out) const noexcept {
    std::byte* p = out.data();
    p[0] = std::byte{op.value()};
    p[1] = std::byte(bit(solicited, 7) | bit(migration, 6) | (pad & 3) << 4 | (version & 0x0F));
    store_big(p + 2, pkey);
    store_big(p + 4, word_of(reserved8a, destination.value()));
    store_big(p + 8, word_of(bit(ack_request, 7) | (reserved7 & 0x7F), sequence.value()));
}

reth reth::parse(std::span<const std::byte, size> in) noexcept {
    const std::byte* p = in.data();
    return {load_big<std::uint64_t>(p), rkey{load_big<std::uint32_t>(p + 8)},
            load_big<std::uint32_t>(p + 12)};
}

void reth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), address);
    store_big(out.data() + 8, key.value);
    store_big(out.data() + 12, length);
}

aeth aeth::nak(nak_code code, std::uint32_t msn) noexcept {
    return {static_cast<std::uint8_t>(0x60 | static_cast<std::uint8_t>(code)), msn};
}

aeth aeth::rnr(std::uint8_t timer_code, std::uint32_t msn) noexcept {
    return {static_cast<std::uint8_t>(0x20 | (timer_code & 0x1F)), msn};
}

aeth_kind aeth::kind() const noexcept {
    switch (syndrome >> 5) {
    case 0:
        return aeth_kind::ack;
    case 1:
        return aeth_kind::rnr_nak;
    case 3:
        return aeth_kind::nak;
    default:
        return aeth_kind::reserved;
    }
}

aeth aeth::parse(std::span<const std::byte, size> in) noexcept {
    return {byte_at(in.data()), load_big24_of_word(in.data())};
}

void aeth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), word_of(syndrome, msn));
}

immediate immediate::parse(std::span<const std::byte, size> in) noexcept {
    return {load_big<std::uint32_t>(in.data())};
}

void immediate::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), value);
}

deth deth::parse(std::span<const std::byte, size> in) noexcept {
    const std::byte* p = in.data();
    return {load_big<std::uint32_t>(p), qpn{load_big24_of_word(p + 4)}, byte_at(p + 4)};
}

void deth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), qkey);
    store_big(out.data() + 4, word_of(reserved, source.value()));
}

atomic_eth atomic_eth::parse(std::span<const std::byte, size> in) noexcept {
    const std::byte* p = in.data();
    return {load_big<std::uint64_t>(p), rkey{load_big<std::uint32_t>(p + 8)}, load_big<std::uint64_t>(p + 12),
            load_big<std::uint64_t>(p + 20)};
}

void atomic_eth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), address);
    store_big(out.data() + 8, key.value);
    store_big(out.data() + 12, swap_or_add);
    store_big(out.data() + 20, compare);
}

atomic_ack_eth atomic_ack_eth::parse(std::span<const std::byte, size> in) noexcept {
    return {load_big<std::uint64_t>(in.data())};
}

void atomic_ack_eth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), original);
}

ieth ieth::parse(std::span<const std::byte, size> in) noexcept {
    return {rkey{load_big<std::uint32_t>(in.data())}};
}

void ieth::emit(std::span<std::byte, size> out) const noexcept {
    store_big(out.data(), key.value);
}

} // namespace rocio::wire
