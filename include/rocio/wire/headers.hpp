#pragma once

#include <rocio/types/memory_key.hpp>
#include <rocio/types/psn.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/wire/opcode.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::wire {

/// Each header is a value that can only hold legal contents, with `size`, `parse` (from exactly `size` bytes,
/// cannot fail) and `emit`. All multi-byte fields are big-endian on the wire.

/// Base transport header (IBA 9.2).
struct bth {
    static constexpr std::size_t size = 12;

    opcode op{};
    bool solicited = false;
    bool migration = false; ///< MigReq: rxe sends 0 and accepts both.
    std::uint8_t pad = 0;   ///< 0..3 bytes behind the payload.
    std::uint16_t pkey = 0xFFFF;
    qpn destination{};
    bool ack_request = false;
    psn sequence{};
    std::uint8_t version = 0;    ///< TVer: 4 bits, anything but 0 is refused by packet_view.
    std::uint8_t reserved8a = 0; ///< FECN, BECN and six reserved bits; masked in the ICRC.
    std::uint8_t reserved7 = 0;  ///< Seven reserved bits beside AckReq; covered by the ICRC.

    static bth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const bth&, const bth&) = default;
};

/// RDMA extended transport header (IBA 9.3.3).
struct reth {
    static constexpr std::size_t size = 16;
    std::uint64_t address = 0;
    rkey key{};
    std::uint32_t length = 0; ///< Of the whole message.

    static reth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const reth&, const reth&) = default;
};

enum class aeth_kind : std::uint8_t { ack, rnr_nak, nak, reserved };
enum class nak_code : std::uint8_t {
    psn_sequence_error = 0,
    invalid_request = 1,
    remote_access_error = 2,
    remote_operational_error = 3,
    invalid_rd_request = 4,
};

/// Acknowledge extended transport header (IBA 9.3.5).
struct aeth {
    static constexpr std::size_t size = 4;
    std::uint8_t syndrome = 0x1F; ///< 0x1F: ACK without credit information, the only ACK rocio sends.
    std::uint32_t msn = 0;        ///< Message sequence number, 24 bits; emit masks.

    static aeth ack(std::uint32_t msn) noexcept { return {0x1F, msn}; }
    static aeth nak(nak_code code, std::uint32_t msn) noexcept;
    static aeth rnr(std::uint8_t timer_code, std::uint32_t msn) noexcept;

    aeth_kind kind() const noexcept;
    std::uint8_t value() const noexcept { return syndrome & 0x1F; } ///< Credit, timer or NAK code.

    static aeth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const aeth&, const aeth&) = default;
};

/// Immediate data (IBA 9.3.6), host order here.
struct immediate {
    static constexpr std::size_t size = 4;
    std::uint32_t value = 0;

    static immediate parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const immediate&, const immediate&) = default;
};

/// Datagram extended transport header (IBA 9.3.2).
struct deth {
    static constexpr std::size_t size = 8;
    std::uint32_t qkey = 0;
    qpn source{};
    std::uint8_t reserved = 0; ///< Sent 0, ignored on receipt; covered by the ICRC.

    static deth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const deth&, const deth&) = default;
};

/// Atomic extended transport header (IBA 9.3.4).
struct atomic_eth {
    static constexpr std::size_t size = 28;
    std::uint64_t address = 0;
    rkey key{};
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;

    static atomic_eth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const atomic_eth&, const atomic_eth&) = default;
};

/// Atomic acknowledge extended transport header (IBA 9.3.5.3): the value before the operation.
struct atomic_ack_eth {
    static constexpr std::size_t size = 8;
    std::uint64_t original = 0;

    static atomic_ack_eth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const atomic_ack_eth&, const atomic_ack_eth&) = default;
};

/// Invalidate extended transport header (IBA 9.3.7).
struct ieth {
    static constexpr std::size_t size = 4;
    rkey key{};

    static ieth parse(std::span<const std::byte, size> in) noexcept;
    void emit(std::span<std::byte, size> out) const noexcept;
    friend bool operator==(const ieth&, const ieth&) = default;
};

} // namespace rocio::wire
