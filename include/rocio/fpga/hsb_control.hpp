#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

/// The control protocol of Holoscan Sensor Bridge (HSB) FPGAs: registers read and written by UDP datagrams,
/// one request and one response at a time, all fields big-endian. A pure codec of both sides: no socket, no
/// allocation; every function may be called from any thread.
///
/// Request: command, flags, sequence (2), two reserved bytes, then {address, value} pairs. Response: command,
/// flags and sequence again, status, then, except in CUDA-Q's short acknowledgement of a write, a reserved
/// byte, the pairs with their values and the latched sequence (2). The FPGA's own responses have bit 7 set in
/// the command and up to two bytes of padding; CUDA-Q's emulator echoes the command as it was. Both are read
/// here.
namespace rocio::fpga {

enum class hsb_command : std::uint8_t {
    write_dword = 0x04,
    write_block = 0x09,
    read_dword = 0x14,
    read_block = 0x19,
};

constexpr bool is_write(hsb_command c) noexcept {
    return c == hsb_command::write_dword || c == hsb_command::write_block;
}
constexpr bool is_block(hsb_command c) noexcept {
    return c == hsb_command::write_block || c == hsb_command::read_block;
}

/// Bits of the request's second byte; the others are reserved and must be 0.
namespace hsb_flags {
inline constexpr std::uint8_t acknowledge = 0x01;    ///< Answer this request, too, if it is a write.
inline constexpr std::uint8_t check_sequence = 0x02; ///< Refuse unless the sequence follows the last one.
inline constexpr std::uint8_t reserved = 0xFC;
} // namespace hsb_flags

/// The fifth byte of a response.
enum class hsb_status : std::uint8_t {
    success = 0x00,
    general_error = 0x02,
    invalid_address = 0x03,
    unknown_command = 0x04,
    invalid_length = 0x05,
    invalid_flags = 0x06,
    buffer_full = 0x07,
    invalid_block_size = 0x08,
    invalid_indirect_address = 0x09,
    command_timed_out = 0x0A,
    sequence_check_failed = 0x0B,
};

/// A few words for messages; "unknown status" for a value that is none of the list.
const char* describe(hsb_status status) noexcept;

/// One register and its value. In read requests the value is 0.
struct hsb_register {
    std::uint32_t address = 0;
    std::uint32_t value = 0;
    friend bool operator==(const hsb_register&, const hsb_register&) = default;
};

inline constexpr std::size_t hsb_header_bytes = 6;
inline constexpr std::size_t hsb_pair_bytes = 8;
/// The longest block that fits the 4096 bytes a receiver reads.
inline constexpr std::size_t hsb_max_pairs = 511;
inline constexpr std::size_t hsb_max_datagram = 4096;
/// What the vendor's host puts into one request, so that neither it nor its response leaves an Ethernet frame
/// of 1500.
inline constexpr std::size_t hsb_pairs_per_frame = 183;

/// The {address, value} pairs of a datagram, decoded where they are read. Refers to the datagram's bytes.
class hsb_pairs {
  public:
    class iterator {
      public:
        using value_type = hsb_register;
        using difference_type = std::ptrdiff_t;
        iterator() = default;
        iterator(const hsb_pairs* pairs, std::size_t at) noexcept : pairs_(pairs), at_(at) {}
        hsb_register operator*() const noexcept { return (*pairs_)[at_]; }
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept {
            const auto before = *this;
            ++at_;
            return before;
        }
        friend bool operator==(const iterator&, const iterator&) = default;

      private:
        const hsb_pairs* pairs_ = nullptr;
        std::size_t at_ = 0;
    };

    hsb_pairs() = default;
    /// `count` pairs at the beginning of `bytes`, of which the last may lack its value (it is 0 then).
    hsb_pairs(std::span<const std::byte> bytes, std::size_t count) noexcept : bytes_(bytes), count_(count) {}

    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    /// `i` is less than size().
    hsb_register operator[](std::size_t i) const noexcept;
    iterator begin() const noexcept { return {this, 0}; }
    iterator end() const noexcept { return {this, count_}; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t count_ = 0;
};

/// Why a datagram is none.
enum class hsb_malformed : std::uint8_t {
    too_short,       ///< Less than a header (requests: 6 bytes, responses: 5).
    unknown_command, ///< None of hsb_command.
    reserved_flags,  ///< A request with a reserved flag bit set.
    no_pair,         ///< A request, or a read's successful response, without a register.
    cut_pair,        ///< The length fits no whole number of pairs.
    too_many_pairs,  ///< More than hsb_max_pairs, or than one in a dword command.
};

const char* describe(hsb_malformed reason) noexcept;
/// What an FPGA answers to it; nothing for a datagram that is too short to be answered.
std::optional<hsb_status> status_for(hsb_malformed reason) noexcept;

/// A request that was read. Refers to the datagram's bytes.
struct hsb_request {
    hsb_command command = hsb_command::read_dword;
    std::uint8_t flags = 0;
    std::uint16_t sequence = 0;
    hsb_pairs pairs; ///< At least one; exactly one in the dword commands. In reads only the addresses count.

    bool wants_answer() const noexcept { return !is_write(command) || (flags & hsb_flags::acknowledge); }
};

/// The response that was read. Refers to the datagram's bytes.
struct hsb_response {
    hsb_command command = hsb_command::read_dword; ///< Without bit 7.
    std::uint8_t flags = 0;
    std::uint16_t sequence = 0; ///< The request's.
    hsb_status status = hsb_status::success;
    hsb_pairs pairs; ///< Empty in a short acknowledgement.
    std::optional<std::uint16_t> latched_sequence{};

    /// Whether this can be the answer to that request: same command and sequence. The vendor's host looks at
    /// the sequence alone, which cannot tell a late response from a damaged one.
    bool answers(hsb_command asked, std::uint16_t sequence_asked) const noexcept {
        return command == asked && sequence == sequence_asked;
    }
};

/// The datagram's meaning, or why it has none. Dword commands may carry bytes behind their pair, as the
/// receivers of both worlds allow; a read of one register may lack the value.
std::variant<hsb_request, hsb_malformed> parse_request(std::span<const std::byte> datagram) noexcept;
std::variant<hsb_response, hsb_malformed> parse_response(std::span<const std::byte> datagram) noexcept;

/// The length of a request of so many registers.
constexpr std::size_t request_bytes(hsb_command command, std::size_t registers) noexcept {
    if (command == hsb_command::read_dword) return hsb_header_bytes + 4;
    return hsb_header_bytes + registers * hsb_pair_bytes;
}

/// Writes a request into `out` and gives its length; 0, and nothing written, if `out` is too short, there is
/// no register, more than hsb_max_pairs, or more than one for a dword command. Reads send value 0.
[[nodiscard]] std::size_t encode_request(std::span<std::byte> out, hsb_command command, std::uint8_t flags,
                                         std::uint16_t sequence,
                                         std::span<const hsb_register> registers) noexcept;

/// How a response is put: as CUDA-Q's emulator does, or as the FPGA does.
enum class hsb_dialect : std::uint8_t {
    emulator, ///< The command echoed; a write is acknowledged by 5 bytes.
    fpga,     ///< The command with bit 7; writes are answered with their pairs; padding behind short ones.
};

/// What a response carries beside its pairs.
struct hsb_response_header {
    std::uint8_t command = 0; ///< The request's command byte, known or not.
    std::uint8_t flags = 0;   ///< The request's.
    std::uint16_t sequence = 0;
    hsb_status status = hsb_status::success;
    std::uint16_t latched_sequence = 0;
};

/// Writes a response with these pairs into `out` and gives its length; 0, and nothing written, if it does not
/// fit or there are more than hsb_max_pairs. A refusal (status not success) has no pairs.
[[nodiscard]] std::size_t encode_response(std::span<std::byte> out, const hsb_response_header& header,
                                          std::span<const hsb_register> registers,
                                          hsb_dialect dialect = hsb_dialect::emulator) noexcept;

/// The header that answers a datagram of at least hsb_header_bytes, whatever its command is.
std::optional<hsb_response_header> answer_header(std::span<const std::byte> request) noexcept;

} // namespace rocio::fpga
