#include <rocio/stream/receive_server_text.hpp>

#include <array>
#include <cstdio>

namespace rocio {

namespace {

std::string hex(std::uint64_t value, int digits = 1) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%0*llx", digits, static_cast<unsigned long long>(value));
    return text.data();
}

/// "  Host QPN         : value", a line of a block.
std::string line(const char* label, const std::string& value) {
    std::array<char, 32> padded{};
    std::snprintf(padded.data(), padded.size(), "  %-15s: ", label);
    return padded.data() + value + "\n";
}

std::string milliseconds(rnr_timer timer) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f ms",
                  std::chrono::duration<double, std::milli>(timer.duration()).count());
    return text.data();
}

} // namespace

std::string construction_text(const receive_server_snapshot& s) {
    return "RoCEv2 receive server \"" + s.name + "\": device " + s.device + ", port " +
           std::to_string(s.port) + ", GID index " + std::to_string(s.gid_index) + ", max payload " +
           std::to_string(s.max_payload) + ", queue depth " + std::to_string(s.rx_queue_depth);
}

std::string connection_info_text(const receive_server_snapshot& s) {
    auto text = line("Host QPN", hex(s.host_qpn, 6)) + line("Host GID", s.host_gid) +
                line("MR address", hex(s.mr_addr, 16)) + line("MR rkey", hex(s.mr_rkey, 8)) +
                line("FPGA lkey", hex(s.fpga_lkey, 8)) + line("Max payload", std::to_string(s.max_payload)) +
                line("Queue depth", std::to_string(s.rx_queue_depth)) +
                line("MR length", std::to_string(s.mr_len));
    text.pop_back();
    return text;
}

std::string connect_summary_text(const receive_server_snapshot& s) {
    const auto slots = std::to_string(s.rx_queue_depth) + " slots x " + std::to_string(s.max_payload);
    return "RoCEv2 connection of \"" + s.name + "\"\n" +
           line("Device", s.device + ", port " + std::to_string(s.port) + ", GID index " +
                              std::to_string(s.gid_index)) +
           line("Host QPN", hex(s.host_qpn, 6)) + line("Host GID", s.host_gid) + line("Host state", "RTS") +
           line("MR address", hex(s.mr_addr, 16)) + line("MR rkey", hex(s.mr_rkey, 8)) +
           line("MR size", std::to_string(s.mr_len) + " bytes, " + slots + " bytes") +
           line("FPGA QPN", hex(s.fpga_qpn, 6)) + line("FPGA lkey", hex(s.fpga_lkey, 8)) +
           line("FPGA GID", s.fpga_gid) +
           line("Path MTU", std::to_string(code(s.path_mtu)) + " (" + to_string(s.path_mtu) + " bytes)") +
           line("Min RNR timer",
                std::to_string(s.min_rnr_timer.code()) + " (" + milliseconds(s.min_rnr_timer) + ")") +
           line("RNR retry", std::to_string(s.rnr_retry)) +
           line("Retry count", std::to_string(s.retry_count)) + "  Ready to receive";
}

} // namespace rocio
