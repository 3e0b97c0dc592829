// The end of a queue pair: flushing devices, forgetful devices, dying devices.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

namespace rocio::test {
namespace {

class queue_pair_close : public queue_pair_fixture {
  protected:
    registered_buffer small() { return memory.buffer(0, 64); }
    void post(queue_pair& qp, int receives, int sends) {
        for (int i = 0; i < receives; ++i) {
            qp.async_receive(small(), [this](error_code ec, received_message) { results.push_back(ec); });
        }
        for (int i = 0; i < sends; ++i) {
            qp.async_send(small(), [this](error_code ec) { results.push_back(ec); });
        }
    }
    std::vector<error_code> results;
};

TEST_F(queue_pair_close, flushes_everything) {
    auto qp = connected({.send_depth = 8, .receive_depth = 8});
    post(qp, 20, 20); // 24 of them wait in the object
    qp.close();
    run();
    EXPECT_THAT(results, ::testing::SizeIs(40));
    EXPECT_THAT(results, ::testing::Each(error_code(errc::work_request_flushed)));
    EXPECT_EQ(engine().snapshot().incomplete_drains, 0U);
}

TEST_F(queue_pair_close, ends_even_if_the_device_flushes_only_some) {
    dev->set_flush(flush_behaviour::some, 60);
    auto qp = connected({.receive_depth = 64});
    post(qp, 64, 0);
    qp.close();
    run();
    EXPECT_THAT(results, ::testing::SizeIs(64));
    EXPECT_THAT(results, ::testing::Each(error_code(errc::work_request_flushed)));
    EXPECT_EQ(engine().snapshot().incomplete_drains, 1U);
    EXPECT_EQ(dev->live_queue_pairs(), 0U) << "the device may not touch the buffers any more";
    EXPECT_EQ(qp.state(), queue_pair_state::error);
}

TEST_F(queue_pair_close, ends_even_if_the_device_flushes_nothing) {
    dev->set_flush(flush_behaviour::none);
    auto qp = connected();
    post(qp, 5, 5);
    qp.close();
    run();
    EXPECT_THAT(results, ::testing::SizeIs(10));
    EXPECT_EQ(engine().snapshot().incomplete_drains, 1U);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
}

TEST_F(queue_pair_close, ends_even_if_the_device_refuses_the_error_state) {
    auto qp = connected();
    post(qp, 5, 5);
    dev->fail_call(device_call::to_error, 1, errc::local_operation_error);
    qp.close();
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
    run();
    EXPECT_THAT(results, ::testing::SizeIs(10));
    EXPECT_THAT(results, ::testing::Each(error_code(errc::work_request_flushed)));
}

TEST_F(queue_pair_close, by_destruction_does_not_wait_for_flushes) {
    dev->set_flush(flush_behaviour::none);
    dev->set_flush_on_destroy(true);
    {
        auto qp = connected();
        post(qp, 16, 16);
    }
    EXPECT_EQ(dev->queued(), 0U) << "what it left must not take the place of others' completions";
    run();
    EXPECT_THAT(results, ::testing::Each(error_code(asio::error::operation_aborted)));
    EXPECT_EQ(engine().snapshot().stale_completions, 32U);
}

TEST_F(queue_pair_close, leaves_others_on_the_same_completion_queue_their_completions) {
    auto stays = connected();
    recorder<received_message> got;
    stays.async_receive(small(), got.handler());
    {
        auto goes = connected();
        post(goes, 16, 0);
        dev->complete_receive(0, bytes_of("for the one that stays"));
    }
    run();
    EXPECT_FALSE(got.ec());
    EXPECT_EQ(got.result().size, 22U);
}

TEST_F(queue_pair_close, can_be_repeated_a_thousand_times_without_a_trace) {
    std::optional<queue_pair> anchor(std::in_place, context, dev);
    for (int i = 0; i < 1000; ++i) {
        auto qp = connected();
        post(qp, 1, 1);
        if (i % 2 == 0) qp.close();
    }
    run();
    EXPECT_THAT(results, ::testing::SizeIs(2000));
    EXPECT_EQ(dev->live_completion_queues(), 1U);
    EXPECT_EQ(engine().snapshot().queue_pairs, 1U);
    anchor.reset();
    EXPECT_EQ(dev->live_completion_queues(), 0U);
}

struct fatal_case {
    const char* name;
    device_event_kind kind;
    errc reason;
};

class queue_pair_event : public queue_pair_close, public ::testing::WithParamInterface<fatal_case> {};

TEST_P(queue_pair_event, closes_the_queue_pair_it_names_and_no_other) {
    auto hit = connected(), missed = connected();
    recorder<> hit_closed, missed_closed;
    hit.async_wait_closed(hit_closed.handler());
    missed.async_wait_closed(missed_closed.handler());
    post(hit, 2, 0);
    dev->raise({GetParam().kind, 0, hit.number()});
    run_until([&] { return hit_closed.done() && results.size() == 2; });
    EXPECT_EQ(hit_closed.ec(), GetParam().reason);
    EXPECT_FALSE(missed_closed.done());
    EXPECT_EQ(missed.state(), queue_pair_state::ready_to_send);
    missed.cancel();
    run();
}

INSTANTIATE_TEST_SUITE_P(kinds, queue_pair_event,
                         ::testing::Values(fatal_case{"fatal", device_event_kind::queue_pair_fatal,
                                                      errc::local_operation_error},
                                           fatal_case{"access", device_event_kind::queue_pair_access_error,
                                                      errc::remote_invalid_request}),
                         [](const auto& p) { return p.param.name; });

TEST_F(queue_pair_close, ignores_events_that_do_not_concern_it) {
    auto qp = connected();
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    for (const auto kind : {device_event_kind::port_error, device_event_kind::port_active,
                            device_event_kind::gid_change, device_event_kind::communication_established}) {
        dev->raise({kind, 1, qp.number()});
    }
    dev->raise({device_event_kind::queue_pair_fatal, 0, qpn{0x999}});
    poll();
    EXPECT_FALSE(closed.done());
    qp.cancel();
    run();
}

TEST_F(queue_pair_close, ends_everything_when_the_device_is_gone) {
    auto qp = connected();
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    post(qp, 3, 3);
    dev->raise({device_event_kind::device_fatal, 0, {}});
    dev->break_async_event_fd(); // readable for ever, with nothing to read
    run();
    EXPECT_EQ(closed.ec(), errc::device_fatal);
    EXPECT_THAT(results, ::testing::SizeIs(6));
    EXPECT_THAT(results, ::testing::Each(error_code(errc::device_fatal)));
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
}

TEST_F(queue_pair_close, does_not_look_at_a_dead_device_again) {
    auto qp = connected();
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    dev->raise({device_event_kind::device_fatal, 0, {}});
    dev->break_async_event_fd();
    run_until([&] { return closed.done(); });
    // Something else keeps the engine busy.
    auto other = std::make_shared<scripted_device>();
    queue_pair alive(context, other);
    recorder<received_message> wait;
    alive.async_receive(small(), wait.handler());
    const auto polls = dev->polls(), progress = dev->progress_calls();
    const auto wakes = engine().snapshot().wakes;
    poll();
    EXPECT_EQ(dev->polls(), polls);
    EXPECT_EQ(dev->progress_calls(), progress);
    EXPECT_LE(engine().snapshot().wakes, wakes + 1) << "an idle engine must not spin on the dead descriptor";
    alive.close();
    run();
    EXPECT_THROW(queue_pair(context, dev), exception) << "while objects of the dead device are left";
}

TEST_F(queue_pair_close, takes_an_event_for_a_queue_pair_that_is_gone) {
    device_event event{device_event_kind::queue_pair_fatal, 0, {}};
    auto stays = connected();
    stays.async_wait_closed([](error_code) {});
    {
        auto goes = connected();
        event.queue_pair = goes.number();
        dev->raise(event);
    }
    poll();
    EXPECT_EQ(stays.state(), queue_pair_state::ready_to_send);
    stays.cancel();
    run();
}

TEST_F(queue_pair_close, notices_events_under_every_policy) {
    for (const auto policy : {polling_policy::spin(), polling_policy::hybrid(), polling_policy::park()}) {
        engine().set_policy(policy);
        auto qp = connected();
        recorder<> closed;
        qp.async_wait_closed(closed.handler());
        dev->raise({device_event_kind::queue_pair_fatal, 0, qp.number()});
        run();
        EXPECT_EQ(closed.ec(), errc::local_operation_error) << policy.name();
    }
}

} // namespace
} // namespace rocio::test
