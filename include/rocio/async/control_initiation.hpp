#pragma once

#include <rocio/async/control_handler.hpp>

#include <utility>

namespace rocio::async {

/// Initiation of a control-plane operation: erases the handler and hands it to a compiled function.
template <class Signature, class Executor>
struct control_initiation {
    Executor executor;

    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor; }

    template <class Handler, class Start, class... Args>
    void operator()(Handler&& handler, Start start, Args&&... args) const {
        start(std::forward<Args>(args)...,
              control_handler<Signature>(std::forward<Handler>(handler), executor));
    }
};

} // namespace rocio::async
