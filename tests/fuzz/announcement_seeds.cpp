#include "hsb_announcements.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

using namespace rocio;

void write_seed(const std::filesystem::path& file, std::span<const std::byte> bytes) {
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

/// One of each format, whole and cut where the clock's fields begin.
void write_seeds(const std::filesystem::path& corpus) {
    std::filesystem::create_directories(corpus);
    for (const std::uint8_t format : {std::uint8_t{1}, std::uint8_t{2}}) {
        const test::raw_announcement raw(format);
        write_seed(corpus / ("format-" + std::to_string(format)), raw.view());
        write_seed(corpus / ("cut-" + std::to_string(format)), raw.view(236 + 41));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr,
                     "usage: announcement_seeds IGNORED CORPUS\nWrites fuzzer seeds: announcements.\n");
        return 2;
    }
    try {
        write_seeds(argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "announcement_seeds: %s\n", e.what());
        return 1;
    }
    return 0;
}
