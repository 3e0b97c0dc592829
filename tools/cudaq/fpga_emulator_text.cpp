#include "cudaq/fpga_emulator.hpp"

#include <array>
#include <cstdio>

/// The lines of CUDA-Q's emulator, which scripts read.
namespace rocio::tools {

namespace {

std::string hex(std::uint64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
    return text.data();
}

std::string count_line(const char* name, std::uint64_t value) {
    return std::string("  ") + name + ": " + std::to_string(value);
}

} // namespace

void fpga_emulator::say(const std::string& text) const {
    if (config_.line) config_.line(text);
}

void fpga_emulator::complain(const std::string& text) const {
    if (config_.error) config_.error("ERROR: " + text);
}

void fpga_emulator::say_start() const {
    const auto gid_index = choose_gid_index();
    say("=== HSB FPGA Emulator ===");
    say("IB Device: " + config_.device->name());
    say("Control port: " + std::to_string(control_endpoint().port()));
    say("VP address: " + hex(config_.board.vp_address));
    say("\n[1/4] Initializing RDMA...");
    if (gid_index) say(count_line("GID index", *gid_index));
    say_number();
    say("  TX buffer: " + std::to_string(tx_.size()) + " bytes");
    say("  RX buffer: " + std::to_string(rx_.size()) + " bytes");
    say("\n[2/4] Starting control plane server...");
    say("  Listening on UDP port " + std::to_string(control_endpoint().port()));
    say("  Emulator QP: " + hex(number().value()));
}

void fpga_emulator::say_number() const {
    say("  QP Number: " + hex(number().value()));
}

void fpga_emulator::say_target(const fpga::board_target& target) const {
    say("  RDMA Target Config:");
    say("    QP: " + hex(target.queue_pair));
    say("    RKEY: " + hex(target.remote_key));
    say("    Buffer addr: " + hex(target.buffer));
    say("    Page inc: " + std::to_string(target.page_bytes) + " bytes");
    say("    Max buff: " + std::to_string(target.pages - 1));
}

void fpga_emulator::say_connecting() const {
    say("  Connecting QP to bridge QP " + hex(target_->queue_pair) + "...");
}

void fpga_emulator::say_program(const fpga::board_program& program, bool armed) const {
    say("\n=== Playback triggered ===");
    say("  Window size: " + std::to_string(program.window_bytes) + " bytes");
    say(count_line("Window count", program.windows));
    say("  Timer spacing: " + std::to_string(program.timer) + " (raw)");
    say(count_line("Cycles per window", program.stride / fpga::hsb::bram::beat_bytes));
    if (armed && !program.loop)
        say("  Playback phase: ILA verification pass");
    else
        say(std::string("  Playback mode: ") + (program.loop ? "continuous replay" : "single pass"));
    say(std::string("  ILA capture: ") + (armed ? "armed" : "not armed"));
    say("\n=== Starting syndrome transmission ===");
}

void fpga_emulator::say_progress(std::uint32_t windows) const {
    say("  Window " + std::to_string(pass_.windows) + "/" + std::to_string(windows) + " (responses: " +
        std::to_string(pass_.responses) + ", errors: " + std::to_string(pass_.send_errors) + ")");
}

void fpga_emulator::say_results() const {
    const auto r = report();
    say("\n=== Emulator Results ===");
    say(count_line("Windows sent", r.total.windows));
    if (r.verification_windows != 0 && r.looped) {
        say(count_line("ILA verification frames", r.verification_windows));
        say(count_line("Continuous replay frames", r.total.windows - r.verification_windows));
    }
    say(count_line("Responses received", r.total.responses));
    say(count_line("RPC status failures", r.total.response_failures));
    say(count_line("Send errors", r.total.send_errors));
    say(count_line("Timeouts", r.total.timeouts));
    if (r.total.late != 0) say(count_line("Late responses", r.total.late));
    if (r.total.stray != 0) say(count_line("Responses to nothing", r.total.stray));
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(r.elapsed).count();
    say("  Duration: " + std::to_string(ms) + " ms");
    say(r.total.all_right() ? "\n*** EMULATOR: ALL WINDOWS PROCESSED ***"
                            : "\n*** EMULATOR: ERRORS DETECTED ***");
}

} // namespace rocio::tools
