#include "bench/pair_bench.hpp"

#include "lib/human.hpp"

#include <rocio/types/error.hpp>

namespace rocio::tools {

std::string_view name_of(pair_test test) noexcept {
    switch (test) {
    case pair_test::send:
        return "send";
    case pair_test::write:
        return "write";
    case pair_test::stream:
        return "stream";
    }
    return "unknown";
}

void fill_pattern(std::span<std::byte> bytes, bool dials) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(dials, i);
}

void check_pattern(std::span<const std::byte> bytes, bool dials) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == pattern(dials, i)) continue;
        throw exception({errc::bad_response, "byte " + std::to_string(i) + " of " +
                                                 std::to_string(bytes.size()) +
                                                 " is not the one the other side sent"});
    }
}

std::vector<double> half_round_trips(std::span<const std::chrono::steady_clock::time_point> sent,
                                     std::uint64_t warm_up) {
    std::vector<double> samples;
    for (std::size_t i = warm_up + 1; i < sent.size(); ++i)
        samples.push_back(std::chrono::duration<double, std::micro>(sent[i] - sent[i - 1]).count() / 2);
    return samples;
}

std::string progress_text(const pair_bench_config& config, std::uint64_t messages) {
    return "bench " + std::string(name_of(config.test)) + ": " + human_count(static_cast<double>(messages)) +
           " of " + human_count(static_cast<double>(config.messages())) + " messages";
}

} // namespace rocio::tools
