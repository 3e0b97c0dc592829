#pragma once

#include <rocio/rpc/handler_schema.hpp>
#include <rocio/rpc/value_codec.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocio::rpc {

namespace detail {

/// A list of values that follow each other without padding; at most one is variable.
template <class... Ts>
struct value_list {
    static constexpr std::size_t count = sizeof...(Ts);
    static constexpr std::size_t variable_count =
        (std::size_t{0} + ... + (value_codec<Ts>::desc.is_variable() ? 1 : 0));
    static constexpr std::size_t fixed_size = (std::size_t{0} + ... + value_codec<Ts>::desc.size_bytes);

    template <std::size_t Places>
    static constexpr void describe(std::array<type_desc, Places>& out) noexcept {
        [[maybe_unused]] std::size_t i = 0;
        ((out[i++] = value_codec<Ts>::desc), ...);
    }

    static std::size_t size(const std::tuple<Ts...>& values) noexcept {
        return std::apply(
            [](const auto&... v) {
                return (std::size_t{0} + ... + value_codec<std::remove_cvref_t<decltype(v)>>::size(v));
            },
            values);
    }
    /// `out` has size(values) bytes or more.
    static void encode(const std::tuple<Ts...>& values, std::span<std::byte> out) noexcept {
        const auto put = [&out](const auto& v) {
            using codec = value_codec<std::remove_cvref_t<decltype(v)>>;
            const auto n = codec::size(v);
            codec::encode(v, out.first(n));
            out = out.subspan(n);
        };
        std::apply([&put](const auto&... v) { (put(v), ...); }, values);
    }
    /// `in` has a length that the list's rule accepts.
    static std::tuple<Ts...> decode(std::span<const std::byte> in) {
        [[maybe_unused]] const std::size_t variable = in.size() - fixed_size;
        return std::tuple<Ts...>{take<Ts>(in, variable)...};
    }

  private:
    template <class T>
    static T take(std::span<const std::byte>& in, std::size_t variable) {
        using codec = value_codec<T>;
        const std::size_t n = codec::desc.is_variable() ? variable : codec::desc.size_bytes;
        const auto bytes = in.first(n);
        in = in.subspan(n);
        return codec::decode(bytes);
    }
};

template <class R>
struct result_list {
    using type = value_list<R>;
    static constexpr bool allowed = result_value<R>;
    static std::tuple<R> as_tuple(R&& r) { return std::tuple<R>(std::move(r)); }
    static R from_tuple(std::tuple<R>&& t) { return std::get<0>(std::move(t)); }
};
template <>
struct result_list<void> {
    using type = value_list<>;
    static constexpr bool allowed = true;
};
template <class... Rs>
struct result_list<std::tuple<Rs...>> {
    using type = value_list<Rs...>;
    static constexpr bool allowed = (result_value<Rs> && ...);
    static std::tuple<Rs...> as_tuple(std::tuple<Rs...>&& r) { return std::move(r); }
    static std::tuple<Rs...> from_tuple(std::tuple<Rs...>&& t) { return std::move(t); }
};

template <class Signature>
struct signature_parts;
template <class R, class... Args>
struct signature_parts<R(Args...)> {
    using result = R;
    using result_traits = result_list<R>;
    using arguments = std::tuple<std::remove_cvref_t<Args>...>;
    using argument_values = value_list<std::remove_cvref_t<Args>...>;
    static constexpr std::size_t arity = sizeof...(Args);
    static constexpr bool sendable = (sendable_value<std::remove_cvref_t<Args>> && ...);
    static constexpr bool receivable = (receivable_value<std::remove_cvref_t<Args>> && ...);
    static constexpr bool results_allowed = result_traits::allowed;

    // A handler cannot write into its arguments.
    static constexpr bool no_mutable_references =
        ((!std::is_lvalue_reference_v<Args> || std::is_const_v<std::remove_reference_t<Args>>)&&...);
};

template <class Signature>
constexpr bool within_limits() noexcept {
    using parts = signature_parts<Signature>;
    using results = typename parts::result_traits::type;
    return parts::arity <= handler_schema::max_args && results::count <= handler_schema::max_results &&
           parts::argument_values::variable_count <= 1 && results::variable_count <= 1;
}

template <class Signature>
inline constexpr bool is_signature = false;
template <class R, class... Args>
inline constexpr bool is_signature<R(Args...)> = true;

} // namespace detail

/// A function type whose arguments can be sent and whose result can come back: `void`, one value, or a
/// std::tuple of up to 4; up to 8 arguments; at most one variable value in each direction (value_codec.hpp).
template <class S>
concept call_signature = detail::is_signature<S> && detail::signature_parts<S>::sendable &&
    detail::signature_parts<S>::results_allowed && detail::within_limits<S>();

/// A call_signature whose arguments a handler can take. Parameters may be `const T&`.
template <class S>
concept handler_signature = call_signature<S> && detail::signature_parts<S>::receivable &&
    detail::signature_parts<S>::no_mutable_references;

/// The schema that follows from a signature.
template <call_signature S>
constexpr handler_schema schema_of() noexcept {
    using parts = detail::signature_parts<S>;
    using results = typename parts::result_traits::type;
    handler_schema schema;
    schema.num_args = parts::arity;
    schema.num_results = results::count;
    parts::argument_values::describe(schema.args);
    results::describe(schema.results);
    return schema;
}

} // namespace rocio::rpc
