#pragma once

#include <rocio/io/completion_engine.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace rocio::test {

/// A test with an io_context. Fails if work is left on the context at its end, which is how a lost completion
/// shows.
class io_context_fixture : public ::testing::Test {
  protected:
    static constexpr std::chrono::seconds patience{20};

    boost::asio::io_context context;

    completion_engine& engine() { return completion_engine::of(context); }

    /// Runs until nothing is left to do; fails if that takes longer than `patience`.
    void run() {
        context.restart();
        context.run_for(patience);
        ASSERT_TRUE(context.stopped()) << "the context still has work after " << patience.count() << " s";
    }

    /// Runs until `done()`; fails if that takes longer than `patience` or nothing is left to do before.
    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) {
            ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
        }
    }

    /// Runs what is ready now and no more.
    std::size_t poll(std::size_t most = 1000) {
        context.restart();
        std::size_t n = 0;
        while (n < most && context.poll_one() > 0) ++n;
        return n;
    }

    void TearDown() override {
        EXPECT_EQ(engine().snapshot().outstanding, 0U) << "operations are left";
        context.restart();
        context.run_for(patience);
        EXPECT_TRUE(context.stopped()) << "work is left on the context";
    }
};

} // namespace rocio::test
