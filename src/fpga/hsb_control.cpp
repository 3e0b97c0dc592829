#include <rocio/fpga/hsb_control.hpp>

namespace rocio::fpga {

namespace {

constexpr std::size_t short_answer_bytes = 5;

std::uint8_t byte_at(std::span<const std::byte> in, std::size_t at) noexcept {
    return std::to_integer<std::uint8_t>(in[at]);
}

std::uint16_t load16(std::span<const std::byte> in, std::size_t at) noexcept {
    return static_cast<std::uint16_t>((byte_at(in, at) << 8) | byte_at(in, at + 1));
}

std::uint32_t load32(std::span<const std::byte> in, std::size_t at) noexcept {
    return (static_cast<std::uint32_t>(load16(in, at)) << 16) | load16(in, at + 2);
}

void store16(std::span<std::byte> out, std::size_t at, std::uint16_t value) noexcept {
    out[at] = static_cast<std::byte>(value >> 8);
    out[at + 1] = static_cast<std::byte>(value);
}

void store32(std::span<std::byte> out, std::size_t at, std::uint32_t value) noexcept {
    store16(out, at, static_cast<std::uint16_t>(value >> 16));
    store16(out, at + 2, static_cast<std::uint16_t>(value));
}

std::optional<hsb_command> known_command(std::uint8_t code) noexcept {
    switch (static_cast<hsb_command>(code)) {
    case hsb_command::write_dword:
    case hsb_command::write_block:
    case hsb_command::read_dword:
    case hsb_command::read_block:
        return static_cast<hsb_command>(code);
    }
    return std::nullopt;
}

std::variant<std::size_t, hsb_malformed> count_dword(hsb_command command, std::size_t body) noexcept {
    if (body == 0) return hsb_malformed::no_pair;
    if (body < (is_write(command) ? hsb_pair_bytes : 4)) return hsb_malformed::cut_pair;
    return std::size_t{1};
}

std::variant<std::size_t, hsb_malformed> count_block(std::size_t body) noexcept {
    if (body == 0) return hsb_malformed::no_pair;
    if (body % hsb_pair_bytes != 0) return hsb_malformed::cut_pair;
    if (body / hsb_pair_bytes > hsb_max_pairs) return hsb_malformed::too_many_pairs;
    return body / hsb_pair_bytes;
}

bool carries(hsb_command command, std::size_t registers) noexcept {
    if (registers == 0) return false;
    return registers <= (is_block(command) ? hsb_max_pairs : 1);
}

/// The latched sequence, and the padding that the FPGA puts behind no pair or one.
std::optional<std::size_t> pairs_in_response(std::size_t body) noexcept {
    const auto tail = body % hsb_pair_bytes;
    const auto pairs = body / hsb_pair_bytes;
    if (tail == 2 || (tail == 4 && pairs <= 1) || body == 0) return pairs;
    return std::nullopt;
}

std::variant<hsb_response, hsb_malformed> parse_body(hsb_response response,
                                                     std::span<const std::byte> body) noexcept {
    const auto pairs = pairs_in_response(body.size());
    if (!pairs) return hsb_malformed::cut_pair;
    if (*pairs > (is_block(response.command) ? hsb_max_pairs : 1)) return hsb_malformed::too_many_pairs;
    if (*pairs == 0 && !is_write(response.command) && response.status == hsb_status::success) {
        return hsb_malformed::no_pair;
    }
    response.pairs = hsb_pairs(body, *pairs);
    if (!body.empty()) response.latched_sequence = load16(body, *pairs * hsb_pair_bytes);
    return response;
}

bool is_short(const hsb_response_header& header, hsb_dialect dialect) noexcept {
    if (dialect == hsb_dialect::fpga) return false;
    const auto command = known_command(header.command);
    return header.status != hsb_status::success || !command || is_write(*command);
}

std::uint8_t answered_command(const hsb_response_header& header, hsb_dialect dialect) noexcept {
    if (dialect == hsb_dialect::emulator || !known_command(header.command)) return header.command;
    return header.command | 0x80;
}

} // namespace

const char* describe(hsb_status status) noexcept {
    switch (status) {
    case hsb_status::success:
        return "success";
    case hsb_status::general_error:
        return "general error";
    case hsb_status::invalid_address:
        return "invalid address";
    case hsb_status::unknown_command:
        return "unknown command";
    case hsb_status::invalid_length:
        return "invalid length";
    case hsb_status::invalid_flags:
        return "invalid flags";
    case hsb_status::buffer_full:
        return "buffer full";
    case hsb_status::invalid_block_size:
        return "invalid block size";
    case hsb_status::invalid_indirect_address:
        return "invalid indirect address";
    case hsb_status::command_timed_out:
        return "command timed out";
    case hsb_status::sequence_check_failed:
        return "sequence check failed";
    }
    return "unknown status";
}

const char* describe(hsb_malformed reason) noexcept {
    switch (reason) {
    case hsb_malformed::too_short:
        return "shorter than its header";
    case hsb_malformed::unknown_command:
        return "unknown command";
    case hsb_malformed::reserved_flags:
        return "reserved flag bits are set";
    case hsb_malformed::no_pair:
        return "no register in it";
    case hsb_malformed::cut_pair:
        return "not a whole number of registers";
    case hsb_malformed::too_many_pairs:
        return "more registers than the command carries";
    }
    return "unknown reason";
}

std::optional<hsb_status> status_for(hsb_malformed reason) noexcept {
    switch (reason) {
    case hsb_malformed::too_short:
        return std::nullopt;
    case hsb_malformed::unknown_command:
        return hsb_status::unknown_command;
    case hsb_malformed::reserved_flags:
        return hsb_status::invalid_flags;
    case hsb_malformed::no_pair:
    case hsb_malformed::cut_pair:
        return hsb_status::invalid_length;
    case hsb_malformed::too_many_pairs:
        return hsb_status::invalid_block_size;
    }
    return hsb_status::general_error;
}

hsb_register hsb_pairs::operator[](std::size_t i) const noexcept {
    const auto at = i * hsb_pair_bytes;
    return {load32(bytes_, at), bytes_.size() < at + hsb_pair_bytes ? 0 : load32(bytes_, at + 4)};
}

std::variant<hsb_request, hsb_malformed> parse_request(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() < hsb_header_bytes) return hsb_malformed::too_short;
    const auto command = known_command(byte_at(datagram, 0));
    if (!command) return hsb_malformed::unknown_command;
    hsb_request request{
        .command = *command, .flags = byte_at(datagram, 1), .sequence = load16(datagram, 2), .pairs = {}};
    if (request.flags & hsb_flags::reserved) return hsb_malformed::reserved_flags;
    const auto body = datagram.subspan(hsb_header_bytes);
    const auto counted = is_block(*command) ? count_block(body.size()) : count_dword(*command, body.size());
    if (const auto* bad = std::get_if<hsb_malformed>(&counted)) return *bad;
    request.pairs = hsb_pairs(body, std::get<std::size_t>(counted));
    return request;
}

std::variant<hsb_response, hsb_malformed> parse_response(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() < short_answer_bytes) return hsb_malformed::too_short;
    const auto command = known_command(byte_at(datagram, 0) & 0x7F);
    if (!command) return hsb_malformed::unknown_command;
    hsb_response response;
    response.command = *command;
    response.flags = byte_at(datagram, 1);
    response.sequence = load16(datagram, 2);
    response.status = static_cast<hsb_status>(byte_at(datagram, 4));
    const auto header = datagram.size() == short_answer_bytes ? short_answer_bytes : hsb_header_bytes;
    return parse_body(response, datagram.subspan(header));
}

std::size_t encode_request(std::span<std::byte> out, hsb_command command, std::uint8_t flags,
                           std::uint16_t sequence, std::span<const hsb_register> registers) noexcept {
    const auto length = request_bytes(command, registers.size());
    if (!carries(command, registers.size()) || out.size() < length) return 0;
    out[0] = static_cast<std::byte>(command);
    out[1] = static_cast<std::byte>(flags);
    store16(out, 2, sequence);
    store16(out, 4, 0);
    if (command == hsb_command::read_dword) {
        store32(out, hsb_header_bytes, registers[0].address);
        return length;
    }
    for (std::size_t i = 0; i < registers.size(); ++i) {
        const auto at = hsb_header_bytes + i * hsb_pair_bytes;
        store32(out, at, registers[i].address);
        store32(out, at + 4, is_write(command) ? registers[i].value : 0);
    }
    return length;
}

std::size_t encode_response(std::span<std::byte> out, const hsb_response_header& header,
                            std::span<const hsb_register> registers, hsb_dialect dialect) noexcept {
    if (header.status != hsb_status::success) registers = {};
    if (registers.size() > hsb_max_pairs) return 0;
    const bool brief = is_short(header, dialect);
    const auto padding = dialect == hsb_dialect::fpga && registers.size() <= 1 ? 2 : 0;
    const auto length =
        brief ? short_answer_bytes : hsb_header_bytes + registers.size() * hsb_pair_bytes + 2 + padding;
    if (out.size() < length) return 0;
    out[0] = static_cast<std::byte>(answered_command(header, dialect));
    out[1] = static_cast<std::byte>(header.flags);
    store16(out, 2, header.sequence);
    out[4] = static_cast<std::byte>(header.status);
    if (brief) return length;
    out[5] = std::byte{0};
    auto at = hsb_header_bytes;
    for (const auto& r : registers) {
        store32(out, at, r.address);
        store32(out, at + 4, r.value);
        at += hsb_pair_bytes;
    }
    store16(out, at, header.latched_sequence);
    if (padding) store16(out, at + 2, 0);
    return length;
}

std::optional<hsb_response_header> answer_header(std::span<const std::byte> request) noexcept {
    if (request.size() < hsb_header_bytes) return std::nullopt;
    hsb_response_header header;
    header.command = byte_at(request, 0);
    header.flags = byte_at(request, 1);
    header.sequence = load16(request, 2);
    header.latched_sequence = header.sequence;
    return header;
}

} // namespace rocio::fpga
