#include "bench/pair_bench.hpp"

#include <rocio/types/error.hpp>

namespace rocio::tools {

void fill_pattern(std::span<std::byte> bytes, bool dials, std::size_t buffer) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(dials, i, buffer);
}

void check_pattern(std::span<const std::byte> bytes, bool dials) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == pattern(dials, i)) continue;
        throw exception({errc::bad_response, "byte " + std::to_string(i) + " of " +
                                                 std::to_string(bytes.size()) +
                                                 " is not the one the other side sent"});
    }
}

error_info wrong_number(std::uint64_t expected, std::optional<std::uint32_t> found) {
    return {errc::bad_response, "message " + std::to_string(expected) + " came with " +
                                    (found ? "the number " + std::to_string(*found) : "no number")};
}

std::vector<double> half_round_trips(std::span<const std::chrono::steady_clock::time_point> sent,
                                     std::uint64_t warm_up) {
    std::vector<double> samples;
    for (std::size_t i = warm_up + 1; i < sent.size(); ++i)
        samples.push_back(std::chrono::duration<double, std::micro>(sent[i] - sent[i - 1]).count() / 2);
    return samples;
}

} // namespace rocio::tools
