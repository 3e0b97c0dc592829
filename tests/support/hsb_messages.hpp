#pragma once

#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_registers.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rocio::test {

using hsb_registers = std::vector<fpga::hsb_register>;

/// A request as a client sends it, answered by default.
inline std::vector<std::byte> hsb_datagram(fpga::hsb_command command, std::uint16_t sequence,
                                           const hsb_registers& registers,
                                           std::uint8_t flags = fpga::hsb_flags::acknowledge) {
    std::vector<std::byte> out(fpga::hsb_max_datagram);
    const auto n = fpga::encode_request(out, command, flags, sequence, registers);
    if (n == 0) throw std::invalid_argument("no such request");
    out.resize(n);
    return out;
}

/// The words that put `windows`, of one length, into the player's memory.
inline hsb_registers bram_words(const std::vector<std::vector<std::byte>>& windows) {
    using namespace fpga::hsb;
    hsb_registers out;
    for (std::uint32_t w = 0; w < windows.size(); ++w) {
        const auto beats = bram::cycles(static_cast<std::uint32_t>(windows[w].size()));
        auto padded = windows[w];
        padded.resize(std::size_t{beats} * bram::beat_bytes);
        for (std::size_t at = 0; at < padded.size(); at += 4) {
            std::uint32_t value = 0;
            for (std::size_t i = 0; i < 4; ++i)
                value |= std::to_integer<std::uint32_t>(padded[at + i]) << (8 * i);
            const auto cycle = static_cast<std::uint32_t>(at / bram::beat_bytes);
            const auto bank = static_cast<std::uint32_t>(at % bram::beat_bytes / 4);
            out.push_back({bram::address(w, cycle, beats, bank), value});
        }
    }
    return out;
}

/// The player for so many windows.
inline hsb_registers player_words(std::uint32_t windows, std::uint32_t window_bytes,
                                  std::uint32_t timer = 322) {
    using namespace fpga::hsb;
    return {{player::window_size, window_bytes}, {player::window_number, windows}, {player::timer, timer}};
}

} // namespace rocio::test
