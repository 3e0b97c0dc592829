#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The registers that CUDA-Q's playback design for HSB FPGAs adds, and those of the data plane that it
/// programs. The emulator and playback share them. All registers have 32 bits; addresses are multiples of 4.
namespace rocio::fpga::hsb {

inline constexpr std::uint32_t default_vp_address = 0x1000;  ///< Virtual port of sensor 0.
inline constexpr std::uint32_t default_hif_address = 0x0800; ///< Host interface, as the emulator has it.
inline constexpr std::uint16_t control_port = 8192;          ///< Of an FPGA.
inline constexpr std::uint16_t emulator_control_port = 8193; ///< Of CUDA-Q's emulator.

/// Sizes in these registers count units of 128 bytes.
inline constexpr std::uint32_t page_unit = 128;

/// Offsets from the virtual port's address: where the FPGA writes to.
namespace vp {
inline constexpr std::uint32_t queue_pair = 0x00;
inline constexpr std::uint32_t remote_key = 0x04;
inline constexpr std::uint32_t page_lsb = 0x08;       ///< Buffer address >> 7.
inline constexpr std::uint32_t page_msb = 0x0C;       ///< Buffer address >> 32.
inline constexpr std::uint32_t page_increment = 0x10; ///< Page size in units of page_unit.
inline constexpr std::uint32_t last_page = 0x14;      ///< Number of pages less one.
inline constexpr std::uint32_t buffer_length = 0x18;  ///< Bytes of a frame.
inline constexpr std::uint32_t host_mac_low = 0x20;
inline constexpr std::uint32_t host_mac_high = 0x24;
inline constexpr std::uint32_t host_ip = 0x28; ///< First octet in bits 31:24.
inline constexpr std::uint32_t host_udp_port = 0x2C;
inline constexpr std::uint32_t size = 0x40; ///< Of one virtual port's registers.
/// In host_udp_port (read, change, write): no metadata packet behind the data.
inline constexpr std::uint32_t no_metadata_bit = 1U << 16;
} // namespace vp

/// Offsets from the host interface's address.
namespace hif {
inline constexpr std::uint32_t packet_size = 0x04;
inline constexpr std::uint32_t packet_udp_port = 0x08;
inline constexpr std::uint32_t vp_mask = 0x0C; ///< One bit for each virtual port that may send.
} // namespace hif

/// The buffer's address as the two page registers hold it.
struct page_address {
    std::uint32_t lsb = 0;
    std::uint32_t msb = 0;
    friend bool operator==(const page_address&, const page_address&) = default;
};

/// `address` is a multiple of page_unit, else its low bits are lost.
constexpr page_address split_address(std::uint64_t address) noexcept {
    return {static_cast<std::uint32_t>(address >> 7), static_cast<std::uint32_t>(address >> 32)};
}
constexpr std::uint64_t join_address(page_address page) noexcept {
    return (static_cast<std::uint64_t>(page.msb) << 32) | (static_cast<std::uint64_t>(page.lsb) << 7);
}

/// The player sends the windows of the BRAM one after the other.
namespace player {
inline constexpr std::uint32_t base = 0x5000'0000;
inline constexpr std::uint32_t enable = base + 0x04;
inline constexpr std::uint32_t timer = base + 0x08;       ///< Pause between windows, 322 for a microsecond.
inline constexpr std::uint32_t window_size = base + 0x0C; ///< In bytes.
inline constexpr std::uint32_t window_number = base + 0x10;

inline constexpr std::uint32_t off = 0x00;
inline constexpr std::uint32_t loop = 0x03;        ///< All windows, again and again until switched off.
inline constexpr std::uint32_t single_pass = 0x0D; ///< Each window once.
inline constexpr std::uint32_t enable_bit = 0x01;  ///< A write with this bit starts it.

inline constexpr std::uint32_t ticks_per_microsecond = 322;
} // namespace player

/// The windows' memory: 16 banks of 512 words. 64 bytes of a window, a beat, lie in one word of each bank.
namespace bram {
inline constexpr std::uint32_t base = 0x5010'0000;
inline constexpr std::uint32_t banks = 16;
inline constexpr std::uint32_t words = 512; ///< Of one bank, which is the number of beats.
inline constexpr std::uint32_t bank_stride = words * 4;
inline constexpr std::uint32_t beat_bytes = banks * 4;
inline constexpr std::uint32_t size = banks * bank_stride;

/// Beats of a window of so many bytes.
constexpr std::uint32_t cycles(std::uint32_t window_bytes) noexcept {
    return window_bytes / beat_bytes + (window_bytes % beat_bytes != 0 ? 1 : 0);
}
/// `bank` and `beat` are below banks and words.
constexpr std::uint32_t address(std::uint32_t bank, std::uint32_t beat) noexcept {
    return base + bank * bank_stride + beat * 4;
}
/// The word of one bank in beat `cycle` of a window whose windows have `cycles_per_window` beats; all of them
/// fit: window * cycles_per_window + cycle is below words. It holds bytes 64 * cycle + 4 * bank and on,
/// little-endian.
constexpr std::uint32_t address(std::uint32_t window, std::uint32_t cycle, std::uint32_t cycles_per_window,
                                std::uint32_t bank) noexcept {
    return address(bank, window * cycles_per_window + cycle);
}
/// Whether so many windows of so many bytes fit.
constexpr bool fits(std::uint32_t windows, std::uint32_t window_bytes) noexcept {
    return static_cast<std::uint64_t>(windows) * cycles(window_bytes) <= words;
}
constexpr bool contains(std::uint32_t address) noexcept {
    return address >= base && address - base < size;
}
} // namespace bram

/// The integrated logic analyser, which captures the beginning of each answer.
namespace ila {
inline constexpr std::uint32_t base = 0x4000'0000;
inline constexpr std::uint32_t control = base + 0x00;
inline constexpr std::uint32_t status = base + 0x80;
inline constexpr std::uint32_t sample_count = base + 0x84;
inline constexpr std::uint32_t data = 0x4010'0000;

inline constexpr std::uint32_t off = 0;
inline constexpr std::uint32_t enable = 1;
inline constexpr std::uint32_t reset = 2;
inline constexpr std::uint32_t done_bit = 2; ///< In status.

inline constexpr std::uint32_t banks = 19;
inline constexpr std::uint32_t samples = 8192;
inline constexpr std::uint32_t bank_stride = samples * 4;
inline constexpr std::uint32_t size = banks * bank_stride;
/// Samples that are read in one request, so that it stays in an Ethernet frame.
inline constexpr std::uint32_t samples_per_read = 128;

/// `bank` and `sample` are below banks and samples.
constexpr std::uint32_t address(std::uint32_t bank, std::uint32_t sample) noexcept {
    return data + bank * bank_stride + sample * 4;
}
constexpr bool contains(std::uint32_t address) noexcept {
    return address >= data && address - data < size;
}
} // namespace ila

/// What the emulator counted in loop mode, once the player is switched off.
namespace loop_statistics {
inline constexpr std::uint32_t base = 0xE000'0000;
inline constexpr std::uint32_t magic = base + 0x00;
inline constexpr std::uint32_t state = base + 0x04;
inline constexpr std::uint32_t windows_low = base + 0x08;
inline constexpr std::uint32_t windows_high = base + 0x0C;
inline constexpr std::uint32_t responses_low = base + 0x10;
inline constexpr std::uint32_t responses_high = base + 0x14;
inline constexpr std::uint32_t errors = base + 0x18;
inline constexpr std::uint32_t timeouts = base + 0x1C;
inline constexpr std::uint32_t acknowledge = base + 0x20; ///< The reader writes magic_value when it is done.
inline constexpr std::uint32_t response_failures = base + 0x24;

inline constexpr std::uint32_t magic_value = 0x4853'4245; // "HSBE"
inline constexpr std::uint32_t complete = 2;
} // namespace loop_statistics

/// Words that are gathered before the FPGA's sensor interface sends; 5 means at once.
inline constexpr std::uint32_t sif_tx_threshold = 0x0120'0000;
inline constexpr std::uint32_t sif_tx_threshold_immediate = 5;
/// Of the virtual port at default_vp_address: vp::host_udp_port with vp::no_metadata_bit.
inline constexpr std::uint32_t metadata_packet_control = default_vp_address + vp::host_udp_port;

/// A PTP time as the FPGA writes it into a request's bytes 16 to 23 and into a sample: seconds in the upper
/// half, nanoseconds in the lower.
struct ptp_time {
    std::uint32_t seconds = 0;
    std::uint32_t nanoseconds = 0;

    constexpr std::uint64_t packed() const noexcept {
        return (static_cast<std::uint64_t>(seconds) << 32) | nanoseconds;
    }
    static constexpr ptp_time unpack(std::uint64_t value) noexcept {
        return {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint32_t>(value)};
    }
    /// Of nanoseconds since the clock's epoch, seconds modulo 2^32.
    static constexpr ptp_time from_nanoseconds(std::uint64_t since_epoch) noexcept {
        return {static_cast<std::uint32_t>(since_epoch / 1'000'000'000),
                static_cast<std::uint32_t>(since_epoch % 1'000'000'000)};
    }
    friend bool operator==(const ptp_time&, const ptp_time&) = default;
};

/// `to` - `from` in nanoseconds.
constexpr std::int64_t nanoseconds_between(ptp_time from, ptp_time to) noexcept {
    const auto seconds = static_cast<std::int64_t>(to.seconds) - from.seconds;
    return seconds * 1'000'000'000 + (static_cast<std::int64_t>(to.nanoseconds) - from.nanoseconds);
}

/// One sample of the analyser, 585 bits in 19 words, the lowest first.
struct ila_sample {
    std::array<std::byte, 64> data{}; ///< Bits 0 to 511: the first 64 bytes of the answer.
    bool valid = false;               ///< Bit 512.
    bool last = false;                ///< Bit 513.
    std::uint8_t write_count = 0;     ///< Bits 514 to 520.
    std::uint64_t time = 0;           ///< Bits 521 to 584: when it came, ptp_time::packed().

    using words = std::array<std::uint32_t, ila::banks>;
    words pack() const noexcept;
    static ila_sample unpack(const words& in) noexcept;
    friend bool operator==(const ila_sample&, const ila_sample&) = default;
};

} // namespace rocio::fpga::hsb
