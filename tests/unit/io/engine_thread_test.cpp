// Several threads: in run(), as producers of completions, as callers of the engine.

#include "queue_pair_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <random>
#include <thread>

namespace rocio::test {
namespace {

#if defined(ROCIO_SANITIZED)
constexpr std::uint32_t messages = 4'000;
#else
constexpr std::uint32_t messages = 20'000;
#endif

/// Completes numbered messages on a queue pair as fast as there are receives, from a thread of its own.
class producer {
  public:
    producer(std::shared_ptr<scripted_device> dev, std::uint32_t count)
        : thread_([dev = std::move(dev), count] {
              std::minstd_rand random(7);
              for (std::uint32_t i = 0; i < count;) {
                  if (dev->complete_receive(0, {}, i))
                      ++i;
                  else
                      std::this_thread::yield();
                  if (random() % 512 == 0)
                      for (auto pause = random() % 200; pause > 0; --pause) std::this_thread::yield();
              }
          }) {}
    ~producer() { thread_.join(); }

  private:
    std::thread thread_;
};

class engine_threads : public queue_pair_fixture {
  protected:
    engine_threads() : queue_pair_fixture({.record_posts = false}) {}
    registered_buffer small() { return memory.buffer(0, 64); }
    /// Runs the context on `n` threads until it has nothing left to do.
    void run_on(int n) {
        std::vector<std::thread> threads;
        for (int i = 0; i < n; ++i)
            threads.emplace_back([this] { context.run_for(std::chrono::seconds(60)); });
        for (auto& t : threads) t.join();
        EXPECT_TRUE(context.stopped());
    }
};

TEST_F(engine_threads, policy_changes_at_random_lose_nothing_while_everything_else_goes_on) {
    auto qp = connected({.receive_depth = 16});
    std::uint32_t next = 0, thrown = 0;
    bool done = false;
    // A coroutine and callbacks share the messages; sixteen receives are always posted.
    const auto take = [&](const received_message& m) {
        EXPECT_EQ(m.immediate, next);
        done = ++next == messages;
        if (done) qp.close();
    };
    const auto receive = [&]() -> asio::awaitable<void> {
        while (!done) take(co_await qp.async_receive(small(), asio::use_awaitable));
    };
    std::function<void()> again = [&] {
        qp.async_receive(small(), [&](error_code ec, received_message m) {
            if (ec) return;
            take(m);
            again();
        });
    };
    for (int i = 0; i < 15; ++i) again();
    std::minstd_rand random(3);
    int switches = 0, datagrams = 0;
    asio::steady_timer timer(context);
    std::function<void()> change = [&] {
        timer.expires_after(std::chrono::microseconds(500));
        timer.async_wait([&](error_code) {
            const polling_policy policies[] = {polling_policy::park(), polling_policy::hybrid(),
                                               polling_policy::spin()};
            engine().set_policy(policies[random() % 3]);
            ++switches;
            if (!done) change();
            if (switches % 3 == 0) {
                ++thrown;
                throw std::runtime_error("from a timer's handler");
            }
        });
    };
    asio::ip::udp::socket socket(context, {asio::ip::make_address("127.31.0.2"), 0});
    const auto self = socket.local_endpoint();
    char byte = 0;
    std::function<void()> echo = [&] {
        socket.send_to(asio::buffer("p", 1), self);
        socket.async_receive(asio::buffer(&byte, 1), [&](error_code, std::size_t) {
            ++datagrams;
            if (!done) echo();
        });
    };
    change();
    echo();
    asio::co_spawn(context, receive(), [](std::exception_ptr) {}); // ends with the flush of its receive
    std::uint32_t caught = 0;
    {
        producer source(dev, messages);
        while (!done) {
            try {
                context.restart();
                context.run_for(patience);
            } catch (const std::runtime_error&) {
                ++caught;
            }
        }
    }
    while (!context.stopped()) {
        try {
            run();
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    EXPECT_EQ(next, messages);
    EXPECT_EQ(caught, thrown);
    EXPECT_GT(switches, 0);
    EXPECT_GT(datagrams, 0);
}

TEST_F(engine_threads, in_run_deliver_each_message_once_to_coroutines_on_strands) {
    auto qp = connected({.receive_depth = 16});
    std::vector<std::atomic<int>> seen(messages);
    std::atomic<std::uint32_t> total{0};
    auto guard = asio::make_strand(context); // the queue pair's own
    const auto receive = [&](asio::strand<asio::io_context::executor_type> own) -> asio::awaitable<void> {
        for (;;) {
            co_await asio::post(guard, asio::use_awaitable);
            if (total.load() >= messages) co_return;
            auto receiving = qp.async_receive(small(), asio::use_awaitable);
            received_message m;
            try {
                m = co_await std::move(receiving);
            } catch (const boost::system::system_error&) {
                co_return;
            }
            co_await asio::post(own, asio::use_awaitable);
            ++seen[m.immediate.value()];
            if (++total == messages) asio::post(guard, [&] { qp.close(); });
        }
    };
    for (int i = 0; i < 4; ++i) {
        auto strand = asio::make_strand(context);
        asio::co_spawn(strand, receive(strand), asio::detached);
    }
    {
        producer source(dev, messages);
        run_on(3);
    }
    EXPECT_EQ(total.load(), messages);
    for (const auto& n : seen) ASSERT_EQ(n.load(), 1);
}

TEST_F(engine_threads, may_start_and_cancel_from_outside_through_the_strand) {
    auto qp = connected();
    auto strand = asio::make_strand(context);
    auto work = asio::make_work_guard(context);
    constexpr int pairs = 1000, callers = 2;
    std::atomic<int> ended{0};
    const auto caller = [&] {
        for (int i = 0; i < pairs; ++i) {
            asio::post(strand, [&] {
                qp.async_wait_closed(asio::bind_executor(strand, [&](error_code) { ++ended; }));
            });
            asio::post(strand, [&] { qp.cancel(); });
        }
    };
    std::vector<std::thread> outside;
    for (int i = 0; i < callers; ++i) outside.emplace_back(caller);
    std::thread stopper([&] {
        for (auto& t : outside) t.join();
        asio::post(strand, [&] { work.reset(); });
    });
    run_on(4);
    stopper.join();
    EXPECT_EQ(ended.load(), pairs * callers);
}

TEST_F(engine_threads, may_block_on_a_future_in_a_handler_while_another_thread_runs) {
    auto qp = connected();
    std::atomic<bool> got{false};
    asio::post(context, [&] {
        auto message = qp.async_receive(small(), asio::use_future);
        dev->complete_receive(0, bytes_of("future"));
        got = message.get().size == 6;
    });
    run_on(2);
    EXPECT_TRUE(got.load());
}

TEST_F(engine_threads, reach_a_spinning_engine) {
    engine().set_policy(polling_policy::spin());
    auto qp = connected();
    qp.async_wait_closed([](error_code) {});
    std::atomic<int> reached{0};
    std::thread outside([&] {
        for (int i = 0; i < 1000; ++i) {
            EXPECT_EQ(engine().snapshot().outstanding, 1U);
            engine().wake();
            ++reached;
        }
        asio::post(context, [&] { qp.cancel(); });
    });
    run_on(1);
    outside.join();
    EXPECT_EQ(reached.load(), 1000);
}

TEST_F(engine_threads, wake_a_parked_engine_whatever_the_moment) {
    auto qp = connected({.receive_depth = 1});
    std::atomic<std::uint32_t> received{0};
    constexpr std::uint32_t rounds = 2000;
    std::function<void()> receive = [&] {
        qp.async_receive(small(), [&](error_code ec, received_message) {
            ASSERT_FALSE(ec);
            if (++received < rounds) receive();
        });
    };
    receive();
    std::thread outside([&] {
        // One at a time: each message finds the engine parking, parked, or about to.
        for (std::uint32_t i = 0; i < rounds; ++i) {
            while (!dev->complete_receive(0, bytes_of("x"))) std::this_thread::yield();
            while (received.load() <= i) std::this_thread::yield();
        }
    });
    run_on(1);
    outside.join();
    EXPECT_EQ(received.load(), rounds);
}

TEST_F(engine_threads, complete_on_contexts_of_their_own) {
    asio::io_context application;
    auto work = asio::make_work_guard(application);
    auto qp = connected({.receive_depth = 4});
    constexpr std::uint32_t rounds = 2000;
    std::atomic<std::uint32_t> received{0};
    const auto here = std::this_thread::get_id();
    std::function<void()> receive = [&] {
        qp.async_receive(small(), asio::bind_executor(application, [&](error_code ec, received_message m) {
                             ASSERT_FALSE(ec);
                             EXPECT_NE(std::this_thread::get_id(), here);
                             EXPECT_EQ(m.immediate, received.load());
                             if (++received == rounds) return work.reset();
                             asio::post(context, receive);
                         }));
    };
    receive();
    auto data_work = asio::make_work_guard(context);
    std::thread app([&] {
        application.run_for(std::chrono::seconds(60));
        data_work.reset();
    });
    {
        producer source(dev, rounds);
        run_on(1);
    }
    app.join();
    EXPECT_EQ(received.load(), rounds);
}

} // namespace
} // namespace rocio::test
