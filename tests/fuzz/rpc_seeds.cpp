#include "rpc_messages.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

using namespace rocio;
using test::byte_vector;
using test::packed;

void write_seed(const std::filesystem::path& file, const byte_vector& bytes) {
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

/// A request for each function of rpc_examiner, and an answer for each of its calls.
void write_seeds(const std::filesystem::path& corpus) {
    std::filesystem::create_directories(corpus);
    const auto request = [&](const char* name, const byte_vector& arguments) {
        write_seed(corpus / (std::string("request-") + name), test::request_bytes(name, arguments));
    };
    request("addThem", packed(std::int64_t{2}, std::int64_t{3}));
    request("floats", packed(1.0F, 2.0F, std::uint8_t{3}));
    request("bits", packed(1.5, std::bitset<13>(0x1001)));
    request("rpc_increment", byte_vector(9, std::byte{7}));
    request("claims", byte_vector(3));
    request("slots", test::response_bytes({.request_id = 7}, byte_vector(8)));
    request("nobody", {});
    const std::array results{packed(std::int64_t{5}), packed(1.0F, 2.0F),
                             packed(std::uint8_t{1}, std::bitset<13>(9)), byte_vector()};
    for (std::uint32_t id = 1; id <= results.size(); ++id) {
        write_seed(corpus / ("answer-" + std::to_string(id)),
                   test::response_bytes({.request_id = id, .timestamp = id}, results[id - 1]));
        write_seed(corpus / ("status-" + std::to_string(id)),
                   test::response_bytes({.request_id = id}, {}, -1));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: rpc_seeds IGNORED CORPUS\nWrites fuzzer seeds: requests and answers.\n");
        return 2;
    }
    try {
        write_seeds(argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "rpc_seeds: %s\n", e.what());
        return 1;
    }
    return 0;
}
