#include "fpga/byte_order.hpp"

#include <rocio/fpga/register_space.hpp>
#include <rocio/fpga/srp.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace rocio::fpga {

namespace {

using detail::load_little;
using detail::store_little;

constexpr std::uint32_t version = 3;
/// What a board repeats of a request's first word.
constexpr std::uint32_t header_mask = 0xFFFFC3FF;

bool has_data(srp_opcode opcode) {
    return opcode == srp_opcode::write || opcode == srp_opcode::posted_write;
}

std::uint32_t first_word(const srp_request& r) {
    return version | std::uint32_t{static_cast<std::uint8_t>(r.opcode)} << 8 |
           std::uint32_t{r.ignore_bus_response} << 14 | (r.protection & 7U) << 21 |
           std::uint32_t{r.timeout} << 24;
}

void store_header(std::span<std::byte> out, const srp_request& r) {
    store_little(out, first_word(r));
    store_little(out.subspan(4), r.id);
    store_little(out.subspan(8), r.address);
    store_little(out.subspan(16), r.size - 1);
}

std::uint32_t bit(srp_status s) {
    return static_cast<std::uint32_t>(s);
}

std::uint32_t refusal(std::uint32_t word, const srp_request& r, std::size_t data_bytes) {
    if ((word & 0xFF) != version) return bit(srp_status::version_mismatch);
    if (r.opcode == srp_opcode::null) return 0;
    const bool fits = r.size != 0 && r.size % 4 == 0 && r.size <= srp_max_data && r.address % 4 == 0 &&
                      r.address + (r.size - 1) >= r.address;
    if (!fits) return bit(srp_status::bad_size);
    const auto expected = has_data(r.opcode) ? r.size : 0;
    return data_bytes == expected ? 0 : bit(srp_status::frame_error);
}

std::string bus_response_text(std::uint32_t response) {
    const auto number = " (bus response " + std::to_string(response) + ")";
    if (response == static_cast<std::uint8_t>(bus_response::decode_error))
        return "no register at this address" + number;
    return "error on the board's bus" + number;
}

std::string status_text(std::uint32_t status) {
    constexpr std::array<std::pair<srp_status, const char*>, 6> bits{{
        {srp_status::timeout, "the board's bus timed out"},
        {srp_status::end_of_frame_error, "the request came damaged"},
        {srp_status::frame_error, "the request's length does not fit its size"},
        {srp_status::version_mismatch, "not its version of SRP"},
        {srp_status::bad_size, "size or alignment not allowed"},
        {srp_status::bus_locked_up, "the board's bus is locked up since an earlier timeout; reset the board"},
    }};
    std::string text;
    const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if ((status & 0xFF) != 0) add(bus_response_text(status & 0xFF));
    for (const auto& [flag, what] : bits) {
        if ((status & bit(flag)) != 0) add(what);
    }
    if (text.empty()) add("unknown status bits");
    return text;
}

std::string hex(std::uint32_t value) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdef"[value & 0xF]);
        value >>= 4;
    } while (value != 0);
    return "0x" + text;
}

// Boost's category base is never deleted through a pointer; Boost silences the same warning for its own
// categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class status_category_type final : public boost::system::error_category {
  public:
    constexpr status_category_type() noexcept : error_category(0x52E1A90D74C63F8B) {}

    const char* name() const noexcept override { return "rocio.fpga.srp_status"; }
    std::string message(int value) const override {
        const auto status = static_cast<std::uint32_t>(value);
        if (status == 0) return "success";
        return "the board refuses: " + status_text(status) + " (status " + hex(status) + ")";
    }
    bool equivalent(int value, const error_condition& c) const noexcept override {
        const auto status = static_cast<std::uint32_t>(value);
        if (c == make_error_condition(condition::bad_configuration))
            return (status & bit(srp_status::bad_size)) != 0 ||
                   (status & 0xFF) == static_cast<std::uint8_t>(bus_response::decode_error);
        return error_category::equivalent(value, c);
    }
};

#pragma GCC diagnostic pop

constexpr status_category_type the_status_category;

} // namespace

std::vector<std::byte> encode(const srp_request& request) {
    std::vector<std::byte> out(srp_header_bytes);
    store_header(out, request);
    if (has_data(request.opcode)) out.insert(out.end(), request.data.begin(), request.data.end());
    return out;
}

std::optional<srp_received> parse_srp_request(std::span<const std::byte> message) {
    if (message.size() < srp_header_bytes || message.size() % 4 != 0) return std::nullopt;
    const auto word = load_little<std::uint32_t>(message);
    srp_received out;
    auto& r = out.request;
    r.opcode = static_cast<srp_opcode>(word >> 8 & 3);
    r.ignore_bus_response = (word >> 14 & 1) != 0;
    r.protection = static_cast<std::uint8_t>(word >> 21 & 7);
    r.timeout = static_cast<std::uint8_t>(word >> 24);
    r.id = load_little<std::uint32_t>(message.subspan(4));
    r.address = load_little<std::uint64_t>(message.subspan(8));
    r.size = load_little<std::uint32_t>(message.subspan(16)) + 1;
    r.data = message.subspan(srp_header_bytes);
    out.status = refusal(word, r, r.data.size());
    return out;
}

std::vector<std::byte> encode_srp_reply(std::span<const std::byte> request, std::span<const std::byte> data,
                                        std::uint32_t status) {
    std::vector<std::byte> out(request.begin(), request.begin() + srp_header_bytes);
    out.insert(out.end(), data.begin(), data.end());
    out.resize(out.size() + srp_status_bytes);
    store_little(std::span(out).last(srp_status_bytes), status);
    return out;
}

bool srp_reply::answers(const srp_request& request) const {
    std::array<std::byte, srp_header_bytes> expected{};
    store_header(expected, request);
    const auto mine = load_little<std::uint32_t>(expected), theirs = load_little<std::uint32_t>(header);
    if (((mine ^ theirs) & header_mask) != 0) return false;
    if (!std::equal(expected.begin() + 4, expected.end(), header.begin() + 4)) return false;
    if (status != 0) return true;
    if (request.opcode == srp_opcode::null) return data.empty() || data.size() == request.size;
    return data.size() == request.size;
}

std::optional<srp_reply> parse_srp_reply(std::span<const std::byte> message) {
    const auto least = srp_header_bytes + srp_status_bytes;
    if (message.size() < least || message.size() > srp_max_message || message.size() % 4 != 0)
        return std::nullopt;
    srp_reply reply;
    reply.header = message.first(srp_header_bytes);
    reply.id = load_little<std::uint32_t>(message.subspan(4));
    reply.data = message.subspan(srp_header_bytes, message.size() - least);
    reply.status = load_little<std::uint32_t>(message.last(srp_status_bytes));
    return reply;
}

const boost::system::error_category& srp_status_category() noexcept {
    return the_status_category;
}

error_code make_error_code(srp_status s) noexcept {
    return {static_cast<int>(s), the_status_category};
}

error_code srp_error(std::uint32_t status) noexcept {
    return {static_cast<int>(status), the_status_category};
}

} // namespace rocio::fpga
