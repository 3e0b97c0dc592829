#pragma once

#include <rocio/async/io_context_of.hpp>
#include <rocio/io/completion_engine.hpp>

namespace rocio::detail {

[[noreturn]] void throw_unsupported_context();

/// The engine behind an executor; throws rocio::exception(errc::unsupported_context).
template <class Executor>
completion_engine& engine_of(const Executor& executor) {
    auto* context = async::io_context_of(executor);
    if (!context) throw_unsupported_context();
    return completion_engine::of(*context);
}

} // namespace rocio::detail
