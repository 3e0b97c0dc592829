#pragma once

#include <rocio/async/control_handler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <exception>
#include <utility>

namespace rocio::detail {

using any_strand = boost::asio::strand<boost::asio::any_io_executor>;

/// Runs the coroutine `work()` on `strand`, from any thread, and gives what comes of it to `handler`, on the
/// handler's executor. The coroutine begins on the strand: its any_io_executor then has owners on one side
/// only, and Asio 1.26 counts those in a way that ThreadSanitizer does not follow between threads.
template <class Result, class Work>
void run_on_strand(const any_strand& strand, Work work,
                   async::control_handler<void(std::exception_ptr, Result)> handler) {
    boost::asio::post(strand, [strand, w = std::move(work), h = std::move(handler)]() mutable {
        boost::asio::co_spawn(boost::asio::any_io_executor(strand), std::move(w),
                              [h = std::move(h)](std::exception_ptr failure, Result result) mutable {
                                  h.post(std::move(failure), std::move(result));
                              });
    });
}

/// As above, for nobody.
template <class Work>
void run_on_strand(const any_strand& strand, Work work) {
    boost::asio::post(strand, [strand, w = std::move(work)]() mutable {
        boost::asio::co_spawn(boost::asio::any_io_executor(strand), std::move(w), boost::asio::detached);
    });
}

} // namespace rocio::detail
