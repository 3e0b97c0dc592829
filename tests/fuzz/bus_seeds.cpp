#include "bus_bytes.hpp"

#include <rocio/fpga/packetizer.hpp>
#include <rocio/fpga/rssi_segment.hpp>
#include <rocio/fpga/srp.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

using namespace rocio;
using test::byte_string;

/// The first byte says who takes the rest; in a run of RSSI segments each is behind its length.
void write_seed(const std::filesystem::path& file, int taker, const byte_string& bytes) {
    std::ofstream out(file, std::ios::binary);
    out.put(static_cast<char>(taker));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

byte_string with_length(const byte_string& segment) {
    byte_string out{static_cast<std::byte>(segment.size())};
    out.insert(out.end(), segment.begin(), segment.end());
    return out;
}

byte_string rssi(const fpga::rssi_header& h, const byte_string& payload = {}) {
    byte_string out(h.size());
    encode(out, h);
    out.insert(out.end(), payload.begin(), payload.end());
    return with_length(out);
}

void write_seeds(const std::filesystem::path& corpus) {
    std::filesystem::create_directories(corpus);
    const auto data = test::words_of({1, 2});
    const auto read = encode(fpga::srp_request{.id = 7, .address = 0x100, .size = 8});
    const auto write = encode(fpga::srp_request{
        .opcode = fpga::srp_opcode::write, .id = 7, .address = 0x100, .size = 8, .data = data});
    write_seed(corpus / "read", 0, read);
    write_seed(corpus / "write", 0, write);
    write_seed(corpus / "reply", 1, fpga::encode_srp_reply(read, data, 0));
    write_seed(corpus / "refusal", 1, fpga::encode_srp_reply(read, {}, 0x103));
    byte_string frame;
    for (const auto& s : fpga::packetize(write, 32)) {
        const auto one = with_length(s);
        frame.insert(frame.end(), one.begin(), one.end());
    }
    write_seed(corpus / "frame", 2, frame);
    auto server = rssi({.syn = true, .sequence = 7});
    for (const auto& more : {rssi({.ack = true, .sequence = 8, .acknowledge = 100}, test::pattern(24)),
                             rssi({.ack = true, .nul = true, .sequence = 9, .acknowledge = 100}),
                             rssi({.rst = true, .sequence = 10})})
        server.insert(server.end(), more.begin(), more.end());
    write_seed(corpus / "server", 3, server);
    auto client = rssi({.syn = true, .ack = true, .sequence = 50, .acknowledge = 100});
    const auto more =
        rssi({.ack = true, .busy = true, .sequence = 51, .acknowledge = 101}, test::pattern(24));
    client.insert(client.end(), more.begin(), more.end());
    write_seed(corpus / "client", 4, client);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: bus_seeds IGNORED CORPUS\nWrites fuzzer seeds of the register buses.\n");
        return 2;
    }
    try {
        write_seeds(argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bus_seeds: %s\n", e.what());
        return 1;
    }
    return 0;
}
