#pragma once

namespace CLI {
class App;
}

namespace rocio::tools {

/// Each adds one subcommand; running it sets `status` to the exit status: 0 only when the data was right, 1
/// when it was not, or when the command could not be carried out (then an exception leaves the callback,
/// too).
void add_devices(CLI::App& app, int& status);
void add_recv(CLI::App& app, int& status);
void add_emulate(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_dump(CLI::App& app, int& status);
void add_serve(CLI::App& app, int& status);
void add_call(CLI::App& app, int& status);
void add_bridge(CLI::App& app, int& status);
void add_selftest(CLI::App& app, int& status);
void add_playback(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_fpga(CLI::App& app, int& status);

} // namespace rocio::tools
