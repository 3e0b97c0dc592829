#include "commands/commands.hpp"
#include "original_names.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

namespace {

int run(int argc, char** argv) {
    CLI::App app{"rocio: RoCEv2 for Boost.Asio. Streams from FPGAs, on NICs and without any.", "rocio"};
    app.set_version_flag("--version", ROCIO_VERSION);
    app.require_subcommand(1);
    app.footer("Try: rocio demo --seconds 5\nEvery command has its own --help.");
    int status = 0;
    rocio::tools::add_devices(app, status);
    rocio::tools::add_doctor(app, status);
    rocio::tools::add_fpga(app, status);
    rocio::tools::add_recv(app, status);
    rocio::tools::add_emulate(app, status);
    rocio::tools::add_demo(app, status);
    rocio::tools::add_serve(app, status);
    rocio::tools::add_call(app, status);
    rocio::tools::add_bridge(app, status);
    rocio::tools::add_playback(app, status);
    rocio::tools::add_selftest(app, status);
    rocio::tools::add_bench(app, status);
    rocio::tools::add_dump(app, status);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        std::cerr << "rocio: " << e.what() << "\n";
        return 2;
    }
    return status;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (const auto status = rocio::tools::run_as_original(argc, argv)) return *status;
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "rocio: " << e.what() << "\n";
        return 1;
    }
}
