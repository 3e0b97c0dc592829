#pragma once

#include <rocio/rpc/type_id.hpp>
#include <rocio/types/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::rpc {

/// One argument or result. A sequence whose size is 0 has as many elements as the message brings.
struct type_desc {
    type_id type = type_id::uint8;
    std::uint32_t size_bytes = 0;   ///< Of the whole value; 0: told by the message.
    std::uint32_t num_elements = 0; ///< 1 for a scalar; bits for bit_packed.

    constexpr bool is_variable() const noexcept { return is_sequence(type) && size_bytes == 0; }

    friend bool operator==(const type_desc&, const type_desc&) = default;
};

/// The lengths a concatenation of values may have: one number, or that and any multiple of a step more.
struct length_rule {
    std::size_t fixed = 0;
    std::size_t step = 0; ///< 0: exactly `fixed`.

    constexpr bool accepts(std::size_t length) const noexcept {
        if (step == 0) return length == fixed;
        return length >= fixed && (length - fixed) % step == 0;
    }

    friend bool operator==(const length_rule&, const length_rule&) = default;
};

/// What a function takes and gives: at most 8 arguments and 4 results, concatenated in this order without
/// padding. In each direction at most one is variable. The wire does not carry it; both sides must know.
struct handler_schema {
    static constexpr std::size_t max_args = 8;
    static constexpr std::size_t max_results = 4;
    /// Bytes of the original's `cudaq_handler_schema_t`.
    static constexpr std::size_t image_size = 4 + 12 * (max_args + max_results);

    std::uint8_t num_args = 0;
    std::uint8_t num_results = 0;
    std::array<type_desc, max_args> args{};
    std::array<type_desc, max_results> results{};

    /// Those in use; bounded, whatever the counts say.
    constexpr std::span<const type_desc> arguments_used() const noexcept {
        return std::span(args).first(num_args < max_args ? num_args : max_args);
    }
    constexpr std::span<const type_desc> results_used() const noexcept {
        return std::span(results).first(num_results < max_results ? num_results : max_results);
    }
    constexpr length_rule argument_length() const noexcept { return rule_of(arguments_used()); }
    constexpr length_rule result_length() const noexcept { return rule_of(results_used()); }

    /// The original's layout: counts, 2 reserved bytes, then 12 bytes for each of the 8 and 4 places {type, 3
    /// reserved, size, elements}, little-endian; unused places are 0.
    std::array<std::byte, image_size> encode() const noexcept;
    /// Nothing unless there are 148 bytes. Unchecked: validate() next.
    static std::optional<handler_schema> decode(std::span<const std::byte> image) noexcept;

    /// Compares what is in use.
    friend bool operator==(const handler_schema& a, const handler_schema& b) noexcept;

  private:
    static constexpr length_rule rule_of(std::span<const type_desc> values) noexcept {
        length_rule rule;
        for (const auto& value : values) {
            rule.fixed += value.size_bytes;
            if (value.is_variable()) rule.step = element_size(value.type);
        }
        return rule;
    }
};

/// errc::invalid_argument with a sentence that names the first field that cannot be: more than 8 arguments or
/// 4 results, a number that is no type, a size or a count that does not fit the type, a second variable
/// value.
error_info validate(const handler_schema& schema);

/// errc::invalid_argument with a sentence that names the first field in which `found` differs from `wanted`,
/// with both values; no error if they agree.
error_info compare(const handler_schema& wanted, const handler_schema& found);

} // namespace rocio::rpc
