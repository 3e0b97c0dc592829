#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace rocio::tools {

/// Each adds the options of CUDA-Q's program of this name to `app` itself; parsing them runs it and sets
/// `status` to its exit status.
void add_hsb_bridge_cpu(CLI::App& app, int& status);
void add_hsb_fpga_emulator(CLI::App& app, int& status);
void add_hsb_fpga_playback(CLI::App& app, int& status);

/// When the program was started by the name of one of CUDA-Q's HSB programs (hsb_bridge_cpu,
/// hsb_fpga_emulator, hsb_fpga_playback: the file name of argv[0]) it behaves as that one: its options in
/// their `--name=VALUE` form, its defaults, its exit status, which is the result. Nothing under any other
/// name. Failures are one line on stderr, as the originals write them.
std::optional<int> run_as_original(int argc, char** argv);

} // namespace rocio::tools
