#include "original_names.hpp"

#include "cudaq/bridge_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::tools {

namespace {

/// What a program makes of an argument that it does not know.
enum class unknown_argument : std::uint8_t { ends_it, is_ignored };

struct program {
    std::string_view name;
    void (*add_options)(CLI::App& app, int& status);
    unknown_argument unknown;
};

constexpr std::array programs{
    program{"hsb_bridge_cpu", add_hsb_bridge_cpu, unknown_argument::ends_it},
    program{"hsb_fpga_emulator", add_hsb_fpga_emulator, unknown_argument::is_ignored},
    program{"hsb_fpga_playback", add_hsb_fpga_playback, unknown_argument::is_ignored},
};

/// Options with a value are `--name=VALUE` in one word, flags are bare; anything else is unknown.
bool knows(const CLI::App& app, const std::string& argument) {
    const auto equals = argument.find('=');
    const auto* option = app.get_option_no_throw(argument.substr(0, equals));
    if (option == nullptr || !argument.starts_with("--")) return false;
    return (option->get_expected_max() > 0) == (equals != std::string::npos);
}

int failed(const std::string& why) {
    std::cerr << "ERROR: " << why << std::endl;
    return 1;
}

int run(const program& it, int argc, char** argv) {
    CLI::App app{"Stands in for CUDA-Q's program of this name.", std::string(it.name)};
    int status = 0;
    it.add_options(app, status);
    for (auto* option : app.get_options()) option->take_last();
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help" || argument == "-h") {
            std::cout << app.help();
            return 0;
        }
        if (knows(app, argument)) {
            arguments.push_back(argument);
        } else if (it.unknown == unknown_argument::ends_it) {
            std::cerr << "Unknown argument: " << argument << "  (use --help)" << std::endl;
            return 0;
        }
    }
    std::ranges::reverse(arguments); // as CLI11 wants a vector
    try {
        app.parse(std::move(arguments));
    } catch (const std::exception& e) {
        return failed(e.what());
    }
    return status;
}

} // namespace

std::optional<int> run_as_original(int argc, char** argv) {
    if (argc < 1) return std::nullopt;
    const std::string_view path = argv[0];
    const auto name = path.substr(path.rfind('/') + 1);
    const auto* const found = std::ranges::find(programs, name, &program::name);
    if (found == programs.end()) return std::nullopt;
    return run(*found, argc, argv);
}

} // namespace rocio::tools
