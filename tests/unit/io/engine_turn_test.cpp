// Bounded turns, broken queues, ids that belong to nobody.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/device_monitor.hpp>

#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <functional>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

work_completion nobodys() {
    work_completion wc;
    wc.id = {0xFFFF, 7, 3};
    return wc;
}

class engine_turn : public queue_pair_fixture {
  protected:
    /// One turn and no more.
    engine_snapshot turn() {
        context.restart();
        const auto before = engine().snapshot().turns;
        while (engine().snapshot().turns == before) EXPECT_EQ(context.run_one(), 1U);
        return engine().snapshot();
    }
    void serve(queue_pair& qp) {
        qp.async_wait_closed([](error_code) {});
    }
};

TEST_F(engine_turn, takes_at_most_256_completions) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    serve(qp);
    dev->refill(nobodys());
    for (int i = 0; i < 20; ++i) {
        const auto before = engine().snapshot().completions;
        EXPECT_LE(turn().completions - before, 256U);
    }
    dev->refill({});
    qp.cancel();
    run();
}

TEST_F(engine_turn, sweeps_at_most_64_times) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    serve(qp);
    for (int i = 0; i < 20; ++i) {
        const auto before = engine().snapshot().sweeps;
        EXPECT_LE(turn().sweeps - before, 64U);
    }
    qp.cancel();
    run();
}

TEST_F(engine_turn, ends_after_five_microseconds_where_the_gap_between_turns_is_not_known) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    dev->on_progress([](auto started) {
        while (std::chrono::steady_clock::now() < started + 6us) {
        }
        return false;
    });
    serve(qp);
    const auto before = engine().snapshot().sweeps;
    EXPECT_EQ(turn().sweeps - before, 1U);
    dev->on_progress({});
    qp.cancel();
    run();
}

TEST_F(engine_turn, ends_after_fifty_microseconds_and_the_sweep_for_what_was_posted_in_them) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    serve(qp);
    dev->on_progress([](auto started) {
        while (std::chrono::steady_clock::now() < started + 51us) {
        }
        return true;
    });
    for (int i = 0; i < 20; ++i) {
        const auto before = engine().snapshot().sweeps;
        EXPECT_EQ(turn().sweeps - before, 2U);
    }
    dev->on_progress({});
    qp.cancel();
    run();
}

TEST_F(engine_turn, of_a_parked_engine_serves_also_what_a_slow_handler_has_caused) {
    engine().set_policy(polling_policy::park());
    auto qp = connected();
    int called = 0;
    for (int i = 0; i < 2; ++i) {
        qp.async_receive(memory.buffer(0, 8), [&](error_code ec, received_message) {
            ASSERT_FALSE(ec);
            if (++called > 1) return;
            const auto until = std::chrono::steady_clock::now() + 20us; // longer than a turn
            while (std::chrono::steady_clock::now() < until) {
            }
            ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
        });
    }
    serve(qp);
    poll(); // waits for the device now
    const auto before = engine().snapshot();
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run_until([&] { return called == 2; });
    const auto after = engine().snapshot();
    EXPECT_EQ(after.turns - before.turns, 1U);
    EXPECT_EQ(after.waits - before.waits, 1U);
    qp.cancel();
    run();
}

TEST_F(engine_turn, what_the_look_before_the_wait_finds_calls_for_no_further_turn) {
    engine().set_policy(polling_policy::park());
    auto qp = connected();
    int called = 0;
    for (int i = 0; i < 2; ++i)
        qp.async_receive(memory.buffer(0, 8), [&](error_code, received_message) { ++called; });
    serve(qp);
    poll();
    const auto before = engine().snapshot();
    bool once = true;
    dev->on_arm([&] {
        if (!std::exchange(once, false)) return;
        ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    });
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    run_until([&] { return called == 2; });
    poll();
    EXPECT_EQ(engine().snapshot().turns - before.turns, 1U);
    dev->on_arm({});
    qp.cancel();
    run();
}

TEST_F(engine_turn, calls_at_most_256_handlers) {
    auto qp = connected({.receive_depth = 1000});
    int called = 0;
    for (int i = 0; i < 1000; ++i)
        qp.async_receive(memory.buffer(0, 8), [&](error_code, received_message) { ++called; });
    qp.close();
    int before = 0;
    while (called < 1000) {
        turn();
        ASSERT_LE(called - before, 256);
        before = called;
    }
    run();
    EXPECT_EQ(called, 1000);
}

class busy_engine : public engine_turn, public ::testing::WithParamInterface<polling_policy> {};

TEST_P(busy_engine, lets_timers_and_sockets_have_their_turn_under_endless_completions) {
    engine().set_policy(GetParam());
    auto qp = connected();
    serve(qp);
    dev->refill(nobodys());
    int ticks = 0, datagrams = 0;
    asio::steady_timer timer(context);
    std::function<void()> tick = [&] {
        timer.expires_after(2ms);
        timer.async_wait([&](error_code) {
            if (++ticks < 10) tick();
        });
    };
    asio::ip::udp::socket socket(context, {asio::ip::make_address("127.31.0.1"), 0});
    const auto self = socket.local_endpoint();
    std::array<char, 8> bytes{};
    std::function<void()> echo = [&] {
        socket.send_to(asio::buffer("ping", 4), self);
        socket.async_receive(asio::buffer(bytes), [&](error_code ec, std::size_t) {
            EXPECT_FALSE(ec);
            if (++datagrams < 10) echo();
        });
    };
    tick();
    echo();
    run_until([&] { return ticks == 10 && datagrams == 10; });
    dev->refill({});
    qp.cancel();
    run();
}

INSTANTIATE_TEST_SUITE_P(policies, busy_engine,
                         ::testing::Values(polling_policy::park(), polling_policy::hybrid(),
                                           polling_policy::spin()),
                         [](const auto& p) { return std::string(p.param.name()); });

TEST_F(engine_turn, ends_the_operations_of_a_queue_that_cannot_be_polled_and_leaves_it_alone) {
    auto qp = connected();
    device_monitor monitor(context, dev);
    recorder<received_message> receive;
    recorder<> closed;
    std::vector<device_event_kind> events;
    qp.async_receive(memory.buffer(0, 64), receive.handler());
    qp.async_wait_closed(closed.handler());
    monitor.async_next_event([&](error_code, device_event e) {
        events.push_back(e.kind);
        monitor.async_next_event([&](error_code ec, device_event again) {
            if (!ec) events.push_back(again.kind);
        });
    });
    dev->fail_polls(errc::local_operation_error);
    dev->raise_spurious_event();
    run_until([&] { return receive.done() && closed.done() && !events.empty(); });
    const auto polls = dev->polls();
    poll();
    EXPECT_EQ(dev->polls(), polls);
    EXPECT_EQ(receive.ec(), errc::device_fatal);
    EXPECT_EQ(closed.ec(), errc::device_fatal);
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    monitor.cancel();
    run();
    EXPECT_THAT(events, ::testing::ElementsAre(device_event_kind::completion_queue_error));
}

TEST_F(engine_turn, keeps_other_queues_when_one_breaks) {
    const queue_pair_config deep{.send_depth = 600, .receive_depth = 600};
    auto broken = connected(deep);
    auto healthy = connected(deep);
    recorder<received_message> lost, kept;
    broken.async_receive(memory.buffer(0, 64), lost.handler());
    healthy.async_receive(memory.buffer(64, 64), kept.handler());
    dev->fail_polls(errc::local_operation_error, 0);
    dev->raise_spurious_event();
    run_until([&] { return lost.done(); });
    EXPECT_EQ(lost.ec(), errc::device_fatal);
    EXPECT_EQ(healthy.state(), queue_pair_state::ready_to_send);
    dev->complete_receive(1, bytes_of("fine"));
    run();
    EXPECT_FALSE(kept.ec());
    EXPECT_EQ(kept.result().size, 4U);
}

TEST_F(engine_turn, makes_a_new_queue_when_the_old_one_is_broken) {
    auto broken = connected();
    recorder<received_message> lost;
    broken.async_receive(memory.buffer(0, 64), lost.handler());
    dev->fail_polls(errc::local_operation_error, 0);
    dev->raise_spurious_event();
    run();
    auto fresh = connected();
    recorder<received_message> got;
    fresh.async_receive(memory.buffer(0, 64), got.handler());
    dev->complete_receive(1, bytes_of("new"));
    run();
    EXPECT_FALSE(got.ec());
    EXPECT_EQ(dev->live_completion_queues(), 2U);
}

TEST_F(engine_turn, drops_completions_of_a_destroyed_queue_pair_even_if_its_number_is_used_again) {
    dev->set_flush(flush_behaviour::none);
    dev->set_flush_on_destroy(true);
    int aborted = 0;
    const auto count = [&](error_code ec, received_message) {
        EXPECT_EQ(ec, asio::error::operation_aborted);
        ++aborted;
    };
    const auto number = qpn{0x17};
    dev->reuse_number(number);
    {
        auto old = connected();
        ASSERT_EQ(old.number(), number);
        old.async_receive(memory.buffer(0, 64), count);
        old.async_receive(memory.buffer(0, 64), count);
    }
    dev->reuse_number(number);
    auto fresh = connected();
    ASSERT_EQ(fresh.number(), number);
    recorder<received_message> got;
    fresh.async_receive(memory.buffer(64, 64), got.handler());
    run_until([&] { return aborted == 2; });
    EXPECT_FALSE(got.done());
    EXPECT_EQ(engine().snapshot().stale_completions, 2U);
    dev->complete_receive(1, bytes_of("mine"));
    run();
    EXPECT_EQ(got.result().size, 4U);
}

TEST_F(engine_turn, drops_forged_ids) {
    auto qp = connected({.send_depth = 4, .receive_depth = 4});
    recorder<received_message> got;
    qp.async_receive(memory.buffer(0, 64), got.handler());
    const auto genuine = dev->receive_log().at(0).id;
    const auto forge = [&](std::uint16_t owner, std::uint16_t generation, std::uint32_t slot) {
        work_completion wc;
        wc.id = {owner, generation, slot};
        wc.status = errc::remote_access_error;
        dev->inject(wc);
    };
    forge(0xFFFF, genuine.generation, genuine.slot);
    forge(genuine.owner, static_cast<std::uint16_t>(genuine.generation + 1), genuine.slot);
    forge(genuine.owner, genuine.generation, 0);          // a send that was never posted
    forge(genuine.owner, genuine.generation, 4 + 4);      // one past the last receive
    forge(genuine.owner, genuine.generation, 0xFFFFFFFF); // far outside
    run_until([&] { return engine().snapshot().stale_completions == 5; });
    EXPECT_FALSE(got.done());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    dev->complete_receive(0, bytes_of("real"));
    run();
    EXPECT_FALSE(got.ec());
    EXPECT_EQ(got.result().size, 4U);
}

/// Calls the engine from its own write(), which would not return if the engine's lock were held.
class inquisitive_sink : public log_sink {
  public:
    explicit inquisitive_sink(completion_engine& engine) : engine_(engine) {}
    void write(log_level level, std::string_view room, std::string_view text) noexcept override {
        EXPECT_EQ(level, log_level::warning);
        EXPECT_EQ(room, "io");
        EXPECT_GT(engine_.snapshot().late_turns, 0U);
        lines.emplace_back(text);
    }
    std::vector<std::string> lines;

  private:
    completion_engine& engine_;
};

TEST_F(engine_turn, reports_a_gap_that_a_peer_would_not_survive_without_holding_its_lock) {
    auto sink = std::make_shared<inquisitive_sink>(engine());
    engine().set_log_sink(sink);
    auto qp = connected({.timeout = ack_timeout{1}, .retry_count = 0}); // 8.2 us
    recorder<received_message> second;
    qp.async_receive(memory.buffer(0, 8), [](error_code, received_message) {
        const auto end = std::chrono::steady_clock::now() + 2ms;
        while (std::chrono::steady_clock::now() < end) {
        }
    });
    qp.async_receive(memory.buffer(0, 8), second.handler());
    dev->complete_receive(0, bytes_of("x"));
    run_until([&] { return !sink->lines.empty(); });
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_TRUE(second.done());
    EXPECT_GE(engine().snapshot().longest_gap, 2ms);
    EXPECT_THAT(sink->lines.at(0), ::testing::HasSubstr("move long work to another executor"));
    engine().set_log_sink(nullptr);
}

TEST_F(engine_turn, counts_what_it_did) {
    auto qp = connected();
    device_monitor monitor(context, dev);
    auto s = engine().snapshot();
    EXPECT_EQ(s.policy, "park");
    EXPECT_EQ(s.queue_pairs, 1U);
    EXPECT_EQ(s.devices, 1U);
    EXPECT_EQ(s.turns, 0U);
    for (int i = 0; i < 5; ++i) qp.async_receive(memory.buffer(0, 8), [](error_code, received_message) {});
    EXPECT_EQ(engine().snapshot().outstanding, 5U);
    for (int i = 0; i < 5; ++i) dev->complete_receive(0, bytes_of("x"));
    run();
    s = engine().snapshot();
    EXPECT_EQ(s.completions, 5U);
    EXPECT_EQ(s.upcalls, 5U);
    EXPECT_EQ(s.outstanding, 0U);
    EXPECT_GE(s.sweeps, s.empty_sweeps);
    EXPECT_GE(s.turns, 1U);
    engine().set_policy(polling_policy::hybrid());
    EXPECT_EQ(engine().snapshot().policy, "hybrid");
    EXPECT_EQ(engine().policy().budget, 50us);
}

TEST(engine_descriptor, that_cannot_be_waited_for_is_an_error_and_leaves_the_context_usable) {
    asio::io_context context;
    constexpr int nobodys_descriptor = 1 << 20;
    auto dev =
        std::make_shared<scripted_device>(scripted_device_config{.foreign_event_fd = nobodys_descriptor});
    try {
        queue_pair qp(context, dev);
        ADD_FAILURE() << "the descriptor was accepted";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::not_supported);
        EXPECT_THAT(e.what(), ::testing::HasSubstr("cannot be waited for"));
    }
    EXPECT_EQ(dev->live_completion_queues(), 0U);
    bool fired = false;
    asio::steady_timer timer(context, 1ms);
    timer.async_wait([&](error_code ec) { fired = !ec; });
    context.run();
    EXPECT_TRUE(fired);
}

} // namespace
} // namespace rocio::test
