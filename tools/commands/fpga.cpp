#include "commands/commands.hpp"
#include "commands/fpga_options.hpp"
#include "slac/register_access.hpp"

#include <rocio/fpga/hsb_control_client.hpp>
#include <rocio/fpga/run_program.hpp>
#include <rocio/fpga/slac_programs.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct fpga_options {
    std::string board{};
    std::string bus = "srp-udp";
    std::string registers{};
    fpga::slac_engine_config engine{};
    std::uint32_t address = 0;
    std::uint32_t count = 1;
    std::uint32_t value = 0;
    bool json = false;

    bool is_hsb() const noexcept { return bus == "hsb"; }
};

std::string hex(std::uint32_t value) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%08x", value);
    return text.data();
}

fpga::any_register_bus open(asio::io_context& context, const fpga_options& o) {
    const auto kind = parse_bus_kind(o.bus).value_or(bus_kind::srp_udp);
    const auto place = parse_register_place(kind, o.registers, o.board);
    if (!o.is_hsb()) return open_register_bus(context, place);
    return fpga::hsb_control_client(context,
                                    asio::ip::udp::endpoint(place.where.address(), place.where.port()));
}

asio::awaitable<std::uint32_t> read_word(fpga::any_register_bus& bus, std::uint32_t address) {
    error_code ec;
    const auto value = co_await bus.async_read(address, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(bus.last_error());
    co_return value;
}

asio::awaitable<void> read(fpga::any_register_bus bus, fpga_options o) {
    json::array words;
    for (std::uint32_t i = 0; i < o.count; ++i) {
        const auto address = o.address + 4 * i;
        const auto value = co_await read_word(bus, address);
        words.push_back(json::object{{"address", hex(address)}, {"value", hex(value)}});
        if (!o.json) std::cout << hex(address) << "  " << hex(value) << "\n";
    }
    if (o.json) std::cout << json::serialize(json::object{{"registers", std::move(words)}}) << std::endl;
}

asio::awaitable<void> write(fpga::any_register_bus bus, fpga_options o) {
    error_code ec;
    co_await bus.async_write(o.address, o.value, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(bus.last_error());
    if (o.json)
        std::cout << json::serialize(json::object{{"address", hex(o.address)}, {"value", hex(o.value)}})
                  << std::endl;
}

void print(const json::object& values, bool as_json) {
    if (as_json) {
        std::cout << json::serialize(values) << std::endl;
        return;
    }
    for (const auto& [name, value] : values) {
        std::cout << std::string(name) << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ')
                  << (value.is_string() ? std::string(value.as_string()) : json::serialize(value)) << "\n";
    }
}

asio::awaitable<void> slac_info(fpga::any_register_bus bus, fpga_options o) {
    const auto& c = o.engine;
    auto counters = std::make_shared<fpga::slac_engine_counters>();
    auto program = std::make_shared<fpga::slac_read_counters>(c, counters);
    error_code ec;
    co_await fpga::async_run(bus, program, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(program->result());
    const auto client = c.udp_base + c.udp_client * c.map.udp_client_stride;
    const auto ip = co_await read_word(bus, client + c.map.udp_remote_ip);
    const auto port = co_await read_word(bus, client + c.map.udp_remote_port);
    const auto core = [&](std::uint32_t offset) { return read_word(bus, c.engine_base + offset); };
    json::object values;
    const auto dispatch = co_await core(c.map.dispatch_enable);
    const auto max_size = co_await core(c.map.max_size);
    const auto lkey = co_await core(c.map.lkey);
    const auto sqpn = co_await core(c.map.sqpn);
    const auto wrap = co_await core(c.map.address_wrap_count);
    values["dispatch_enable"] = dispatch & 1;
    values["max_size"] = max_size;
    values["lkey"] = hex(lkey);
    values["sqpn"] = hex(sqpn);
    values["addr_wrap_count"] = wrap;
    values["host_ip"] = std::to_string(ip & 0xFF) + "." + std::to_string(ip >> 8 & 0xFF) + "." +
                        std::to_string(ip >> 16 & 0xFF) + "." + std::to_string(ip >> 24);
    values["host_port"] = (port & 0xFF) << 8 | (port >> 8 & 0xFF);
    values["success"] = counters->success;
    values["unsuccess"] = counters->unsuccess;
    values["oversize"] = counters->oversize;
    values["frames"] = counters->frames;
    values["frames_per_second"] = counters->frames_per_second;
    values["bytes_per_second"] = counters->bytes_per_second;
    print(values, o.json);
}

asio::awaitable<void> hsb_info(fpga::any_register_bus bus, fpga_options o) {
    json::object values;
    const auto version = co_await read_word(bus, 0x80); // HSB_IP_VERSION
    const auto date = co_await read_word(bus, 0x84);    // FPGA_DATE
    values["hsb_ip_version"] = hex(version & 0xFFFF);
    values["build_date"] = hex(date);
    print(values, o.json);
}

template <class Work>
int run(const fpga_options& o, Work work) {
    asio::io_context context(1);
    std::exception_ptr failure;
    {
        auto bus = open(context, o);
        asio::co_spawn(context, work(bus, o), [&](const std::exception_ptr& e) {
            failure = e;
            context.stop(); // an RSSI connection would go on
        });
    }
    context.run();
    if (failure) std::rethrow_exception(failure);
    return 0;
}

std::uint32_t parse_word(const std::string& option, const std::string& text) {
    std::size_t used = 0;
    unsigned long long value = 0;
    try {
        value = std::stoull(text, &used, 0);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size() || text[0] == '-' || value > 0xFFFFFFFF)
        throw CLI::ValidationError(option, "\"" + text + "\" is not possible; allowed: 0 to 0xffffffff");
    return static_cast<std::uint32_t>(value);
}

std::uint32_t parse_register(const std::string& text) {
    const auto address = parse_word("ADDRESS", text);
    if (address % 4 == 0) return address;
    throw CLI::ValidationError("ADDRESS", text + " is no multiple of 4");
}

void add_place(CLI::App& app, const std::shared_ptr<fpga_options>& o) {
    app.add_option("--fpga-ip", o->board, "Address of the FPGA")->required();
    app.add_option("--bus", o->bus, "What carries the words")
        ->check(CLI::IsMember({"srp-udp", "srp-rssi", "zmq", "hsb"}))
        ->capture_default_str();
    app.add_option("--registers", o->registers,
                   "ADDRESS[:PORT] of the registers; default: the FPGA's address, port 8192; with zmq "
                   "127.0.0.1:10000");
    app.add_flag("--json", o->json, "print the result as one JSON object on the last line of stdout");
}

void add_address(CLI::App& app, const std::shared_ptr<fpga_options>& o) {
    app.add_option_function<std::string>(
           "ADDRESS", [o](const std::string& text) { o->address = parse_register(text); }, "In bytes")
        ->required();
}

} // namespace

void add_fpga(CLI::App& app, int& status) {
    auto* command = app.add_subcommand("fpga", "Reads and writes registers of an FPGA");
    command->require_subcommand(1);
    auto o = std::make_shared<fpga_options>();

    auto* reading = command->add_subcommand("read", "Reads registers");
    add_address(*reading, o);
    reading->add_option("COUNT", o->count, "How many, one after the other")->check(CLI::Range(1U, 65536U));
    add_place(*reading, o);
    reading->callback([o, &status] { status = run(*o, read); });

    auto* writing = command->add_subcommand("write", "Writes a register");
    add_address(*writing, o);
    writing
        ->add_option_function<std::string>(
            "VALUE", [o](const std::string& text) { o->value = parse_word("VALUE", text); }, "32 bits")
        ->required();
    add_place(*writing, o);
    writing->callback([o, &status] { status = run(*o, write); });

    auto* info = command->add_subcommand("info", "What the board is and does");
    for (const char* base : {"engine-base", "udp-base", "udp-client"}) {
        info->add_option_function<std::string>(
            "--" + std::string(base),
            [o, base](const std::string& text) {
                if (auto e = fpga::set_option(o->engine, base, text))
                    throw CLI::ValidationError("--" + std::string(base), e.text);
            },
            "As in `rocio recv --fpga slac`");
    }
    add_place(*info, o);
    info->callback([o, &status] { status = o->is_hsb() ? run(*o, hsb_info) : run(*o, slac_info); });
}

} // namespace rocio::tools
