#include "roce_capture.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

namespace {

using namespace rocio;

/// One seed for each opcode, pad count and kind of syndrome is enough: the fuzzer finds the rest.
using kind = std::pair<std::array<unsigned, 3>, std::size_t>;

kind kind_of(const test::captured_packet& packet) {
    const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(packet.bytes[i]); };
    return {{byte(0), byte(1), byte(12) >> 5}, packet.bytes.size() / 256};
}

void write_seeds(const std::filesystem::path& captures, const std::filesystem::path& corpus) {
    std::filesystem::create_directories(corpus);
    std::set<kind> seen;
    for (const auto& packet : test::load_captures(captures)) {
        if (!seen.insert(kind_of(packet)).second) continue;
        std::ofstream out(corpus / (packet.file + "-" + std::to_string(packet.frame_number)),
                          std::ios::binary);
        out.write(reinterpret_cast<const char*>(packet.bytes.data()),
                  static_cast<std::streamsize>(packet.bytes.size()));
        if (!out.flush()) throw std::runtime_error("cannot write to " + corpus.string());
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: packet_seeds CAPTURES CORPUS\nWrites fuzzer seeds from the captures.\n");
        return 2;
    }
    try {
        write_seeds(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "packet_seeds: %s\n", e.what());
        return 1;
    }
    return 0;
}
