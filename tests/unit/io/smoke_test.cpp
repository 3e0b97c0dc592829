#include "queue_pair_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

class two_queue_pairs : public queue_pair_fixture, public ::testing::WithParamInterface<polling_policy> {
  protected:
    void SetUp() override {
        engine().set_policy(GetParam());
        connect_pairs(a, b);
    }
    queue_pair a{context, dev};
    queue_pair b{context, dev};
};

TEST_P(two_queue_pairs, exchange_messages_with_callbacks) {
    std::optional<received_message> got;
    bool sent = false;
    const auto buffer = memory.buffer(1024, 64);
    b.async_receive(buffer, [&](error_code ec, received_message m) {
        EXPECT_FALSE(ec);
        got = m;
    });
    a.async_send_with_immediate(text("hello"), 77, [&](error_code ec) {
        EXPECT_FALSE(ec);
        sent = true;
    });
    EXPECT_FALSE(sent);
    run();
    EXPECT_TRUE(sent);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size, 5U);
    EXPECT_EQ(got->immediate, 77U);
    EXPECT_EQ(text_of(buffer, 5), "hello");
}

TEST_P(two_queue_pairs, play_ping_pong_in_coroutines) {
    constexpr int rounds = 1000;
    int answered = 0;
    const auto ping = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            co_await a.async_send(memory.buffer(0, 8), asio::use_awaitable);
            co_await a.async_receive(memory.buffer(64, 8), asio::use_awaitable);
            ++answered;
        }
    };
    const auto pong = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            co_await b.async_receive(memory.buffer(128, 8));
            co_await b.async_send(memory.buffer(192, 8));
        }
    };
    asio::co_spawn(context, ping(), asio::detached);
    asio::co_spawn(context, pong(), asio::detached);
    run();
    EXPECT_EQ(answered, rounds);
}

INSTANTIATE_TEST_SUITE_P(policies, two_queue_pairs,
                         ::testing::Values(polling_policy::park(), polling_policy::hybrid(),
                                           polling_policy::spin()),
                         [](const auto& p) { return std::string(p.param.name()); });

} // namespace
} // namespace rocio::test
