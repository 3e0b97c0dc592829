#pragma once

#include <rocio/types/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

// SLAC Register Protocol, version 3 (surf, protocols/srp; rogue, protocols/srp/SrpV3): little-endian 32-bit
// words; five of header, data, and in replies one word of status.
namespace rocio::fpga {

inline constexpr std::size_t srp_header_bytes = 20;
inline constexpr std::size_t srp_status_bytes = 4;
/// What one transaction carries at most.
inline constexpr std::size_t srp_max_data = 4096;
inline constexpr std::size_t srp_max_message = srp_header_bytes + srp_max_data + srp_status_bytes;
/// KCU105 and its kin.
inline constexpr std::uint16_t srp_default_port = 8192;

enum class srp_opcode : std::uint8_t {
    read = 0,
    write = 1,
    posted_write = 2, ///< Not answered.
    null = 3,         ///< Answered, touches nothing.
};

/// The last word of a reply; several bits may be set. Zero is success.
enum class srp_status : int {
    success = 0,
    bus_response = 0xFF, ///< Mask: what the board's own bus answered; bus_response of register_space.hpp.
    timeout = 1 << 8,    ///< The board's bus did not answer in the time that the request allows.
    end_of_frame_error = 1 << 9, ///< The request came damaged.
    frame_error = 1 << 10,       ///< The request's length does not fit its size field.
    version_mismatch = 1 << 11,  ///< Not version 3.
    bad_size = 1 << 12,          ///< Not 4 to 4096 bytes, not a multiple of 4, or not aligned.
    bus_locked_up = 1 << 13,     ///< An earlier timeout; the board's bus must be reset.
};

struct srp_request {
    srp_opcode opcode = srp_opcode::read;
    std::uint32_t id = 0;        ///< Comes back in the reply.
    std::uint64_t address = 0;   ///< A multiple of 4.
    std::uint32_t size = 4;      ///< Bytes to read or write.
    std::uint8_t timeout = 10;   ///< How long the board's bus may take, in 100 ms.
    std::uint8_t protection = 0; ///< AXI's PROT, 3 bits.
    bool ignore_bus_response = false;
    std::span<const std::byte> data{}; ///< Of writes: `size` bytes.
};

/// The bytes of a request.
std::vector<std::byte> encode(const srp_request& request);

/// A request as it was received.
struct srp_received {
    srp_request request{};
    std::uint32_t status = 0; ///< Not 0: refused, for what the reply's status word says.
};
/// Nothing for what is shorter than a header or no whole words. `data` stays in `message`.
std::optional<srp_received> parse_srp_request(std::span<const std::byte> message);

/// The reply to `request` (the received message itself): its header, `data`, the status.
std::vector<std::byte> encode_srp_reply(std::span<const std::byte> request, std::span<const std::byte> data,
                                        std::uint32_t status);

struct srp_reply {
    std::uint32_t id = 0;
    std::uint32_t status = 0;
    std::span<const std::byte> data{};   ///< Stays in the message.
    std::span<const std::byte> header{}; ///< Stays in the message.

    /// Whether the header is the request's; bits 13:10 of the first word are the board's own. Without an
    /// error the data is as long as the request asked.
    bool answers(const srp_request& request) const;
};
/// Nothing for what is too short or too long for a reply, or no whole words.
std::optional<srp_reply> parse_srp_reply(std::span<const std::byte> message);

/// Of srp_status; name() is "rocio.fpga.srp_status". The message names every bit.
/// condition::bad_configuration holds for decode errors and bad sizes. None is fatal to the bus.
const boost::system::error_category& srp_status_category() noexcept;
error_code make_error_code(srp_status s) noexcept;
/// A status word with at least one bit set.
error_code srp_error(std::uint32_t status) noexcept;

} // namespace rocio::fpga

namespace boost::system {
template <>
struct is_error_code_enum<rocio::fpga::srp_status> : std::true_type {};
} // namespace boost::system
