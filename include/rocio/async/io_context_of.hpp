#pragma once

#include <rocio/async/default_token.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <concepts>
#include <type_traits>

namespace rocio::async {

template <class T>
inline constexpr bool is_strand = false;
template <class E>
inline constexpr bool is_strand<asio::strand<E>> = true;

/// True for any_io_executor and what as_default_on makes of it (a class derived from it).
template <class E>
concept erased_executor = std::derived_from<E, asio::any_io_executor>;

/// True for an io_context's executor and what as_default_on makes of it.
template <class E>
concept io_context_executor = std::derived_from<E, asio::io_context::executor_type>;

/// The io_context an executor runs on, or null if it is another kind of context (thread_pool, system_context)
/// or an executor this cannot see into.
template <class Executor>
asio::io_context* io_context_of(const Executor& executor) noexcept {
    if constexpr (erased_executor<Executor>) {
        using direct = asio::io_context::executor_type;
        using tracked = std::decay_t<decltype(asio::require(std::declval<const direct&>(),
                                                            asio::execution::outstanding_work.tracked))>;
        const asio::any_io_executor& erased = executor;
        if (auto* e = erased.template target<direct>()) return io_context_of(*e);
        if (auto* e = erased.template target<tracked>()) return io_context_of(*e);
        if (auto* e = erased.template target<asio::strand<direct>>()) return io_context_of(*e);
        if (auto* e = erased.template target<asio::strand<tracked>>()) return io_context_of(*e);
        if (auto* e = erased.template target<asio::strand<asio::any_io_executor>>()) return io_context_of(*e);
        if (auto* e = erased.template target<asio::any_io_executor>()) return io_context_of(*e);
        return nullptr;
    } else if constexpr (is_strand<Executor>) {
        return io_context_of(executor.get_inner_executor());
    } else if constexpr (requires {
                             {
                                 &asio::query(executor, asio::execution::context)
                                 } -> std::same_as<asio::io_context*>;
                         }) {
        return &asio::query(executor, asio::execution::context);
    } else {
        return nullptr;
    }
}

/// True when `executor` is the context's own, so that a handler may be called directly from inside the
/// context.
template <class Executor>
bool is_executor_of(const Executor& executor, asio::io_context& context) noexcept {
    using direct = asio::io_context::executor_type;
    if constexpr (io_context_executor<Executor>) {
        return static_cast<const direct&>(executor) == context.get_executor();
    } else if constexpr (erased_executor<Executor>) {
        auto* e = static_cast<const asio::any_io_executor&>(executor).template target<direct>();
        return e && *e == context.get_executor();
    } else {
        return false;
    }
}

} // namespace rocio::async
