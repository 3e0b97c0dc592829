#include "soft/port_owner.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace rocio::soft {

namespace {

namespace fs = std::filesystem;

struct socket_line {
    std::uint64_t inode = 0;
    bool wildcard = false;
};

std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The tables print addresses as integers of 32 bits in host order of their network-order bytes.
std::string table_text_of(std::span<const std::uint8_t> address) {
    std::string all;
    for (; address.size() >= 4; address = address.subspan(4)) {
        std::uint32_t value = 0;
        std::memcpy(&value, address.data(), sizeof value);
        std::string text(8, '0');
        for (std::size_t i = 8; i-- > 0; value >>= 4) text[i] = "0123456789ABCDEF"[value & 15U];
        all += text;
    }
    return all;
}

/// "   12: 0200007F:12B7 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 INODE …"
std::optional<socket_line> parse_line(const std::string& line, std::uint16_t port,
                                      const std::string& address) {
    std::istringstream in(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    if (!(in >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >>
          inode))
        return std::nullopt;
    const auto colon = local.rfind(':');
    if (colon == std::string::npos || number(std::string_view{local}.substr(colon + 1), 16) != port)
        return std::nullopt;
    const std::string host = local.substr(0, colon);
    const bool wildcard = host.find_first_not_of('0') == std::string::npos;
    const auto value = number(inode, 10);
    if (!value || (!wildcard && host != address)) return std::nullopt;
    return socket_line{*value, wildcard};
}

void read_table(const fs::path& file, std::uint16_t port, const std::string& address,
                std::vector<socket_line>& out) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (const auto found = parse_line(line, port, address)) out.push_back(*found);
}

bool holds_inode(const fs::path& process, std::uint64_t inode) {
    const std::string wanted = "socket:[" + std::to_string(inode) + "]";
    std::error_code error;
    for (fs::directory_iterator i(process / "fd", error), end; !error && i != end; i.increment(error)) {
        std::error_code unreadable;
        if (fs::read_symlink(i->path(), unreadable).string() == wanted) return true;
    }
    return false;
}

std::string process_name(const fs::path& process) {
    std::ifstream in(process / "comm");
    std::string name;
    std::getline(in, name);
    return name;
}

std::optional<std::string> find_process(const fs::path& proc, const std::vector<socket_line>& sockets) {
    std::error_code error;
    for (fs::directory_iterator i(proc, error), end; !error && i != end; i.increment(error)) {
        const std::string pid = i->path().filename().string();
        if (!number(pid, 10)) continue;
        for (const auto& s : sockets)
            if (holds_inode(i->path(), s.inode))
                return "process " + pid + " (" + process_name(i->path()) + ")";
    }
    return std::nullopt;
}

} // namespace

port_owner find_port_owner(const gid& address, std::uint16_t port, const fs::path& proc,
                           const fs::path& modules) {
    const auto v4 = address.v4();
    const std::string host = v4 ? table_text_of(*v4) : table_text_of(address.bytes());
    std::vector<socket_line> sockets;
    read_table(proc / "net/udp", port, host, sockets);
    read_table(proc / "net/udp6", port, host, sockets);

    if (const auto process = find_process(proc, sockets)) return {port_owner::kind::process, *process};
    std::error_code error;
    const bool rxe = fs::exists(modules / "rdma_rxe", error);
    const bool wildcard =
        std::any_of(sockets.begin(), sockets.end(), [](const auto& s) { return s.wildcard; });
    if (rxe && (wildcard || sockets.empty())) return {port_owner::kind::kernel, "the kernel module rdma_rxe"};
    if (sockets.empty()) return {port_owner::kind::nobody, "no socket of this network namespace"};
    return {port_owner::kind::unknown, "another user's process"};
}

} // namespace rocio::soft
