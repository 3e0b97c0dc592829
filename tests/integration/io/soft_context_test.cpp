// The engine with the soft device: a context each, which end when they have nothing left to do.

#include "test_device.hpp"

#include <rocio/io/busy_poll_context.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace rocio::test {
namespace {

/// A context, a device and a connected queue pair.
struct endpoint {
    endpoint(const std::string& address, polling_policy policy)
        : context(policy),
          dev(open_device(test_device("soft:" + address))),
          memory(dev, 4096),
          pair(std::in_place, context, dev) {}

    local_parameters prepare() {
        local_parameters ours;
        throw_if(pair->as_connectable()->prepare(ours));
        return ours;
    }
    void establish(const local_parameters& with) {
        peer_parameters peer;
        static_cast<endpoint_parameters&>(peer) = with;
        throw_if(pair->as_connectable()->establish(peer));
        pair->as_connectable()->connected(nullptr);
    }
    void run() {
        context.run_for(std::chrono::seconds(30));
        EXPECT_TRUE(context.stopped());
    }

    busy_poll_context context;
    std::shared_ptr<device> dev;
    memory_region memory;
    std::optional<queue_pair> pair;
};

class soft_contexts : public ::testing::TestWithParam<polling_policy> {
  protected:
    endpoint a{"127.33.0.1", GetParam()}, b{"127.33.0.2", GetParam()};

    void SetUp() override {
        const auto ours = a.prepare(), theirs = b.prepare();
        a.establish(theirs);
        b.establish(ours);
    }
    void run_both() {
        std::thread other([this] { b.run(); });
        a.run();
        other.join();
    }
    /// Sends one message from a; the result.
    error_code send_one() {
        error_code result = errc::invalid_state;
        a.pair->async_send(a.memory.buffer(0, 100), [&](error_code ec) { result = ec; });
        run_both();
        return result;
    }
};

TEST_P(soft_contexts, acknowledge_the_last_message_before_run_ends) {
    std::size_t size = 0;
    b.pair->async_receive(b.memory.buffer(0, 200), [&](error_code, received_message m) { size = m.size; });
    EXPECT_FALSE(send_one());
    EXPECT_EQ(size, 100U);
}

TEST_P(soft_contexts, acknowledge_a_message_whose_handler_destroys_the_queue_pair) {
    b.pair->async_receive(b.memory.buffer(0, 200), [&](error_code ec, received_message) {
        EXPECT_FALSE(ec);
        b.pair.reset();
    });
    EXPECT_FALSE(send_one());
}

TEST_P(soft_contexts, notice_a_peer_that_does_not_run_any_more) {
    error_code result, closed;
    a.pair->async_send(a.memory.buffer(0, 100), [&](error_code ec) { result = ec; });
    a.pair->async_wait_closed([&](error_code ec) { closed = ec; });
    a.run(); // b is never served
    EXPECT_EQ(result, errc::retry_exceeded);
    EXPECT_EQ(closed, errc::retry_exceeded);
}

TEST_P(soft_contexts, exchange_many_messages) {
    constexpr int rounds = 2000;
    int asked = 0, answered = 0;
    std::function<void()> ask = [&] {
        a.pair->async_receive(a.memory.buffer(1024, 64), [&](error_code ec, received_message) {
            ASSERT_FALSE(ec);
            if (++asked < rounds) ask();
        });
        a.pair->async_send(a.memory.buffer(0, 64), [](error_code ec) { EXPECT_FALSE(ec); });
    };
    std::function<void()> answer = [&] {
        b.pair->async_receive(b.memory.buffer(1024, 64), [&](error_code ec, received_message) {
            ASSERT_FALSE(ec);
            b.pair->async_send(b.memory.buffer(0, 64), [](error_code sent) { EXPECT_FALSE(sent); });
            if (++answered < rounds) answer();
        });
    };
    answer();
    ask();
    run_both();
    EXPECT_EQ(asked, rounds);
    EXPECT_EQ(answered, rounds);
}

INSTANTIATE_TEST_SUITE_P(policies, soft_contexts,
                         ::testing::Values(polling_policy::park(), polling_policy::hybrid(),
                                           polling_policy::spin()),
                         [](const auto& p) { return std::string(p.param.name()); });

} // namespace
} // namespace rocio::test
