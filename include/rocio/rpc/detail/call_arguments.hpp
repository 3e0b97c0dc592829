#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/rpc/call_options.hpp>
#include <rocio/rpc/signature.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/async_result.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocio::rpc::detail {

template <class R>
struct completion_of : std::type_identity<void(error_code, R)> {};
template <>
struct completion_of<void> : std::type_identity<void(error_code)> {};

/// Divides what async_call() is given behind the function's name: the signature's arguments, perhaps options,
/// perhaps a token.
template <class Signature, class Executor, class... Rest>
struct split_arguments {
    using parts = signature_parts<Signature>;
    using values = typename parts::arguments;
    using completion_signature = typename completion_of<typename parts::result>::type;

    static constexpr std::size_t arity = parts::arity;
    static constexpr std::size_t given = sizeof...(Rest);
    using all = std::tuple<Rest&&...>;

    static constexpr bool has_options() noexcept {
        if constexpr (given > arity) {
            return std::is_convertible_v<std::tuple_element_t<arity, std::tuple<Rest...>>, call_options>;
        } else {
            return false;
        }
    }
    static constexpr std::size_t before_token = arity + (has_options() ? 1 : 0);
    static constexpr bool has_token = given > before_token;

    template <std::size_t... I>
    static constexpr bool convertible(std::index_sequence<I...>) noexcept {
        return (std::is_convertible_v<std::tuple_element_t<I, std::tuple<Rest...>>,
                                      std::tuple_element_t<I, values>> &&
                ...);
    }
    static constexpr bool valid() noexcept {
        if constexpr (given < arity || given > before_token + 1) {
            return false;
        } else {
            return convertible(std::make_index_sequence<arity>()) &&
                   asio::completion_token_for<std::decay_t<token_type>, completion_signature>;
        }
    }

    template <bool Given, class = void>
    struct token_at : std::type_identity<default_token_t<Executor>> {};
    template <class Unused>
    struct token_at<true, Unused>
        : std::type_identity<
              std::remove_reference_t<std::tuple_element_t<before_token, std::tuple<Rest...>>>> {};
    using token_type = typename token_at<has_token>::type;

    static decltype(auto) token(all& from) {
        if constexpr (has_token) {
            return std::get<before_token>(std::move(from));
        } else {
            return default_token_t<Executor>();
        }
    }
    static call_options options(all& from) {
        if constexpr (has_options()) {
            return std::get<arity>(std::move(from));
        } else {
            return {};
        }
    }
    static values arguments(all& from) {
        return [&from]<std::size_t... I>(std::index_sequence<I...>) {
            return values(
                static_cast<std::tuple_element_t<I, values>>(std::get<I>(static_cast<all&&>(from)))...);
        }
        (std::make_index_sequence<arity>());
    }
};

template <class Signature, class Executor, class... Rest>
concept call_arguments = split_arguments<Signature, Executor, Rest...>::valid();

} // namespace rocio::rpc::detail
