#pragma once

#include <rocio/async/asio_abi.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <type_traits>

namespace rocio {

namespace asio = boost::asio;

namespace async {

template <class Executor, class = void>
struct default_token {
    using type = asio::deferred_t;
};
template <class Executor>
struct default_token<Executor,
                     std::enable_if_t<!std::is_void_v<asio::default_completion_token_t<Executor>>>> {
    using type = asio::default_completion_token_t<Executor>;
};

} // namespace async

/// The completion token of an operation that is called without one: the executor's own default where it has
/// one (as_default_on), else asio::deferred. Boost 1.81 has no default of its own.
template <class Executor>
using default_token_t = typename async::default_token<Executor>::type;

} // namespace rocio
