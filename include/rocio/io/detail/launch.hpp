#pragma once

#include <rocio/async/cancellation.hpp>
#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::detail {

/// Builds the operation for `handler` and starts it on `target`, which has engine(), start(Operation*) and
/// cancel(const void* key, asio::cancellation_type).
template <class Operation, class Handler, class Executor, class Target, class... Args>
void launch(Handler&& handler, const Executor& executor, const std::shared_ptr<Target>& target,
            Args&&... args) {
    using handler_type = std::decay_t<Handler>;
    handler_type owned(std::forward<Handler>(handler));
    const auto slot = asio::get_associated_cancellation_slot(owned);
    auto& engine = target->engine();
    Operation* op = async::handler_operation<Operation, handler_type, Executor>::make(
        std::move(owned), executor, engine.context(), engine.memory(), std::forward<Args>(args)...);
    async::connect_slot(slot, target, *op);
    target->start(op);
}

} // namespace rocio::detail
