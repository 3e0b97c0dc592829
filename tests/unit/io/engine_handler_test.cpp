// What a handler may do: everything.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/strand.hpp>

#include <functional>
#include <stdexcept>

namespace rocio::test {
namespace {

class engine_handler : public queue_pair_fixture, public ::testing::WithParamInterface<polling_policy> {
  protected:
    void SetUp() override { engine().set_policy(GetParam()); }
    registered_buffer small() { return memory.buffer(0, 64); }
    void complete(std::size_t n, std::size_t pair = 0) {
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(dev->complete_receive(pair, bytes_of("x")));
    }
};

TEST_P(engine_handler, may_start_the_next_operation) {
    queue_pair a(context, dev), b(context, dev);
    connect_pairs(a, b);
    int sent = 0, received = 0;
    std::function<void()> send = [&] {
        a.async_send(small(), [&](error_code ec) {
            ASSERT_FALSE(ec);
            if (++sent < 1000) send();
        });
    };
    std::function<void()> receive = [&] {
        b.async_receive(memory.buffer(64, 64), [&](error_code ec, received_message) {
            ASSERT_FALSE(ec);
            if (++received < 1000) receive();
        });
    };
    receive();
    send();
    run();
    EXPECT_EQ(sent, 1000);
    EXPECT_EQ(received, 1000);
}

TEST_P(engine_handler, may_close_its_queue_pair) {
    auto qp = connected();
    std::vector<error_code> results;
    for (int i = 0; i < 4; ++i) {
        qp.async_receive(small(), [&](error_code ec, received_message) {
            results.push_back(ec);
            qp.close();
        });
    }
    complete(1);
    run();
    ASSERT_EQ(results.size(), 4U);
    EXPECT_FALSE(results[0]);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(results[i], errc::work_request_flushed);
}

TEST_P(engine_handler, may_destroy_its_queue_pair) {
    auto qp = std::make_unique<queue_pair>(connected());
    std::vector<error_code> results;
    for (int i = 0; i < 4; ++i) {
        qp->async_receive(small(), [&](error_code ec, received_message) {
            results.push_back(ec);
            qp.reset();
        });
    }
    complete(2);
    run();
    ASSERT_EQ(results.size(), 4U);
    EXPECT_FALSE(results[0]);
    EXPECT_EQ(results[3], asio::error::operation_aborted);
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
}

TEST_P(engine_handler, may_destroy_every_other_object) {
    std::vector<queue_pair> pairs;
    for (int i = 0; i < 8; ++i) pairs.push_back(connected());
    int calls = 0, aborted = 0;
    for (auto& qp : pairs) {
        qp.async_receive(small(), [&](error_code ec, received_message) {
            ++calls;
            if (ec == asio::error::operation_aborted) ++aborted;
            pairs.clear();
        });
    }
    complete(1, 3);
    run();
    EXPECT_EQ(calls, 8);
    EXPECT_EQ(aborted, 7);
    EXPECT_EQ(engine().snapshot().devices, 0U);
}

TEST_P(engine_handler, may_make_new_objects) {
    auto qp = connected();
    std::vector<queue_pair> more;
    qp.async_receive(small(), [&](error_code, received_message) {
        for (int i = 0; i < 100; ++i) more.push_back(connected());
        more.back().async_send(small(), [](error_code ec) { EXPECT_FALSE(ec); });
        EXPECT_TRUE(dev->complete_send(100));
    });
    complete(1);
    run();
    EXPECT_EQ(dev->live_queue_pairs(), 101U);
}

TEST_P(engine_handler, may_move_its_queue_pair) {
    auto qp = connected();
    std::optional<queue_pair> elsewhere;
    recorder<received_message> second;
    qp.async_receive(small(), [&](error_code, received_message) { elsewhere.emplace(std::move(qp)); });
    qp.async_receive(small(), second.handler());
    complete(2);
    run();
    EXPECT_TRUE(second.done());
    EXPECT_FALSE(second.ec());
}

TEST_P(engine_handler, may_throw_and_nothing_is_lost) {
    auto qp = connected();
    int called = 0, caught = 0;
    for (int i = 0; i < 20; ++i) {
        qp.async_receive(small(), [&](error_code ec, received_message) {
            EXPECT_FALSE(ec);
            ++called;
            if (called % 2 == 0) throw std::runtime_error("from a handler");
        });
    }
    complete(20);
    while (called < 20) {
        try {
            context.restart();
            context.run_for(patience);
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    EXPECT_EQ(called, 20);
    EXPECT_EQ(caught, 10);
    EXPECT_EQ(engine().snapshot().upcalls, 20U);
}

TEST_P(engine_handler, that_throws_last_leaves_nothing_outstanding) {
    auto qp = connected();
    qp.async_receive(small(), [](error_code, received_message) { throw std::runtime_error("the only one"); });
    complete(1);
    EXPECT_THROW(context.run_for(patience), std::runtime_error);
    EXPECT_EQ(engine().snapshot().outstanding, 0U);
    run();
}

TEST_P(engine_handler, may_throw_through_another_executor) {
    auto qp = connected();
    auto strand = asio::make_strand(context);
    int called = 0, caught = 0;
    for (int i = 0; i < 6; ++i) {
        qp.async_receive(small(), asio::bind_executor(strand, [&](error_code, received_message) {
                             ++called;
                             throw std::runtime_error("on a strand");
                         }));
    }
    complete(6);
    // Asio keeps what a dispatched handler throws until the turn is over.
    while (called < 6) {
        try {
            context.restart();
            context.run_for(patience);
        } catch (const std::runtime_error&) {
            ++caught;
        } catch (const asio::multiple_exceptions&) {
            ++caught;
        }
    }
    EXPECT_EQ(called, 6);
    EXPECT_GT(caught, 0);
}

TEST_P(engine_handler, may_stop_the_context_and_the_rest_runs_later) {
    auto qp = connected();
    int called = 0;
    for (int i = 0; i < 10; ++i) {
        qp.async_receive(small(), [&](error_code, received_message) {
            ++called;
            context.stop();
        });
    }
    complete(5);
    context.run();
    EXPECT_TRUE(context.stopped());
    run_until([&] { return called == 5; });
    complete(5);
    while (called < 10) {
        context.restart();
        context.run_for(patience);
    }
    EXPECT_EQ(called, 10);
}

TEST_P(engine_handler, may_run_the_context_itself_for_timers_and_posted_work) {
    auto qp = connected();
    bool posted = false;
    recorder<received_message> second;
    qp.async_receive(small(), [&](error_code, received_message) {
        asio::post(context, [&] { posted = true; });
        while (!posted) context.poll_one();
        EXPECT_FALSE(second.done()) << "a turn is not re-entered";
    });
    qp.async_receive(small(), second.handler());
    complete(2);
    run();
    EXPECT_TRUE(posted);
    EXPECT_TRUE(second.done());
}

TEST_P(engine_handler, may_change_the_policy) {
    auto qp = connected();
    const polling_policy policies[] = {polling_policy::park(), polling_policy::spin(),
                                       polling_policy::hybrid()};
    std::size_t called = 0;
    for (int i = 0; i < 30; ++i) {
        qp.async_receive(small(), [&](error_code, received_message) {
            engine().set_policy(policies[++called % 3]);
            dev->complete_receive(0, bytes_of("next"));
        });
    }
    complete(1);
    run();
    EXPECT_EQ(called, 30U);
}

TEST_P(engine_handler, runs_on_its_executor_and_never_inside_the_initiating_function) {
    executor_tracker tracker;
    auto qp = connected();
    recorder<received_message> got;
    recorder<> sent, closed;
    {
        initiation_scope inside;
        const auto tracked = [&](auto handler) {
            return asio::bind_executor(tracker_executor(context.get_executor(), tracker),
                                       [&tracker, handler](auto... args) mutable {
                                           EXPECT_TRUE(tracker.running_here());
                                           handler(args...);
                                       });
        };
        qp.async_receive(small(), tracked(got.handler()));
        qp.async_send(small(), tracked(sent.handler()));
        qp.close();
        qp.async_wait_closed(tracked(closed.handler()));
        qp.async_send(small(), tracked(sent.handler()));
    }
    run();
    EXPECT_EQ(got.ec(), errc::work_request_flushed);
    EXPECT_EQ(closed.ec(), asio::error::operation_aborted);
    EXPECT_EQ(sent.calls(), 2);
    EXPECT_EQ(tracker.runs(), 4U);
}

INSTANTIATE_TEST_SUITE_P(policies, engine_handler,
                         ::testing::Values(polling_policy::park(), polling_policy::hybrid(),
                                           polling_policy::spin()),
                         [](const auto& p) { return std::string(p.param.name()); });

} // namespace
} // namespace rocio::test
