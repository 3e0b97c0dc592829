#pragma once

#include "tracker_executor.hpp"

#include <rocio/types/error.hpp>

#include <gtest/gtest.h>

#include <tuple>

namespace rocio::test {

/// What a handler void(error_code, Results...) was called with. Fails the test when it is called inside the
/// initiating function (made with initiation_scope).
template <class... Results>
class recorder {
  public:
    auto handler() {
        return [this](error_code ec, Results... r) {
            EXPECT_FALSE(initiation_scope::active()) << "called inside the initiating function";
            ++calls_;
            ec_ = ec;
            results_ = std::tuple<Results...>(std::move(r)...);
        };
    }

    int calls() const noexcept { return calls_; }
    bool done() const noexcept { return calls_ > 0; }
    const error_code& ec() const noexcept { return ec_; }
    const auto& result() const noexcept { return std::get<0>(results_); }

  private:
    int calls_ = 0;
    error_code ec_{};
    std::tuple<Results...> results_{};
};

} // namespace rocio::test
