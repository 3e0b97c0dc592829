#include "fpga/memory_bridge_protocol.hpp"

#include <rocio/fpga/bus_error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace rocio::fpga::detail {

namespace {

constexpr std::size_t max_block = 4096;
constexpr std::size_t longest_result = 999;
constexpr std::size_t header_parts = 4, data_part = 4, result_part = 5, reply_parts = 6;
constexpr std::size_t part_sizes[header_parts] = {4, 8, 4, 4};
constexpr std::string_view ok = "OK";

template <class T>
bridge_part part_of(T value) {
    bridge_part out(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

template <class T>
T value_of(std::span<const std::byte> part) {
    T value{};
    std::memcpy(&value, part.data(), sizeof value);
    return value;
}

bridge_part text_part(std::string_view text) {
    bridge_part out(text.size());
    std::transform(text.begin(), text.end(), out.begin(), [](char c) { return static_cast<std::byte>(c); });
    return out;
}

/// For a person to read, whatever the other side put there.
std::string text_of(const bridge_part& part) {
    std::string text;
    for (const auto b : std::span(part).first(std::min(part.size(), longest_result))) {
        const auto c = static_cast<char>(b);
        text += c >= ' ' && c <= '~' ? c : '?';
    }
    return text;
}

bridge_header header_of(std::uint32_t id, const register_access& access) {
    switch (access.kind) {
    case access_kind::read:
        return {id, access.address, static_cast<std::uint32_t>(4 * access.into.size()), bridge_type::read};
    case access_kind::write:
        return {id, access.address, static_cast<std::uint32_t>(4 * access.from.size()), bridge_type::write};
    case access_kind::post:
        return {id, access.address, static_cast<std::uint32_t>(4 * access.from.size()), bridge_type::post};
    default:
        return {id, 0, 0, bridge_type::probe};
    }
}

bool is_write(bridge_type type) {
    return type == bridge_type::write || type == bridge_type::post;
}

std::string refusal(const bridge_header& h) {
    const bool known = is_write(h.type) || h.type == bridge_type::read || h.type == bridge_type::verify;
    if (!known) return "unknown transaction type " + std::to_string(static_cast<std::uint32_t>(h.type));
    if (h.size == 0 || h.size % 4 != 0 || h.size > max_block)
        return "size of " + std::to_string(h.size) + " bytes, allowed are multiples of 4 up to 4096";
    if (h.address % 4 != 0) return "the address is no multiple of 4";
    if (h.address + (h.size - 1) < h.address) return "the last word is beyond the address space";
    return {};
}

std::string response_text(bus_response response) {
    switch (response) {
    case bus_response::ok:
        return std::string(ok);
    case bus_response::decode_error:
        return "no register at this address (bus response 3)";
    default:
        return "error on the board's bus (bus response 2)";
    }
}

std::string access(register_space& space, const bridge_header& h, bridge_part& data) {
    for (std::size_t at = 0; at < h.size; at += 4) {
        const auto word = std::span(data).subspan(at, 4);
        auto value = value_of<std::uint32_t>(word);
        const auto response =
            is_write(h.type) ? space.write(h.address + at, value) : space.read(h.address + at, value);
        if (response != bus_response::ok) return response_text(response);
        std::memcpy(word.data(), &value, sizeof value);
    }
    return std::string(ok);
}

} // namespace

bridge_parts encode(const bridge_header& h) {
    return {part_of(h.id), part_of(h.address), part_of(h.size), part_of(static_cast<std::uint32_t>(h.type))};
}

std::optional<bridge_header> parse_bridge_header(const bridge_parts& parts) {
    if (parts.size() < header_parts) return std::nullopt;
    for (std::size_t i = 0; i < header_parts; ++i) {
        if (parts[i].size() != part_sizes[i]) return std::nullopt;
    }
    return bridge_header{value_of<std::uint32_t>(parts[0]), value_of<std::uint64_t>(parts[1]),
                         value_of<std::uint32_t>(parts[2]),
                         static_cast<bridge_type>(value_of<std::uint32_t>(parts[3]))};
}

std::vector<std::byte> flatten(const bridge_parts& parts) {
    std::vector<std::byte> out;
    const auto append = [&out](const bridge_part& p) { out.insert(out.end(), p.begin(), p.end()); };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i >= header_parts) append(part_of(static_cast<std::uint32_t>(parts[i].size())));
        append(parts[i]);
    }
    return out;
}

std::optional<bridge_parts> unflatten(std::span<const std::byte> message) {
    bridge_parts parts;
    while (!message.empty() || parts.size() < header_parts) {
        std::size_t size = 4;
        if (parts.size() < header_parts) {
            size = part_sizes[parts.size()];
        } else {
            if (message.size() < 4) return std::nullopt;
            size = value_of<std::uint32_t>(message);
            message = message.subspan(4);
        }
        if (message.size() < size) return std::nullopt;
        parts.emplace_back(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
        message = message.subspan(size);
    }
    return parts;
}

std::vector<std::byte> memory_bridge_protocol::encode(std::uint32_t id, const register_access& access) const {
    auto parts = detail::encode(header_of(id, access));
    if (!access.from.empty()) {
        const auto bytes = std::as_bytes(access.from);
        parts.emplace_back(bytes.begin(), bytes.end());
    }
    return flatten(parts);
}

std::optional<std::uint32_t> memory_bridge_protocol::id_of(std::span<const std::byte> message) const {
    if (message.size() < 4) return std::nullopt;
    return value_of<std::uint32_t>(message);
}

std::optional<error_info> memory_bridge_protocol::judge(std::uint32_t id, const register_access& access,
                                                        std::span<const std::byte> message) const {
    if (access.kind == access_kind::post) return std::nullopt;
    const auto parts = unflatten(message);
    if (!parts || parts->size() != reply_parts) return std::nullopt;
    const auto h = parse_bridge_header(*parts);
    if (!h || *h != header_of(id, access)) return std::nullopt;
    const auto result = text_of((*parts)[result_part]);
    if (result != ok) return error_info{bus_errc::refused, "the bridge refuses: " + result};
    const auto& data = (*parts)[data_part];
    if (access.kind == access_kind::read && data.size() != h->size) return std::nullopt;
    if (!access.into.empty()) std::memcpy(access.into.data(), data.data(), data.size());
    return error_info{};
}

bridge_parts answer_bridge(register_space& space, const bridge_parts& request) {
    const auto h = parse_bridge_header(request);
    if (!h || request.size() > data_part + 1) return {};
    if (is_write(h->type) && (request.size() != data_part + 1 || request[data_part].size() != h->size))
        return {};
    auto reply = detail::encode(*h);
    bridge_part data;
    std::string result(ok);
    if (h->type != bridge_type::probe) {
        result = refusal(*h);
        if (is_write(h->type)) data = request[data_part];
        if (result.empty()) {
            data.resize(h->size);
            result = access(space, *h, data);
        }
    }
    reply.push_back(std::move(data));
    reply.push_back(text_part(result));
    return reply;
}

} // namespace rocio::fpga::detail
