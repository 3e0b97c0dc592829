#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

namespace rocio::test {

/// Runs the context until `work` has ended; throws what it threw, and when the time is over.
inline void run_within(std::chrono::seconds limit, boost::asio::io_context& context,
                       boost::asio::awaitable<void> work) {
    std::exception_ptr failure;
    bool over = false;
    boost::asio::co_spawn(context, std::move(work), [&](std::exception_ptr e) {
        failure = std::move(e);
        over = true;
        context.stop();
    });
    context.run_for(limit);
    if (!over) throw std::runtime_error("no end within " + std::to_string(limit.count()) + " s");
    if (failure) std::rethrow_exception(failure);
}

} // namespace rocio::test
