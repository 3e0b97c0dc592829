#pragma once

#include <cstdint>
#include <string_view>

namespace rocio::wire {

/// Transport service: bits 7..5 of the opcode.
enum class service : std::uint8_t { rc = 0, uc = 1, rd = 2, ud = 3, cnp = 4 };

/// What the packet is about, whatever the service.
enum class operation : std::uint8_t {
    send,
    rdma_write,
    read_request,
    read_response,
    acknowledge,
    atomic_acknowledge,
    compare_swap,
    fetch_add,
    unknown,
};

/// BTH opcode (IBA 9.2.1). All properties derive from the code's bits in one function, not from a hand-typed
/// table; the exhaustive 256-row table is in the tests.
class opcode {
  public:
    constexpr opcode() noexcept = default;
    explicit constexpr opcode(std::uint8_t value) noexcept : value_(value) {}

    constexpr std::uint8_t value() const noexcept { return value_; }
    constexpr service type() const noexcept { return static_cast<service>(value_ >> 5); }

    operation what() const noexcept;
    bool known() const noexcept;  ///< In the table of docs/wire.md.
    bool starts() const noexcept; ///< FIRST or ONLY, or an operation of one packet.
    bool ends() const noexcept;   ///< LAST or ONLY, or an operation of one packet.
    bool is_request() const noexcept;
    bool has_reth() const noexcept;
    bool has_aeth() const noexcept;
    bool has_immediate() const noexcept;
    bool has_atomic_eth() const noexcept;
    bool has_atomic_ack_eth() const noexcept;
    bool has_deth() const noexcept;
    bool has_ieth() const noexcept;
    bool has_payload() const noexcept;             ///< May carry payload.
    std::uint32_t extension_size() const noexcept; ///< Bytes between BTH and payload.
    std::string_view name() const noexcept;        ///< "RC_SEND_ONLY_WITH_IMMEDIATE"; "unknown".

    friend constexpr bool operator==(opcode, opcode) noexcept = default;

  private:
    std::uint8_t value_ = 0;
};

namespace rc {
inline constexpr opcode send_first{0x00};
inline constexpr opcode send_middle{0x01};
inline constexpr opcode send_last{0x02};
inline constexpr opcode send_last_with_immediate{0x03};
inline constexpr opcode send_only{0x04};
inline constexpr opcode send_only_with_immediate{0x05};
inline constexpr opcode write_first{0x06};
inline constexpr opcode write_middle{0x07};
inline constexpr opcode write_last{0x08};
inline constexpr opcode write_last_with_immediate{0x09};
inline constexpr opcode write_only{0x0a};
inline constexpr opcode write_only_with_immediate{0x0b};
inline constexpr opcode read_request{0x0c};
inline constexpr opcode read_response_first{0x0d};
inline constexpr opcode read_response_middle{0x0e};
inline constexpr opcode read_response_last{0x0f};
inline constexpr opcode read_response_only{0x10};
inline constexpr opcode acknowledge{0x11};
inline constexpr opcode atomic_acknowledge{0x12};
inline constexpr opcode compare_swap{0x13};
inline constexpr opcode fetch_add{0x14};
} // namespace rc

} // namespace rocio::wire
