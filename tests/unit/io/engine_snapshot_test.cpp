// What the engine tells of itself, while a handler of it blocks too.

#include "queue_pair_fixture.hpp"

#include <rocio/io/busy_poll_thread.hpp>

#include <boost/asio/post.hpp>

#include <future>
#include <numeric>
#include <thread>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

void spin_for(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

class engine_snapshot_test : public queue_pair_fixture {
  protected:
    registered_buffer small() { return memory.buffer(0, 64); }
};

TEST_F(engine_snapshot_test, knows_the_name_it_was_given) {
    EXPECT_EQ(engine().snapshot().name, "");
    engine().set_name("data plane");
    EXPECT_EQ(engine().snapshot().name, "data plane");
}

TEST_F(engine_snapshot_test, a_busy_poll_thread_gives_its_name) {
    busy_poll_thread_config config;
    config.name = "a thread with a long name";
    busy_poll_thread thread(config);
    EXPECT_EQ(completion_engine::of(thread.context()).snapshot().name, config.name);
}

TEST_F(engine_snapshot_test, counts_the_longest_gap_of_each_turn) {
    auto qp = connected();
    for (int i = 0; i < 3; ++i) {
        qp.async_receive(small(), [&](error_code, received_message) { spin_for(3ms); });
        ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
        run();
    }
    const auto s = engine().snapshot();
    EXPECT_LE(s.gaps.count, s.turns) << "no more than one for each turn";
    EXPECT_EQ(std::accumulate(s.gaps.per_power.begin(), s.gaps.per_power.end(), std::uint64_t{0}),
              s.gaps.count);
    const auto above_2ms = std::accumulate(s.gaps.per_power.begin() + 22, s.gaps.per_power.end(), 0UL);
    EXPECT_GE(above_2ms, 3U) << "each of the slow handlers shows";
    EXPECT_EQ(s.gaps.max, s.longest_gap);
    EXPECT_GE(s.longest_gap, 3ms);
}

TEST_F(engine_snapshot_test, the_wait_in_the_kernel_is_no_gap) {
    engine().set_policy(polling_policy::park());
    auto qp = connected();
    qp.async_receive(small(), [](error_code, received_message) {});
    run_until([&] { return engine().snapshot().waits > 0; });
    const auto before = engine().snapshot();
    // Nobody runs the context for a while; but the engine had gone to sleep before.
    spin_for(5ms);
    const auto parked = engine().snapshot();
    EXPECT_EQ(parked.turn_due, 0ns);
    EXPECT_EQ(parked.in_turn, 0ns);
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run();
    const auto after = engine().snapshot();
    const auto over_4ms = [](const engine_snapshot& s) {
        return std::accumulate(s.gaps.per_power.begin() + 23, s.gaps.per_power.end(), 0UL);
    };
    EXPECT_EQ(over_4ms(after), over_4ms(before));
}

TEST_F(engine_snapshot_test, a_turn_that_is_due_and_does_not_begin_shows) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    EXPECT_EQ(engine().snapshot().turn_due, 0ns) << "nothing is outstanding";
    qp.async_receive(small(), [](error_code, received_message) {});
    spin_for(2ms);
    EXPECT_GE(engine().snapshot().turn_due, 2ms);
    while (engine().snapshot().turns == 0) context.run_one();
    spin_for(1ms);
    const auto s = engine().snapshot();
    EXPECT_GE(s.turn_due, 1ms) << "since the turn ended";
    EXPECT_EQ(s.in_turn, 0ns);
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run();
    EXPECT_EQ(engine().snapshot().turn_due, 0ns);
}

TEST_F(engine_snapshot_test, cpu_time_is_that_of_the_thread_which_had_the_last_turn) {
    EXPECT_EQ(engine().snapshot().cpu_time, 0ns) << "no turn so far";
    auto qp = connected();
    qp.async_receive(small(), [&](error_code, received_message) { spin_for(1ms); });
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run();
    const auto here = engine().snapshot().cpu_time;
    EXPECT_GT(here, 0ns);
    spin_for(2ms);
    EXPECT_GT(engine().snapshot().cpu_time, here);

    qp.async_receive(small(), [&](error_code, received_message) {});
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    std::thread([&] { run(); }).join();
    EXPECT_EQ(engine().snapshot().cpu_time, 0ns) << "that thread has ended";
}

TEST_F(engine_snapshot_test, is_told_while_a_handler_in_the_turn_blocks) {
    busy_poll_thread thread;
    auto& engine = completion_engine::of(thread.context());
    queue_pair qp(thread.get_executor(), dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    std::promise<void> entered, release;
    qp.async_receive(small(), [&](error_code, received_message) {
        entered.set_value();
        release.get_future().wait();
    });
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    ASSERT_EQ(entered.get_future().wait_for(patience), std::future_status::ready);
    const auto first = engine.snapshot();
    spin_for(2ms);
    const auto second = engine.snapshot();
    EXPECT_GT(first.in_turn, 0ns);
    EXPECT_GE(second.in_turn, first.in_turn + 2ms);
    EXPECT_EQ(second.turn_due, 0ns) << "it has begun";
    EXPECT_EQ(qp.snapshot().state, "ready to send");
    release.set_value();
    thread.join();
    EXPECT_EQ(engine.snapshot().in_turn, 0ns);
    EXPECT_GE(engine.snapshot().longest_gap, 2ms);
}

TEST_F(engine_snapshot_test, a_turn_that_a_handler_ended_by_throwing_is_over) {
    auto qp = connected();
    qp.async_receive(small(), [](error_code, received_message) { throw std::runtime_error("mine"); });
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_EQ(engine().snapshot().in_turn, 0ns);
    run();
}

} // namespace
} // namespace rocio::test
