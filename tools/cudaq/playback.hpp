#pragma once

#include "cudaq/playback_check.hpp"
#include "cudaq/playback_config.hpp"
#include "cudaq/playback_windows.hpp"

#include <rocio/fpga/hsb_control_client.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::tools {

/// What the emulator counted in loop mode.
struct loop_counts {
    std::uint64_t windows = 0;
    std::uint64_t responses = 0;
    std::uint32_t errors = 0;
    std::uint32_t timeouts = 0;
    std::uint32_t response_failures = 0;
};

/// What a playback came to; a value.
struct playback_report {
    std::uint64_t messages = 0; ///< Asked for.
    std::uint64_t played = 0;   ///< In the passes that were begun.
    std::uint32_t passes = 0;
    bool verified = false;
    std::uint64_t memory_mismatches = 0; ///< Words of the player's memory that were not as written.
    playback_counts counts{};
    std::vector<ptp_round_trip> round_trips{};
    std::vector<std::string> remarks{}; ///< A sentence for each of the first failures.
    std::optional<loop_counts> loop{};  ///< From an emulator.
    std::chrono::nanoseconds elapsed{0};
    fpga::hsb_control_snapshot channel{};

    /// Every message was answered, once and right; without verification: every message was played.
    bool passed() const noexcept {
        if (memory_mismatches > 0 || played != messages) return false;
        if (loop && (loop->errors > 0 || loop->timeouts > 0 || loop->response_failures > 0)) return false;
        return !verified || counts.all_right(messages);
    }
};

/// How far it is; a value.
struct playback_progress {
    std::uint32_t pass = 0; ///< From 1; 0 before the first.
    std::uint32_t passes = 0;
    std::uint64_t answered = 0; ///< Samples captured.
    std::uint64_t messages = 0;
};

/// CUDA-Q's playback: loads requests into the memory of an HSB FPGA's player, or of its emulator, tells it
/// where the bridge's ring is, has them sent, and checks what the capture beside the receiver saw. All of it
/// by register accesses; the data plane is between FPGA and bridge.
///
/// Differs from the original in that a missing, a repeated or a too long or too short answer fails, too, and
/// that any number of messages can be played.
///
/// Thread safety: none; run() and the rest on the same executor.
class playback {
  public:
    /// Throws rocio::exception when validate() refuses `config`; sends nothing.
    playback(const boost::asio::any_io_executor& executor, playback_config config);
    playback(const playback&) = delete;
    playback& operator=(const playback&) = delete;

    /// Once. Throws rocio::exception with a sentence when the control channel fails, or when the capture
    /// memory cannot be cleared. The object must outlive it.
    boost::asio::awaitable<playback_report> run();

    /// Ends the wait for answers, or the loop; what is there is checked still, and no further pass begins.
    void stop();
    playback_progress progress() const noexcept;

  private:
    template <class T>
    using task = boost::asio::awaitable<T>;
    using registers = std::span<const fpga::hsb_register>;

    task<std::uint32_t> read(std::uint32_t address);
    task<void> read(std::span<const std::uint32_t> addresses, std::span<std::uint32_t> values);
    task<void> write(std::uint32_t address, std::uint32_t value);
    task<void> write(registers what);
    task<void> pause(std::chrono::nanoseconds time);

    task<void> reset_board();
    task<void> configure_target();
    task<void> play_pass(const playback_pass& pass);
    task<void> load(const playback_pass& pass);
    task<void> check_memory(std::span<const fpga::hsb_register> image);
    task<void> arm_capture();
    task<void> trigger(std::uint32_t how);
    task<std::uint32_t> wait_for_answers(const playback_pass& pass);
    task<void> check_answers(const playback_pass& pass, std::uint32_t samples);
    task<void> run_loop();
    task<std::optional<loop_counts>> loop_statistics();

    std::vector<fpga::hsb_register> target_registers(std::uint32_t version) const;
    std::uint32_t hif(std::uint32_t offset) const;
    std::uint32_t vp(std::uint32_t offset) const { return config_.vp_address + offset; }
    bool is_over(const playback_pass& pass, std::uint32_t samples, bool done,
                 std::chrono::nanoseconds quiet) const;
    void tell(const std::string& line) const;

    playback_config config_;
    boost::asio::any_io_executor executor_;
    fpga::hsb_control_client channel_;
    boost::asio::steady_timer timer_;
    std::vector<playback_pass> passes_;
    playback_check check_;
    playback_report report_{};
    std::uint64_t samples_before_ = 0;
    std::uint32_t samples_now_ = 0;
    bool done_is_new_ = false; ///< The capture's done bit was off when it was armed.
    bool stopping_ = false;
};

} // namespace rocio::tools
