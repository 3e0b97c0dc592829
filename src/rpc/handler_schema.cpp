#include <rocio/rpc/detail/little_endian.hpp>
#include <rocio/rpc/handler_schema.hpp>

#include <algorithm>
#include <string>

namespace rocio::rpc {

namespace {

constexpr std::size_t desc_size = 12;

void encode_desc(const type_desc& desc, std::span<std::byte, desc_size> out) noexcept {
    out[0] = static_cast<std::byte>(desc.type);
    detail::store_little(desc.size_bytes, out.subspan<4, 4>());
    detail::store_little(desc.num_elements, out.subspan<8, 4>());
}

type_desc decode_desc(std::span<const std::byte, desc_size> in) noexcept {
    return {static_cast<type_id>(in[0]), detail::load_little<std::uint32_t>(in.subspan<4, 4>()),
            detail::load_little<std::uint32_t>(in.subspan<8, 4>())};
}

std::string place(const char* list, std::size_t index) {
    return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string type_text(type_id id) {
    return std::string(name_of(id)) + " (" + std::to_string(static_cast<unsigned>(id)) + ")";
}

error_info refusal(std::string text) {
    return {errc::invalid_argument, "schema: " + std::move(text)};
}

error_info not_allowed(const std::string& what, const std::string& found, const std::string& allowed) {
    return refusal(what + " is " + found + ", allowed is " + allowed);
}

/// 64 bits: a count and an element size may have a product beyond 32.
std::uint64_t size_of(const type_desc& value) noexcept {
    const std::uint64_t n = value.num_elements;
    return value.type == type_id::bit_packed ? (n + 7) / 8 : n * element_size(value.type);
}

error_info validate_value(const type_desc& value, const std::string& where) {
    if (element_size(value.type) == 0) {
        return not_allowed(where + ".type_id", std::to_string(static_cast<unsigned>(value.type)),
                           "one of the type ids 0x10 to 0x14, 0x20 to 0x23, 0x30");
    }
    if (!is_sequence(value.type) && value.num_elements != 1) {
        return not_allowed(where + ".num_elements", std::to_string(value.num_elements),
                           std::string("1 for ") + name_of(value.type));
    }
    if (size_of(value) != value.size_bytes) {
        return not_allowed(where + ".size_bytes", std::to_string(value.size_bytes),
                           std::to_string(size_of(value)) + " for " + std::to_string(value.num_elements) +
                               " elements of " + name_of(value.type));
    }
    return {};
}

error_info validate_list(std::span<const type_desc> values, const char* list) {
    bool variable = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (auto bad = validate_value(values[i], place(list, i))) return bad;
        if (!values[i].is_variable()) continue;
        if (variable) {
            return refusal(place(list, i) +
                           " is the second of variable size, allowed is one; give the others "
                           "a fixed number of elements");
        }
        variable = true;
    }
    return {};
}

error_info differs(const std::string& what, const std::string& wanted, const std::string& found) {
    return refusal(what + " is " + found + ", wanted is " + wanted);
}

error_info compare_values(std::span<const type_desc> wanted, std::span<const type_desc> found,
                          const char* list) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto &w = wanted[i], &f = found[i];
        if (w.type != f.type)
            return differs(place(list, i) + ".type_id", type_text(w.type), type_text(f.type));
        if (w.size_bytes != f.size_bytes) {
            return differs(place(list, i) + ".size_bytes", std::to_string(w.size_bytes),
                           std::to_string(f.size_bytes));
        }
        if (w.num_elements != f.num_elements) {
            return differs(place(list, i) + ".num_elements", std::to_string(w.num_elements),
                           std::to_string(f.num_elements));
        }
    }
    return {};
}

} // namespace

std::array<std::byte, handler_schema::image_size> handler_schema::encode() const noexcept {
    std::array<std::byte, image_size> image{};
    image[0] = static_cast<std::byte>(num_args);
    image[1] = static_cast<std::byte>(num_results);
    std::span<std::byte> out = std::span(image).subspan(4);
    const auto put = [&out](std::span<const type_desc> values, std::size_t places) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            encode_desc(values[i], out.subspan(desc_size * i).first<desc_size>());
        }
        out = out.subspan(desc_size * places);
    };
    put(arguments_used(), max_args);
    put(results_used(), max_results);
    return image;
}

std::optional<handler_schema> handler_schema::decode(std::span<const std::byte> image) noexcept {
    if (image.size() != image_size) return std::nullopt;
    handler_schema schema;
    schema.num_args = std::to_integer<std::uint8_t>(image[0]);
    schema.num_results = std::to_integer<std::uint8_t>(image[1]);
    auto in = image.subspan(4);
    const auto next = [&in] {
        const auto value = decode_desc(in.first<desc_size>());
        in = in.subspan(desc_size);
        return value;
    };
    for (auto& value : schema.args) value = next();
    for (auto& value : schema.results) value = next();
    return schema;
}

bool operator==(const handler_schema& a, const handler_schema& b) noexcept {
    return a.num_args == b.num_args && a.num_results == b.num_results &&
           std::ranges::equal(a.arguments_used(), b.arguments_used()) &&
           std::ranges::equal(a.results_used(), b.results_used());
}

error_info validate(const handler_schema& schema) {
    if (schema.num_args > handler_schema::max_args) {
        return not_allowed("num_args", std::to_string(schema.num_args), "0 to 8");
    }
    if (schema.num_results > handler_schema::max_results) {
        return not_allowed("num_results", std::to_string(schema.num_results), "0 to 4");
    }
    if (auto bad = validate_list(schema.arguments_used(), "args")) return bad;
    return validate_list(schema.results_used(), "results");
}

error_info compare(const handler_schema& wanted, const handler_schema& found) {
    if (wanted.num_args != found.num_args) {
        return differs("num_args", std::to_string(wanted.num_args), std::to_string(found.num_args));
    }
    if (wanted.num_results != found.num_results) {
        return differs("num_results", std::to_string(wanted.num_results), std::to_string(found.num_results));
    }
    if (auto bad = compare_values(wanted.arguments_used(), found.arguments_used(), "args")) return bad;
    return compare_values(wanted.results_used(), found.results_used(), "results");
}

} // namespace rocio::rpc
