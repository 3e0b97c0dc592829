#pragma once

#include <boost/asio/async_result.hpp>

#include <utility>

namespace rocio::test {

/// A completion token that starts nothing and gives an int: what any lazy adapter may do.
struct lazy_token {};

/// A completion token that starts the operation with a handler of its own and gives an int.
struct eager_token {};

struct archetype_handler {
    explicit archetype_handler(eager_token) noexcept {}
    template <class... Args>
    void operator()(Args&&...) {}
};

} // namespace rocio::test

namespace boost::asio {

template <class Signature>
class async_result<rocio::test::lazy_token, Signature> {
  public:
    using return_type = int;
    template <class Initiation, class... Args>
    static return_type initiate(Initiation&&, rocio::test::lazy_token, Args&&...) {
        return 42;
    }
};

template <class Signature>
class async_result<rocio::test::eager_token, Signature> {
  public:
    using return_type = int;
    template <class Initiation, class... Args>
    static return_type initiate(Initiation&& initiation, rocio::test::eager_token token, Args&&... args) {
        std::forward<Initiation>(initiation)(rocio::test::archetype_handler(token),
                                             std::forward<Args>(args)...);
        return 43;
    }
};

} // namespace boost::asio
