#include "cudaq/playback_windows.hpp"

#include <rocio/fpga/hsb_registers.hpp>
#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/request_header.hpp>

#include <algorithm>
#include <span>

namespace rocio::tools {

namespace {

namespace bram = fpga::hsb::bram;

constexpr rpc::function_id increment("rpc_increment");

std::uint32_t little_endian_word(std::span<const std::byte> bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i-- > 0;) word = word << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    return word;
}

void append_window(std::vector<fpga::hsb_register>& image, std::uint32_t window,
                   std::span<const std::byte> bytes) {
    const auto beats = static_cast<std::uint32_t>(bytes.size() / bram::beat_bytes);
    for (std::uint32_t beat = 0; beat < beats; ++beat) {
        for (std::uint32_t bank = 0; bank < bram::banks; ++bank) {
            const auto at = std::size_t{beat} * bram::beat_bytes + std::size_t{bank} * 4;
            image.push_back({bram::address(window, beat, beats, bank), little_endian_word(bytes, at)});
        }
    }
}

} // namespace

std::uint32_t window_bytes(std::uint32_t payload_size) noexcept {
    constexpr auto header = static_cast<std::uint32_t>(rpc::request_header::size);
    return bram::cycles(header + payload_size) * bram::beat_bytes;
}

std::vector<std::byte> make_window(std::uint32_t request_id, std::uint32_t payload_size) {
    std::vector<std::byte> window(window_bytes(payload_size));
    const rpc::request_header header{
        .function = increment.value(), .arg_len = payload_size, .request_id = request_id, .timestamp = 0};
    static_cast<void>(header.encode(window));
    for (std::uint32_t j = 0; j < payload_size; ++j)
        window[rpc::request_header::size + j] = static_cast<std::byte>(request_id + j);
    return window;
}

std::uint32_t windows_that_fit(std::uint32_t payload_size) noexcept {
    return payload_size > longest_payload() ? 0 : bram::size / window_bytes(payload_size);
}

std::uint32_t longest_payload() noexcept {
    return bram::size - static_cast<std::uint32_t>(rpc::request_header::size);
}

std::vector<playback_pass> split_into_passes(std::uint32_t messages, std::uint32_t payload_size,
                                             std::uint32_t pages) {
    const auto most = windows_that_fit(payload_size);
    if (most == 0) return {};
    const auto laps = pages == 0 ? 0 : most / pages * pages;
    const auto step = messages > most && laps > 0 ? laps : most;
    std::vector<playback_pass> passes;
    for (std::uint32_t first = 0; first < messages; first += passes.back().count)
        passes.push_back({first, std::min(step, messages - first)});
    return passes;
}

std::vector<fpga::hsb_register> bram_image(const playback_pass& pass, std::uint32_t payload_size) {
    std::vector<fpga::hsb_register> image;
    image.reserve(std::size_t{pass.count} * window_bytes(payload_size) / 4);
    for (std::uint32_t i = 0; i < pass.count; ++i)
        append_window(image, i, make_window(pass.first + i, payload_size));
    return image;
}

} // namespace rocio::tools
