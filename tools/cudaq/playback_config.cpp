#include "cudaq/playback_config.hpp"

#include "cudaq/playback_windows.hpp"

#include <charconv>

namespace rocio::tools {

namespace {

using fpga::hsb::page_unit;

constexpr std::uint32_t most_pages = 4096; // 12 bits of the last page's index
constexpr std::uint32_t most_messages = 100'000'000;
/// The FPGA counts pages of 128 bytes in 32 bits.
constexpr std::uint64_t buffer_end = std::uint64_t{1} << 39;

error_info refused(const std::string& what) {
    return {errc::invalid_argument, what};
}

error_info check_ring(const playback_config& c) {
    if (c.page_size == 0 || c.page_size % page_unit != 0)
        return refused("page size " + std::to_string(c.page_size) +
                       ": must be a multiple of 128, as the bridge's");
    if (c.buffer % page_unit != 0) return refused("the bridge's buffer address must be a multiple of 128");
    if (c.pages < 1 || c.pages > most_pages)
        return refused(std::to_string(c.pages) + " pages: allowed are 1 to " + std::to_string(most_pages));
    if (c.page_size < window_bytes(c.payload_size))
        return refused("page size " + std::to_string(c.page_size) + ": a payload of " +
                       std::to_string(c.payload_size) + " bytes needs windows of " +
                       std::to_string(window_bytes(c.payload_size)));
    if (c.buffer >= buffer_end || std::uint64_t{c.page_size} * c.pages > buffer_end - c.buffer)
        return refused("the bridge's buffer ends above 512 GiB, which the FPGA cannot address");
    return {};
}

error_info check_messages(const playback_config& c) {
    if (c.messages < 1 || c.messages > most_messages)
        return refused(std::to_string(c.messages) + " messages: allowed are 1 to " +
                       std::to_string(most_messages));
    if (c.payload_size > longest_payload())
        return refused("payload of " + std::to_string(c.payload_size) + " bytes: allowed are at most " +
                       std::to_string(longest_payload()) + ", what the player's memory holds");
    if (c.loop && c.messages > windows_that_fit(c.payload_size))
        return refused(std::to_string(c.messages) + " messages in a loop: the player's memory holds " +
                       std::to_string(windows_that_fit(c.payload_size)));
    return {};
}

} // namespace

error_info validate(const playback_config& c) {
    using namespace std::chrono_literals;
    if (auto bad = fpga::validate(c.channel)) return bad;
    if (c.control.port() == 0 || c.control.address().is_unspecified())
        return refused("no control address: give the FPGA's or the emulator's, with its port");
    if (auto bad = check_messages(c)) return bad;
    if (auto bad = check_ring(c)) return bad;
    if (c.loop && c.verify)
        return refused(
            "--loop requires --no-verify because a continuous loop has no finite ILA response sequence");
    if (!c.emulator && !c.bridge_mac)
        return refused("an FPGA needs the MAC address of the bridge's port (an emulator: --emulator)");
    if (c.reply_timeout < 1ms || c.poll_interval < 1ms || c.unverified_wait < 0ms ||
        c.capture_settling < 0ms || c.restart_wait < 0ms || c.spacing < 0us || c.spacing > 10s)
        return refused("reply timeout and poll interval are at least 1 ms, the spacing at most 10 s");
    return {};
}

std::optional<mac_address> parse_mac(const std::string& text) {
    mac_address mac{};
    if (text.size() != 17) return std::nullopt;
    for (std::size_t i = 0; i < mac.size(); ++i) {
        const char* const at = text.data() + 3 * i;
        const auto parsed = std::from_chars(at, at + 2, mac[i], 16);
        if (parsed.ec != std::errc() || parsed.ptr != at + 2) return std::nullopt;
        if (i + 1 < mac.size() && at[2] != ':') return std::nullopt;
    }
    return mac;
}

} // namespace rocio::tools
