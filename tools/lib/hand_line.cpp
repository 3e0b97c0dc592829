#include "lib/hand_line.hpp"

#include <charconv>
#include <cstdio>
#include <optional>

namespace rocio::tools {

namespace {

std::string hex(std::uint64_t value, int digits) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
    return text;
}

std::optional<std::uint32_t> number(std::string_view text) {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (is_hex) text.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view next_word(std::string_view& line) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return line = {};
    line.remove_prefix(begin);
    const auto word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
}

error_info refuse(const std::string& text) {
    return {errc::invalid_peer_parameters, text + "; expected is a line like: qpn=0x11 lkey=0x1234"};
}

} // namespace

std::string hand_line(const local_parameters& local) {
    return "local qpn=" + hex(local.queue_pair.value(), 6) + " rq_psn=" + hex(local.receive_psn.value(), 6) +
           " sq_psn=" + hex(local.send_psn.value(), 6) + " gid=" + local.address.to_string() +
           " rkey=" + hex(local.region.key.value, 8) + " addr=" + hex(local.region.address, 16) +
           " length=" + std::to_string(local.region.length);
}

error_info parse_hand_answer(std::string_view line, hand_answer& out) {
    hand_answer answer;
    bool has_queue_pair = false;
    bool others = false; // the other end's line has more than we need
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
        if (word == "local") {
            others = true;
            continue;
        }
        const auto equals = word.find('=');
        const auto key = word.substr(0, equals);
        const bool known = key == "qpn" || key == "lkey";
        if (!known && others && equals != std::string_view::npos) continue;
        if (!known || equals == std::string_view::npos) {
            return refuse("\"" + std::string(word) + "\" is not understood");
        }
        const auto value = number(word.substr(equals + 1));
        if (!value) return refuse("\"" + std::string(word) + "\" is not a number of at most 32 bits");
        (key == "qpn" ? answer.queue_pair : answer.key) = *value;
        has_queue_pair = has_queue_pair || key == "qpn";
    }
    if (!has_queue_pair) return refuse("the line has no qpn");
    if (answer.queue_pair < 2 || answer.queue_pair > 0xFFFFFF) {
        return refuse("qpn is " + hex(answer.queue_pair, 1) + ", allowed is 0x2 to 0xffffff");
    }
    out = answer;
    return {};
}

} // namespace rocio::tools
