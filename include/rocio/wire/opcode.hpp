#pragma once

#include <array>
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

namespace detail {

struct opcode_traits {
    operation what = operation::unknown;
    bool starts = false;
    bool ends = false;
    bool request = false;
    bool payload = false;
    bool reth = false;
    bool aeth = false;
    bool immediate = false;
    bool atomic_eth = false;
    bool atomic_ack_eth = false;
    bool deth = false;
    bool ieth = false;
    std::uint8_t extension_size = 0;
};

extern const std::array<opcode_traits, 256> opcode_table;

} // namespace detail

/// BTH opcode (IBA 9.2.1). All properties derive from the code's bits in one function, not from a hand-typed
/// table; the exhaustive 256-row table is in the tests.
class opcode {
  public:
    constexpr opcode() noexcept = default;
    explicit constexpr opcode(std::uint8_t value) noexcept : value_(value) {}

    constexpr std::uint8_t value() const noexcept { return value_; }
    constexpr service type() const noexcept { return static_cast<service>(value_ >> 5); }

    operation what() const noexcept { return traits().what; }
    /// In the table of docs/wire.md.
    bool known() const noexcept { return what() != operation::unknown; }
    /// FIRST or ONLY, or an operation of one packet.
    bool starts() const noexcept { return traits().starts; }
    /// LAST or ONLY, or an operation of one packet.
    bool ends() const noexcept { return traits().ends; }
    bool is_request() const noexcept { return traits().request; }
    bool has_reth() const noexcept { return traits().reth; }
    bool has_aeth() const noexcept { return traits().aeth; }
    bool has_immediate() const noexcept { return traits().immediate; }
    bool has_atomic_eth() const noexcept { return traits().atomic_eth; }
    bool has_atomic_ack_eth() const noexcept { return traits().atomic_ack_eth; }
    bool has_deth() const noexcept { return traits().deth; }
    bool has_ieth() const noexcept { return traits().ieth; }
    /// May carry payload.
    bool has_payload() const noexcept { return traits().payload; }
    /// Bytes between BTH and payload.
    std::uint32_t extension_size() const noexcept { return traits().extension_size; }
    std::string_view name() const noexcept; ///< "RC_SEND_ONLY_WITH_IMMEDIATE"; "unknown".

    friend constexpr bool operator==(opcode, opcode) noexcept = default;

  private:
    const detail::opcode_traits& traits() const noexcept { return detail::opcode_table[value_]; }

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
