// Completion channel: arming, events, acknowledgements. The engine parks, so everything depends on them.

#include "queue_pair_fixture.hpp"

#include <boost/asio/steady_timer.hpp>

namespace rocio::test {
namespace {

class parked_engine : public queue_pair_fixture {
  protected:
    void receive(queue_pair& qp, std::size_t n = 1) {
        for (std::size_t i = 0; i < n; ++i) {
            qp.async_receive(memory.buffer(0, 64), [this](error_code ec, received_message) {
                EXPECT_FALSE(ec);
                ++received;
            });
        }
    }
    /// Runs until the engine waits in the kernel.
    void park() {
        poll();
        ASSERT_GT(engine().snapshot().waits, 0U);
        ASSERT_EQ(dev->events_raised(), dev->events_acknowledged());
    }

    std::size_t received = 0;
};

TEST_F(parked_engine, arms_a_queue_before_anything_can_complete_into_it) {
    queue_pair qp(context, dev);
    EXPECT_TRUE(dev->is_armed());
    EXPECT_EQ(dev->arms(), 1U);
}

TEST_F(parked_engine, delivers_what_completed_before_it_ever_ran) {
    auto qp = connected();
    receive(qp);
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, finds_a_completion_that_came_between_the_last_poll_and_the_arm) {
    auto qp = connected();
    receive(qp, 2);
    park();
    const auto arms_before = dev->arms();
    // The first message takes the event; the second comes while the queue is being armed again, and raises
    // none.
    dev->on_arm([this] { dev->complete_receive(0, bytes_of("second")); });
    dev->complete_receive(0, bytes_of("first"));
    run();
    EXPECT_EQ(received, 2U);
    EXPECT_EQ(dev->events_raised(), 1U);
    EXPECT_EQ(dev->arms(), arms_before + 1);
}

TEST_F(parked_engine, serves_a_wake_up_in_the_handler_that_it_wakes) {
    auto qp = connected();
    receive(qp, 2);
    park();
    const auto before = engine().snapshot();
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    context.restart();
    // One handler of the context: the descriptor's.
    EXPECT_EQ(context.run_one(), 1U);
    EXPECT_EQ(received, 1U);
    EXPECT_GT(engine().snapshot().turns, before.turns);
    park();
    EXPECT_EQ(engine().snapshot().waits, before.waits + 1);
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("y")));
    run();
    EXPECT_EQ(received, 2U);
}

TEST_F(parked_engine, takes_a_thousand_completions_on_one_event) {
    constexpr std::size_t messages = 1000;
    auto qp = connected({.receive_depth = messages});
    receive(qp, messages);
    park();
    for (std::size_t i = 0; i < messages; ++i) ASSERT_TRUE(dev->complete_receive(0, bytes_of("m")));
    run();
    EXPECT_EQ(received, messages);
    EXPECT_EQ(dev->events_raised(), 1U);
}

TEST_F(parked_engine, acknowledges_the_events_of_each_queue) {
    const queue_pair_config deep{.send_depth = 600, .receive_depth = 600};
    auto a = connected(deep);
    auto b = connected(deep);
    ASSERT_EQ(dev->live_completion_queues(), 2U);
    receive(a, 3);
    receive(b, 2);
    for (int i = 0; i < 2; ++i) {
        park();
        dev->complete_receive(0, bytes_of("a"));
        dev->complete_receive(1, bytes_of("b"));
    }
    park();
    dev->complete_receive(0, bytes_of("a"));
    run();
    EXPECT_EQ(received, 5U);
    EXPECT_EQ(dev->events_raised(0), 3U);
    EXPECT_EQ(dev->events_acknowledged(0), 3U);
    EXPECT_EQ(dev->events_raised(1), 2U);
    EXPECT_EQ(dev->events_acknowledged(1), 2U);
}

TEST_F(parked_engine, takes_an_event_without_a_completion_as_normal) {
    auto qp = connected();
    receive(qp);
    for (std::size_t i = 1; i <= 10; ++i) {
        park();
        dev->raise_empty_event();
        run_until([&] { return dev->events_acknowledged() == i && dev->is_armed(); });
    }
    EXPECT_EQ(received, 0U);
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, takes_a_readable_descriptor_without_an_event_as_normal) {
    auto qp = connected();
    receive(qp);
    for (int i = 0; i < 10; ++i) {
        park();
        const auto drains = dev->drains();
        dev->raise_spurious_event();
        run_until([&] { return dev->drains() > drains; });
    }
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, comes_back_to_an_event_whose_read_was_interrupted) {
    auto qp = connected();
    receive(qp);
    park();
    dev->interrupt_drains(3);
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 1U);
    EXPECT_EQ(engine().snapshot().outstanding, 0U);
}

TEST_F(parked_engine, copes_with_an_event_for_every_completion) {
    dev->set_event_per_completion(true);
    auto qp = connected();
    receive(qp, 100);
    park();
    for (int i = 0; i < 100; ++i) dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 100U);
    EXPECT_GE(dev->events_raised(), 100U);
}

TEST_F(parked_engine, does_not_pile_up_unread_events_when_work_keeps_it_from_waiting) {
    auto qp = connected();
    receive(qp, 50);
    // A message comes in the last sweep before every wait, so the engine never gets to read the event it
    // raised.
    dev->complete_receive(0, bytes_of("x"));
    dev->on_progress([&](auto) { return dev->is_armed() && dev->complete_receive(0, bytes_of("x")); });
    run();
    dev->on_progress({});
    EXPECT_EQ(received, 50U);
    EXPECT_LE(dev->events_raised() - dev->events_acknowledged(), 1U);
}

TEST_F(parked_engine, waits_in_the_kernel_while_nothing_happens) {
    auto qp = connected();
    receive(qp);
    park();
    const auto sweeps = engine().snapshot().sweeps;
    EXPECT_EQ(poll(), 0U);
    EXPECT_EQ(engine().snapshot().sweeps, sweeps);
    EXPECT_FALSE(context.stopped());
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, reports_a_queue_that_cannot_be_armed_again) {
    auto qp = connected();
    error_code ended;
    qp.async_receive(memory.buffer(0, 64), [&](error_code ec, received_message) { ended = ec; });
    dev->fail_call(device_call::arm, 1, errc::local_operation_error);
    dev->raise_empty_event();
    run();
    EXPECT_EQ(ended, errc::device_fatal);
}

TEST_F(parked_engine, ends_run_when_the_last_operation_ends_and_not_before) {
    auto qp = connected();
    receive(qp, 2);
    park();
    dev->complete_receive(0, bytes_of("x"));
    run_until([&] { return received == 1; });
    EXPECT_EQ(engine().snapshot().outstanding, 1U);
    EXPECT_FALSE(context.stopped());
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 2U);
}

TEST_F(parked_engine, is_woken_by_the_device_deadline) {
    using clock = std::chrono::steady_clock;
    auto qp = connected();
    receive(qp);
    const auto deadline = clock::now() + std::chrono::milliseconds(5);
    dev->set_next_deadline(deadline);
    dev->on_progress([&](clock::time_point now) {
        if (now < deadline) return false;
        dev->set_next_deadline(clock::time_point::max());
        return dev->complete_receive(0, bytes_of("timed"));
    });
    run();
    dev->on_progress({});
    EXPECT_EQ(received, 1U);
    EXPECT_EQ(dev->events_raised(), 1U); // armed, so raised, but not what woke the engine
    EXPECT_GE(clock::now(), deadline);
}

TEST_F(parked_engine, follows_a_deadline_that_moves_forward) {
    using clock = std::chrono::steady_clock;
    auto qp = connected();
    receive(qp);
    dev->set_next_deadline(clock::now() + std::chrono::hours(1));
    park();
    dev->set_next_deadline(clock::now());
    dev->on_progress([&](clock::time_point) { return dev->complete_receive(0, bytes_of("x")); });
    dev->raise_spurious_event();
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, does_not_keep_run_alive_for_a_deadline_when_nothing_is_outstanding) {
    auto qp = connected();
    receive(qp);
    dev->set_next_deadline(std::chrono::steady_clock::now() + std::chrono::hours(1));
    park();
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(received, 1U);
}

TEST_F(parked_engine, lets_the_device_send_what_the_last_message_caused) {
    auto qp = connected();
    receive(qp);
    std::size_t progress_when_received = 0;
    dev->on_progress([&](auto) {
        if (received == 1 && progress_when_received == 0) progress_when_received = dev->progress_calls();
        return false;
    });
    dev->complete_receive(0, bytes_of("x"));
    run();
    dev->on_progress({});
    EXPECT_GT(progress_when_received, 0U)
        << "no progress after the last handler: an acknowledgement would be lost";
}

class descriptorless_engine : public queue_pair_fixture {
  protected:
    descriptorless_engine() : queue_pair_fixture({.has_event_fd = false, .has_async_event_fd = false}) {}
};

TEST_F(descriptorless_engine, polls_a_device_that_has_nothing_to_wait_for) {
    auto qp = connected();
    bool got = false;
    qp.async_receive(memory.buffer(0, 64), [&](error_code ec, received_message) { got = !ec; });
    asio::steady_timer timer(context, std::chrono::milliseconds(3));
    timer.async_wait([&](error_code) { dev->complete_receive(0, bytes_of("x")); });
    run();
    EXPECT_TRUE(got);
}

TEST_F(descriptorless_engine, tells_the_cause_of_a_failure_before_the_event_that_follows_it) {
    constexpr std::size_t sends = 40; // more than one look at the queue takes
    auto qp = connected();
    std::size_t good = 0;
    error_code closed;
    for (std::size_t i = 0; i <= sends; ++i)
        qp.async_send(memory.buffer(0, 64), [&](error_code ec) { good += !ec; });
    qp.async_wait_closed([&](error_code ec) { closed = ec; });
    for (std::size_t i = 0; i < sends; ++i) ASSERT_TRUE(dev->complete_send(0));
    ASSERT_TRUE(dev->complete_send(0, errc::retry_exceeded));
    dev->raise({device_event_kind::queue_pair_fatal, 0, qp.number()});
    run();
    EXPECT_EQ(good, sends);
    EXPECT_EQ(closed, errc::retry_exceeded);
}

} // namespace
} // namespace rocio::test
