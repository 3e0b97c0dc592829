#pragma once

#include <rocio/fpga/board_port.hpp>
#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_register_file.hpp>
#include <rocio/fpga/hsb_registers.hpp>
#include <rocio/fpga/hsb_responder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rocio::fpga {

struct hsb_board_config {
    std::uint32_t vp_address = hsb::default_vp_address;
    std::uint32_t hif_address = hsb::default_hif_address;
    std::size_t register_limit = hsb_register_file::default_limit;
};

/// What came over the control channel.
struct hsb_board_counts {
    std::uint64_t datagrams = 0;
    std::uint64_t ignored = 0;  ///< Too short to be a request.
    std::uint64_t refused = 0;  ///< Malformed, or answered with an error.
    std::uint64_t repeated = 0; ///< Writes that came again and were not carried out again.
};

/// What the player's loop came to.
struct hsb_loop_counts {
    std::uint64_t windows = 0;
    std::uint64_t responses = 0;
    std::uint32_t send_errors = 0;
    std::uint32_t timeouts = 0;
    std::uint32_t response_failures = 0;
};

/// The control half of an emulated HSB FPGA with CUDA-Q's playback design: requests in, responses out, and a
/// board_port driven by what they write. It does no I/O.
///
/// Requests are answered as CUDA-Q's emulator answers them; sequence numbers are not checked. What that
/// emulator ignores is refused: unknown commands, reserved flags, cut blocks and addresses that are no
/// multiple of 4 get an error status; the registers of a block before the bad one are written. Switching the
/// player on fails (general error) before QP and RKEY are written, without windows, or with more than the
/// memory holds. A write that is the same datagram from the same sender as the one just before, as a client
/// sends it whose answer was lost, is answered again but not carried out again: it does not start the player
/// a second time.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
class hsb_board final : public hsb_responder {
  public:
    /// `port` must outlive the board.
    explicit hsb_board(board_port& port, const hsb_board_config& config = {});

    std::size_t answer(std::span<const std::byte> datagram, std::uint64_t sender,
                       std::span<std::byte> out) override;

    const hsb_register_file& registers() const noexcept { return registers_; }
    const hsb_board_counts& counts() const noexcept { return counts_; }
    /// As the registers name it; nothing until QP and RKEY are written.
    std::optional<board_target> target() const;

    /// Whether the analyser is switched on.
    bool captures() const noexcept;
    /// An answer came to this window; kept while captures(), else ignored. `window` below hsb::ila::samples.
    void capture(std::uint32_t window, const hsb::ila_sample& sample);
    /// A pass is over: tells it in the analyser's status if that is on.
    void pass_done();

    /// Shows the counts of a loop that ended.
    void publish(const hsb_loop_counts& counts);
    /// Whether the client has said that it has read them.
    bool loop_counts_read() const noexcept;

  private:
    struct effects {
        bool target = false, player = false;
    };
    /// The write that was carried out last, and what it was answered.
    struct last_write {
        std::uint64_t sender = 0;
        std::vector<std::byte> request{}, answer{};
    };

    std::size_t execute(const hsb_request& request, const hsb_response_header& header,
                        std::span<std::byte> out);
    std::size_t refuse(hsb_malformed reason, std::span<const std::byte> datagram, std::span<std::byte> out);
    hsb_status write_all(const hsb_pairs& pairs);
    hsb_status write(const hsb_register& what, effects& seen);
    hsb_status apply(const effects& seen);
    hsb_status switch_player();
    error_info make_program(board_program& out) const;
    bool repeats(std::span<const std::byte> datagram, std::uint64_t sender) const noexcept;
    void set(std::uint32_t address, std::uint32_t value);

    board_port& port_;
    hsb_board_config config_;
    hsb_register_file registers_;
    hsb_board_counts counts_;
    last_write last_;
    std::optional<board_target> told_;
    bool rkey_written_ = false;
};

} // namespace rocio::fpga
