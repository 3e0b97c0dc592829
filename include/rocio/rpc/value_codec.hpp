#pragma once

#include <rocio/rpc/detail/little_endian.hpp>
#include <rocio/rpc/handler_schema.hpp>
#include <rocio/rpc/packed_view.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rocio::rpc {

namespace detail {

template <class T>
constexpr std::optional<type_id> scalar_type() noexcept {
    if constexpr (std::same_as<T, std::uint8_t>) return type_id::uint8;
    if constexpr (std::same_as<T, std::int32_t>) return type_id::int32;
    if constexpr (std::same_as<T, std::int64_t>) return type_id::int64;
    if constexpr (std::same_as<T, float>) return type_id::float32;
    if constexpr (std::same_as<T, double>) return type_id::float64;
    return std::nullopt;
}

template <class T>
constexpr std::optional<type_id> array_type() noexcept {
    if constexpr (std::same_as<T, std::uint8_t> || std::same_as<T, std::byte>) return type_id::array_uint8;
    if constexpr (std::same_as<T, std::int32_t>) return type_id::array_int32;
    if constexpr (std::same_as<T, float>) return type_id::array_float32;
    if constexpr (std::same_as<T, double>) return type_id::array_float64;
    return std::nullopt;
}

template <class T>
concept scalar = scalar_type<T>()
.has_value();
template <class T>
concept array_element = array_type<T>()
.has_value();

template <class Range>
void encode_elements(const Range& values, std::span<std::byte> out) noexcept {
    for (const auto value : values) {
        store_little(value, out.first<sizeof(value)>());
        out = out.subspan(sizeof(value));
    }
}

template <class Range>
void decode_elements(std::span<const std::byte> in, Range& values) noexcept {
    using element = typename Range::value_type;
    for (auto& value : values) {
        value = load_little<element>(in.first<sizeof(element)>());
        in = in.subspan(sizeof(element));
    }
}

template <class T>
inline constexpr type_desc variable_array{*array_type<T>(), 0, 0};

} // namespace detail

/// How a C++ type travels. Members: `desc`; `owns` (false for a view of memory that is not its own, which a
/// result cannot be); `size(value)`; `encode(value, exactly size bytes)`; `decode(bytes)`, given exactly
/// desc.size_bytes, or for a variable value any multiple of its element. None of them allocates but vector's
/// decode.
///
/// - std::uint8_t, std::int32_t, std::int64_t, float, double: the scalars of the same name.
/// - std::array<T, N> of std::uint8_t, std::byte, std::int32_t, float, double: the array of N elements.
/// - std::bitset<N>: bit_packed of N bits.
/// - std::vector<T> and packed_view<T> of the same elements: the array of as many as the message brings.
/// - std::span<const std::uint8_t>, std::span<const std::byte>: the same for bytes, in place. A span of
/// larger
///   elements can be sent only: in a message they need not be aligned (take them as packed_view or vector).
template <class T>
struct value_codec;

template <detail::scalar T>
struct value_codec<T> {
    static constexpr type_desc desc{*detail::scalar_type<T>(), sizeof(T), 1};
    static constexpr bool owns = true;
    static constexpr std::size_t size(T) noexcept { return sizeof(T); }
    static void encode(T value, std::span<std::byte> out) noexcept {
        detail::store_little(value, out.first<sizeof(T)>());
    }
    static T decode(std::span<const std::byte> in) noexcept {
        return detail::load_little<T>(in.first<sizeof(T)>());
    }
};

template <detail::array_element T, std::size_t N>
requires(N > 0 && N * sizeof(T) <= UINT32_MAX) struct value_codec<std::array<T, N>> {
    static constexpr type_desc desc{*detail::array_type<T>(), N * sizeof(T), N};
    static constexpr bool owns = true;
    static constexpr std::size_t size(const std::array<T, N>&) noexcept { return N * sizeof(T); }
    static void encode(const std::array<T, N>& value, std::span<std::byte> out) noexcept {
        detail::encode_elements(value, out);
    }
    static std::array<T, N> decode(std::span<const std::byte> in) noexcept {
        std::array<T, N> value;
        detail::decode_elements(in, value);
        return value;
    }
};

template <std::size_t N>
requires(N > 0 && N <= UINT32_MAX) struct value_codec<std::bitset<N>> {
    static constexpr type_desc desc{type_id::bit_packed, (N + 7) / 8, N};
    static constexpr bool owns = true;
    static constexpr std::size_t size(const std::bitset<N>&) noexcept { return (N + 7) / 8; }
    static void encode(const std::bitset<N>& value, std::span<std::byte> out) noexcept {
        std::fill_n(out.begin(), (N + 7) / 8, std::byte{0});
        for (std::size_t i = 0; i < N; ++i) {
            if (value[i]) out[i / 8] |= std::byte{1} << (i % 8);
        }
    }
    static std::bitset<N> decode(std::span<const std::byte> in) noexcept {
        std::bitset<N> value;
        for (std::size_t i = 0; i < N; ++i) value[i] = (in[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
        return value;
    }
};

template <detail::array_element T>
struct value_codec<std::vector<T>> {
    static constexpr type_desc desc = detail::variable_array<T>;
    static constexpr bool owns = true;
    static std::size_t size(const std::vector<T>& value) noexcept { return value.size() * sizeof(T); }
    static void encode(const std::vector<T>& value, std::span<std::byte> out) noexcept {
        detail::encode_elements(value, out);
    }
    static std::vector<T> decode(std::span<const std::byte> in) {
        std::vector<T> value(in.size() / sizeof(T));
        detail::decode_elements(in, value);
        return value;
    }
};

template <detail::array_element T>
struct value_codec<packed_view<T>> {
    static constexpr type_desc desc = detail::variable_array<T>;
    static constexpr bool owns = false;
    static std::size_t size(const packed_view<T>& value) noexcept { return value.bytes().size(); }
    static void encode(const packed_view<T>& value, std::span<std::byte> out) noexcept {
        std::ranges::copy(value.bytes(), out.begin());
    }
    static packed_view<T> decode(std::span<const std::byte> in) noexcept { return packed_view<T>(in); }
};

template <detail::array_element T>
struct value_codec<std::span<const T>> {
    static constexpr type_desc desc = detail::variable_array<T>;
    static constexpr bool owns = false;
    static std::size_t size(std::span<const T> value) noexcept { return value.size_bytes(); }
    static void encode(std::span<const T> value, std::span<std::byte> out) noexcept {
        detail::encode_elements(value, out);
    }
    static std::span<const T> decode(std::span<const std::byte> in) noexcept requires(sizeof(T) == 1) {
        // Any object may be looked at as unsigned char, which std::uint8_t and std::byte are in this.
        return {reinterpret_cast<const T*>(in.data()), in.size()};
    }
};

/// Can be sent as an argument.
template <class T>
concept sendable_value = requires(const T& value, std::span<std::byte> out) {
    { value_codec<T>::desc } -> std::convertible_to<type_desc>;
    { value_codec<T>::size(value) } -> std::same_as<std::size_t>;
    value_codec<T>::encode(value, out);
};

/// Can be a handler's parameter.
template <class T>
concept receivable_value = sendable_value<T> && requires(std::span<const std::byte> in) {
    { value_codec<T>::decode(in) } -> std::same_as<T>;
};

/// Can be a result.
template <class T>
concept result_value = receivable_value<T> && value_codec<T>::owns && std::default_initializable<T>;

} // namespace rocio::rpc
