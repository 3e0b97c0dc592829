#include "wire/byte_order.hpp"
#include "wire/crc_ring.hpp"
#include "wire/ip_id_solver.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace rocio::wire {

namespace {

// Offsets in the masked LRH (8 bytes), IP and UDP headers that precede the BTH in the CRC.
constexpr std::size_t lrh_size = 8;
constexpr std::size_t udp_size = 8;
constexpr std::size_t v4_prefix_size = lrh_size + 20 + udp_size;
constexpr std::size_t v6_prefix_size = lrh_size + 40 + udp_size;

/// What a 16-bit big-endian field of the prefix adds to the CRC register at the end of the prefix. CRC is
/// linear, so the prefix need not be run through the CRC again for each packet's length and id.
class field_contribution {
  public:
    constexpr field_contribution(std::size_t offset, std::size_t prefix_size) noexcept
        : high_(shifted(prefix_size - offset)), low_(shifted(prefix_size - offset - 1)) {}

    std::uint32_t of(std::size_t value) const noexcept {
        return high_[value >> 8 & 0xFF] ^ low_[value & 0xFF];
    }

  private:
    using byte_table = std::array<std::uint32_t, 256>;
    static constexpr byte_table shifted(std::size_t bytes) noexcept {
        byte_table t{};
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t v = byte;
            for (std::size_t i = 0; i < bytes; ++i) v = crc_ring::times_x8(v);
            t[byte] = v;
        }
        return t;
    }

    byte_table high_;
    byte_table low_;
};

constexpr field_contribution v4_total_length{lrh_size + 2, v4_prefix_size};
constexpr field_contribution v4_id{lrh_size + 4, v4_prefix_size};
constexpr field_contribution v6_payload_length{lrh_size + 4, v6_prefix_size};
constexpr field_contribution udp_length{v4_prefix_size - 4, v4_prefix_size};

/// ISA-L takes and gives the complement of the register.
std::uint32_t advance(std::uint32_t state, std::span<const std::byte> data) noexcept {
    return ~crc32_gzip_refl(~state, reinterpret_cast<const unsigned char*>(data.data()), data.size());
}

std::uint32_t advance_word(std::uint32_t state, const std::byte* p) noexcept {
    return crc_ring::times_x32(state ^ load_little32(p));
}

std::uint32_t advance_bth(std::uint32_t state, const std::byte* p) noexcept {
    constexpr std::uint32_t reserved8a = 0x000000FF; // FECN, BECN and reserved bits are masked
    state = advance_word(state, p);
    state = crc_ring::times_x32(state ^ (load_little32(p + 4) | reserved8a));
    return advance_word(state, p + 8);
}

/// Extension headers and short payloads are a few words: four table look-ups each beat the call below 16
/// bytes.
std::uint32_t advance_body(std::uint32_t state, std::span<const std::byte> data) noexcept {
    if (data.size() >= 16) return advance(state, data);
    for (; data.size() >= 4; data = data.subspan(4)) state = advance_word(state, data.data());
    for (const std::byte b : data) state = crc_ring::times_x8(state ^ std::to_integer<std::uint32_t>(b));
    return state;
}

bool plausible_size(std::size_t size) noexcept {
    return size >= bth::size + icrc_size && size <= max_packet_size && size % 4 == 0;
}

/// Writes the prefix with its variant fields as ones and length and id as zero.
class prefix_bytes {
  public:
    explicit prefix_bytes(const icrc_flow& flow) noexcept {
        fill(lrh_size, 0xFF);
        const auto source = flow.source.v4();
        const auto destination = flow.destination.v4();
        if (source && destination) {
            add_v4(*source, *destination);
        } else {
            add_v6(flow.source.bytes(), flow.destination.bytes());
        }
        add16(flow.source_port);
        add16(flow.destination_port);
        fill(2, 0x00);
        fill(2, 0xFF);
    }
    std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }

  private:
    void add_v4(const gid::v4_bytes& source, const gid::v4_bytes& destination) noexcept {
        add({0x45, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0xFF, 17, 0xFF, 0xFF});
        for (const auto b : source) add({b});
        for (const auto b : destination) add({b});
    }
    void add_v6(const gid::bytes_type& source, const gid::bytes_type& destination) noexcept {
        add({0x6F, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 17, 0xFF});
        for (const auto b : source) add({b});
        for (const auto b : destination) add({b});
    }
    void add(std::initializer_list<std::uint8_t> values) noexcept {
        for (const auto v : values) bytes_[size_++] = std::byte{v};
    }
    void add16(std::uint16_t v) noexcept {
        add({static_cast<std::uint8_t>(v >> 8), static_cast<std::uint8_t>(v)});
    }
    void fill(std::size_t count, std::uint8_t value) noexcept {
        for (; count > 0; --count) add({value});
    }

    std::array<std::byte, v6_prefix_size> bytes_{};
    std::size_t size_ = 0;
};

} // namespace

icrc_engine::icrc_engine(const icrc_flow& flow) noexcept
    : prefix_state_(advance(0xFFFFFFFF, prefix_bytes(flow).bytes())),
      v6_(!flow.source.is_v4_mapped() || !flow.destination.is_v4_mapped()) {}

std::uint32_t icrc_engine::after_prefix(std::size_t packet_size, std::uint16_t ip_id) const noexcept {
    const std::size_t datagram = udp_size + packet_size;
    const std::uint32_t state = prefix_state_ ^ udp_length.of(datagram);
    if (v6_) return state ^ v6_payload_length.of(datagram);
    return state ^ v4_total_length.of(20 + datagram) ^ v4_id.of(ip_id);
}

std::uint32_t icrc_engine::compute(std::span<const std::byte> headers, std::span<const std::byte> payload,
                                   std::uint16_t ip_id) const noexcept {
    assert(headers.size() >= bth::size);
    const std::size_t pad = pad_of(payload.size());
    std::uint32_t state = after_prefix(headers.size() + payload.size() + pad + icrc_size, ip_id);
    state = advance_bth(state, headers.data());
    state = advance_body(state, headers.subspan(bth::size));
    state = advance_body(state, payload);
    for (std::size_t i = 0; i < pad; ++i) state = crc_ring::times_x8(state);
    return ~state;
}

std::uint32_t icrc_engine::of_packet(std::span<const std::byte> bth_to_icrc,
                                     std::uint16_t ip_id) const noexcept {
    assert(bth_to_icrc.size() >= bth::size + icrc_size);
    std::uint32_t state = after_prefix(bth_to_icrc.size(), ip_id);
    state = advance_bth(state, bth_to_icrc.data());
    return ~advance_body(state, bth_to_icrc.subspan(bth::size, bth_to_icrc.size() - bth::size - icrc_size));
}

bool icrc_engine::check_exact(std::span<const std::byte> bth_to_icrc, std::uint16_t ip_id) const noexcept {
    if (!plausible_size(bth_to_icrc.size())) return false;
    return of_packet(bth_to_icrc, ip_id) == load_little32(bth_to_icrc.last<icrc_size>().data());
}

std::optional<std::uint16_t> icrc_engine::solve_id(std::span<const std::byte> bth_to_icrc) const noexcept {
    if (!plausible_size(bth_to_icrc.size())) return std::nullopt;
    const std::uint32_t stored = load_little32(bth_to_icrc.last<icrc_size>().data());
    const std::uint32_t difference = stored ^ of_packet(bth_to_icrc);
    if (v6_) return difference == 0 ? std::optional<std::uint16_t>{std::uint16_t{0}} : std::nullopt;
    return solve_ip_id(difference, bth_to_icrc.size());
}

} // namespace rocio::wire
