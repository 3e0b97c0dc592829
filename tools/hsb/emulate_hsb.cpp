#include "commands/stream_support.hpp"
#include "hsb/sensor_command.hpp"
#include "hsb/sensor_emulator.hpp"
#include "hsb/sensor_options.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/io/completion_engine.hpp>
#include <rocio/types/gid_table.hpp>

#include <boost/asio/co_spawn.hpp>

#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

constexpr double default_rate = 60;

/// Where frames come from is where the board is found.
asio::ip::address own_address(device& dev, const emulate_hsb_options& o) {
    std::vector<gid_table_entry> table;
    throw_if(dev.gid_table(o.ib_port, table));
    for (const auto& entry : table) {
        if (o.gid_index && entry.index != *o.gid_index) continue;
        if (const auto v4 = entry.value.v4(); v4 && entry.type == gid_type::roce_v2)
            return asio::ip::address_v4(*v4);
    }
    throw exception({errc::no_usable_gid, dev.name() + " has no IPv4 address, which an HSB board needs: give "
                                                       "another --device or --gid-index"});
}

sensor_emulator_config config_of(const emulate_hsb_options& o, const std::shared_ptr<device>& dev) {
    sensor_emulator_config c;
    c.stream.device = dev;
    c.stream.ib_port = o.ib_port;
    c.stream.gid_index = o.gid_index;
    c.stream.rate = o.rate.value_or(default_rate);
    c.stream.count = o.count;
    c.stream.memory = o.memory;
    c.stream.error = [](const std::string& text) { say(text); };
    c.board.ip_version = o.ip_version;
    c.board.virtual_ports = o.virtual_ports;
    c.board.data_plane = o.data_plane;
    const auto address = o.control_address.empty()
                             ? own_address(*dev, o)
                             : parse_udp_endpoint("--hsb-address", o.control_address, 0).address();
    c.control = {address, o.control_port};
    if (o.announce_to != "off")
        c.announce_to = parse_udp_endpoint("--announce", o.announce_to, fpga::hsb_announcement_port);
    return c;
}

report report_of(const sensor_emulator& board, const std::string& device_name) {
    const auto counts = board.counts();
    report r;
    r.device = device_name;
    r.frames = counts.frames;
    r.bytes = counts.bytes;
    r.elapsed = board.elapsed();
    r.corrupt = counts.send_errors;
    r.more["packets"] = counts.packets;
    r.more["starts"] = counts.starts;
    r.more["send_errors"] = counts.send_errors;
    r.more["control_requests"] = board.board().counts().datagrams;
    r.more["control_refused"] = board.board().counts().refused;
    return r;
}

} // namespace

int emulate_hsb(const emulate_hsb_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(command_log(o.log));
    const auto dev = open_device(o.device, o.opening);
    sensor_emulator board(context, config_of(o, dev));
    const auto where = board.control_endpoint();
    say("HSB board at " + where.address().to_string() + ":" + std::to_string(where.port()) + " on " +
        dev->name());
    live_line live(context.get_executor(),
                   [&] { return human_count(static_cast<double>(board.counts().frames)) + " frames sent"; });
    end_of_run end(context, o.seconds, [&] { board.stop(); });
    asio::co_spawn(context, board.run(), [&](const std::exception_ptr& e) {
        live.stop();
        end.cancel();
        if (e) std::rethrow_exception(e);
    });
    context.run();
    return conclude(report_of(board, dev->name()), o.json);
}

} // namespace rocio::tools
