#include "commands/fpga_options.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace rocio::tools {

namespace {

constexpr const char* group = "With --fpga slac";

std::string contents_of(const std::string& file) {
    std::ifstream in(file);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (in) return text.str();
    const error_code ec(errno != 0 ? errno : EIO, boost::system::system_category());
    throw exception({ec, "--board " + file + ": " + ec.message()});
}

} // namespace

CLI::Option* add_bus_option(CLI::App& app, bus_kind& value) {
    return app
        .add_option_function<std::string>(
            "--bus",
            [&value](const std::string& text) {
                const auto kind = parse_bus_kind(text);
                if (!kind) {
                    throw CLI::ValidationError(
                        "--bus", "\"" + text + "\" is not possible; allowed: srp-udp, srp-rssi, zmq");
                }
                value = *kind;
            },
            "What carries the words to the board's registers")
        ->type_name("srp-udp|srp-rssi|zmq")
        ->default_str(std::string(to_string(value)));
}

void slac_options::add_to(CLI::App& app) {
    const auto keep = [this](CLI::Option* option) { options_.push_back(option->group(group)); };
    keep(add_bus_option(app, bus));
    keep(app.add_option("--registers", registers,
                        "ADDRESS[:PORT] of the registers; default: the FPGA's address, port 8192; with zmq "
                        "127.0.0.1:10000. Once for each --fpga-ip"));
    keep(app.add_option("--board", board_file, "A file of lines name = value, for the options below")
             ->option_text("FILE"));
    const auto engine = [&](const char* name, const char* value, const char* what) {
        keep(app.add_option_function<std::string>(
                    "--" + std::string(name),
                    [this, name](const std::string& text) {
                        fpga::slac_engine_config trial;
                        if (auto e = fpga::set_option(trial, name, text))
                            throw CLI::ValidationError("--" + std::string(name), e.text);
                        said_.emplace_back(name, text);
                    },
                    what)
                 ->type_name(value));
    };
    engine("engine-base", "ADDRESS", "Registers of the RoCEv2 engine (0x150000)");
    engine("udp-base", "ADDRESS", "Registers of the UDP engine (0x110000)");
    engine("udp-client", "N", "Its client that carries RoCEv2 (0)");
    engine("roce-port", "PORT", "UDP port of the FPGA's RoCEv2 packets (4791)");
    engine("prbs-base", "ADDRESS", "Registers of a PRBS source that is to be switched on and off too");
    engine("sqpn", "host|fpga", "Whose queue pair number the SQpn register gets (host)");
    app.add_flag("!--no-udp-engine", program_udp, "Leave the host's address in the UDP engine alone")
        ->group(group);
}

void slac_options::refuse_given(const std::string& unless) const {
    for (const auto* option : options_) {
        if (option->count() > 0)
            throw CLI::ValidationError(option->get_name(), "does nothing without " + unless);
    }
}

fpga::slac_engine_config slac_options::engine() const {
    fpga::slac_engine_config c;
    if (!board_file.empty()) {
        if (auto e = fpga::parse_board_file(contents_of(board_file), c))
            throw exception({e.code, "--board " + board_file + ": " + e.text});
    }
    for (const auto& [name, value] : said_) throw_if(fpga::set_option(c, name, value));
    throw_if(fpga::validate(c));
    return c;
}

register_place slac_options::place(std::size_t n, const std::vector<std::string>& boards) const {
    if (!registers.empty() && registers.size() != boards.size()) {
        throw exception({errc::invalid_argument, "--registers is given " + std::to_string(registers.size()) +
                                                     " times and --fpga-ip " + std::to_string(boards.size()) +
                                                     " times: give one for each, or none"});
    }
    return parse_register_place(bus, registers.empty() ? std::string() : registers[n], boards[n]);
}

} // namespace rocio::tools
