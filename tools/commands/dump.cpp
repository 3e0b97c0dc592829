#include "commands/commands.hpp"
#include "lib/capture_reader.hpp"

#include <rocio/wire/packet.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

namespace rocio::tools {

namespace {

struct dump_options {
    std::string file{};
    bool bad_only = false;
    bool json = false;
};

struct dump_counts {
    std::uint64_t frames = 0, packets = 0, bad_icrc = 0, malformed = 0, cut = 0;
    bool good() const noexcept { return bad_icrc + malformed + cut == 0; }
};

/// "ok" or what is wrong, counted.
std::string verdict_on(const captured_datagram& d, dump_counts& counts) {
    if (d.cut) return ++counts.cut, "CUT in the capture";
    wire::packet_view packet;
    if (const auto bad = wire::packet_view::parse(d.bytes, packet); bad != wire::malformed::none)
        return ++counts.malformed, "MALFORMED: " + std::string(to_string(bad));
    if (!wire::icrc_engine(d.flow).check_exact(d.bytes, d.ip_id.value_or(0)))
        return ++counts.bad_icrc, "ICRC BAD";
    return "ICRC ok";
}

std::string text_of(const captured_datagram& d) {
    wire::packet_view packet;
    if (d.cut || wire::packet_view::parse(d.bytes, packet) != wire::malformed::none)
        return std::to_string(d.bytes.size()) + " bytes";
    return to_text(packet);
}

void print_line(const captured_frame& frame, const captured_datagram& d, const std::string& verdict,
                std::chrono::nanoseconds since) {
    std::ostringstream line;
    line << std::setw(6) << frame.number << std::fixed << std::setprecision(6) << std::setw(13)
         << std::chrono::duration<double>(since).count() << "  " << d.flow.source.to_address_string() << " > "
         << d.flow.destination.to_address_string() << "  " << text_of(d) << "  [" << verdict << "]\n";
    std::cout << line.str();
}

void print_summary(const dump_options& o, const dump_counts& c) {
    if (o.json) {
        std::cout << boost::json::serialize(boost::json::object{{"frames", c.frames},
                                                                {"packets", c.packets},
                                                                {"bad_icrc", c.bad_icrc},
                                                                {"malformed", c.malformed},
                                                                {"cut", c.cut}})
                  << "\n";
        return;
    }
    std::cout << c.packets << " RoCEv2 packets in " << c.frames << " frames: " << c.bad_icrc
              << " with a bad ICRC, " << c.malformed << " malformed, " << c.cut << " cut\n";
}

int dump(const dump_options& o) {
    std::unique_ptr<capture_reader> reader;
    throw_if(capture_reader::open(o.file, reader));
    dump_counts counts;
    captured_frame frame;
    error_info damaged;
    std::chrono::nanoseconds start{0};
    while (reader->next(frame, damaged)) {
        if (++counts.frames == 1) start = frame.time;
        const auto datagram = reader->datagram_in(frame);
        if (!datagram) continue;
        ++counts.packets;
        const auto before = counts;
        const auto verdict = verdict_on(*datagram, counts);
        const bool bad = counts.bad_icrc + counts.malformed + counts.cut !=
                         before.bad_icrc + before.malformed + before.cut;
        if (bad || !o.bad_only) print_line(frame, *datagram, verdict, frame.time - start);
    }
    print_summary(o, counts);
    throw_if(damaged);
    return counts.good() ? 0 : 1;
}

} // namespace

void add_dump(CLI::App& app, int& status) {
    auto* command = app.add_subcommand(
        "dump", "Prints the RoCEv2 packets of a capture file and checks their ICRCs; status 1 if one is bad");
    auto o = std::make_shared<dump_options>();
    command
        ->add_option("file", o->file,
                     "pcap or pcapng file, as tcpdump -w or --pcap wrote it; - for standard input")
        ->required();
    command->add_flag("--bad", o->bad_only, "Print only packets with something wrong");
    command->add_flag("--json", o->json, "The summary as one JSON object on the last line");
    command->callback([o, &status] { status = dump(*o); });
}

} // namespace rocio::tools
