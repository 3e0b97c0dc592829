#pragma once

#include <boost/asio/detail/config.hpp>
#include <boost/asio/version.hpp>

// Asio's layout depends on its version and on these macros. A program and the library must agree, or objects
// of the one are misread by the other: so every translation unit that uses rocio refers to a symbol that
// names them, and the library defines the one it was built with. A mismatch is then an "undefined reference"
// at link time that says what differs.
#if defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
#define ROCIO_ABI_TRACKING _handler_tracking
#else
#define ROCIO_ABI_TRACKING
#endif
#if defined(BOOST_ASIO_DISABLE_THREADS)
#define ROCIO_ABI_THREADS _no_threads
#else
#define ROCIO_ABI_THREADS
#endif
#if defined(BOOST_ASIO_HAS_IO_URING)
#define ROCIO_ABI_REACTOR _io_uring
#elif defined(BOOST_ASIO_HAS_EPOLL)
#define ROCIO_ABI_REACTOR _epoll
#else
#define ROCIO_ABI_REACTOR _select
#endif
#if defined(BOOST_ASIO_NO_TS_EXECUTORS)
#define ROCIO_ABI_TS _no_ts_executors
#elif defined(BOOST_ASIO_USE_TS_EXECUTOR_AS_DEFAULT)
#define ROCIO_ABI_TS _ts_executor_as_default
#else
#define ROCIO_ABI_TS
#endif

#define ROCIO_ABI_PASTE(version, tracking, threads, reactor, ts)                                             \
    asio_##version##tracking##threads##reactor##ts
#define ROCIO_ABI_EXPAND(version, tracking, threads, reactor, ts)                                            \
    ROCIO_ABI_PASTE(version, tracking, threads, reactor, ts)
/// asio_102601_epoll, for example.
#define ROCIO_ASIO_ABI                                                                                       \
    ROCIO_ABI_EXPAND(BOOST_ASIO_VERSION, ROCIO_ABI_TRACKING, ROCIO_ABI_THREADS, ROCIO_ABI_REACTOR,           \
                     ROCIO_ABI_TS)

namespace rocio::abi {

/// Only for its name.
extern const char ROCIO_ASIO_ABI;

namespace {
[[gnu::used]] const char* const required = &ROCIO_ASIO_ABI;
}

} // namespace rocio::abi
