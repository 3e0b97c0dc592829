#include "paths.hpp"

#include <cstdio>
#include <exception>
#include <string_view>

namespace rocio::test {

peer_parameters some_peer() {
    peer_parameters p;
    p.address = gid::parse("10.0.0.2").value();
    p.queue_pair = qpn{0xABCDEF};
    p.region.key.value = 0x77;
    p.region.length = 1U << 30;
    return p;
}

namespace {

std::vector<measured_path> all_paths() {
    std::vector<measured_path> all;
    for (auto* part : {plain_paths, queue_pair_paths, stream_paths, ring_paths}) {
        for (auto& path : part()) all.push_back(std::move(path));
    }
    return all;
}

void print_help() {
    std::puts(
        "usage: instructions_program [PATH...]\n\n"
        "Runs each way of a message (all of them by default) over a device whose completions are always\n"
        "ready, and prints one JSON object per way: messages, allocations, clock reads. Instructions are\n"
        "counted by tests/instructions/count_instructions, which runs this under callgrind.\n");
    for (const auto& path : all_paths()) std::printf("  %-24s %s\n", path.name.c_str(), path.what.c_str());
}

void run(const measured_path& path) {
    user::meter count;
    path.run(count);
    user::dump(path.name);
    std::printf("{\"path\": \"%s\", \"messages\": %llu, \"allocations\": %llu, \"clock_reads\": %llu}\n",
                path.name.c_str(), static_cast<unsigned long long>(count.messages()),
                static_cast<unsigned long long>(count.allocations()),
                static_cast<unsigned long long>(count.clock_reads()));
    std::fflush(stdout);
}

int run_all(const std::vector<std::string_view>& wanted) {
    for (const auto name : wanted) {
        bool known = false;
        for (const auto& path : all_paths()) known |= path.name == name;
        if (known) continue;
        std::fprintf(stderr, "instructions_program: no path \"%.*s\"; --help names them\n",
                     static_cast<int>(name.size()), name.data());
        return 2;
    }
    for (const auto& path : all_paths()) {
        bool chosen = wanted.empty();
        for (const auto name : wanted) chosen |= path.name == name;
        if (chosen) run(path);
    }
    return 0;
}

} // namespace
} // namespace rocio::test

int main(int argc, char** argv) {
    std::vector<std::string_view> wanted(argv + 1, argv + argc);
    for (const auto word : wanted) {
        if (word == "--help" || word == "-h") return rocio::test::print_help(), 0;
    }
    try {
        return rocio::test::run_all(wanted);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "instructions_program: %s\n", e.what());
        return 1;
    }
}
