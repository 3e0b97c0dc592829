#include "process_rights.hpp"
#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/io/machine_limits.hpp>
#include <rocio/io/thread_placement.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <stdexcept>
#include <thread>

#include <pthread.h>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

TEST(busy_poll_context_test, spins_while_something_is_outstanding_and_never_waits) {
    auto dev = std::make_shared<scripted_device>();
    memory_region memory(dev, 4096);
    busy_poll_context context;
    queue_pair qp(context, dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    recorder<received_message> got;
    qp.async_receive(memory.buffer(0, 64), got.handler());
    auto& engine = completion_engine::of(context);
    while (engine.snapshot().turns < 100) context.run_one();
    EXPECT_EQ(engine.snapshot().waits, 0U);
    EXPECT_EQ(engine.snapshot().policy, "spin");
    dev->complete_receive(0, bytes_of("x"));
    context.run();
    EXPECT_FALSE(got.ec());
    EXPECT_EQ(dev->events_acknowledged(), 0U) << "no event was read";
}

TEST(busy_poll_context_test, may_park) {
    auto dev = std::make_shared<scripted_device>();
    memory_region memory(dev, 4096);
    busy_poll_context context(polling_policy::park());
    queue_pair qp(context, dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    qp.async_receive(memory.buffer(0, 64), [](error_code, received_message) {});
    context.poll();
    EXPECT_EQ(completion_engine::of(context).snapshot().waits, 1U);
    context.set_policy(polling_policy::spin());
    while (completion_engine::of(context).snapshot().turns < 100) context.run_one();
    EXPECT_EQ(completion_engine::of(context).snapshot().waits, 1U);
    dev->complete_receive(0, bytes_of("x"));
    context.run();
}

class busy_thread : public ::testing::Test {
  protected:
    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    memory_region memory{dev, 4096};
};

TEST_F(busy_thread, runs_data_plane_timers_sockets_and_coroutines) {
    busy_poll_thread thread;
    auto& context = thread.context();
    queue_pair a(context, dev), b(context, dev);
    connect_pairs(a, b);
    const auto listen = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < 50; ++i) co_await b.async_receive(memory.buffer(128, 64), asio::use_awaitable);
    };
    auto listening = asio::co_spawn(context, listen(), asio::use_future);
    const auto send = [&]() -> asio::awaitable<int> {
        asio::ip::udp::socket socket(context, {asio::ip::make_address("127.31.0.3"), 0});
        asio::steady_timer timer(context);
        int rounds = 0;
        for (; rounds < 50; ++rounds) {
            co_await a.async_send(memory.buffer(0, 8), asio::use_awaitable);
            timer.expires_after(10us);
            co_await timer.async_wait(asio::use_awaitable);
            co_await socket.async_send_to(asio::buffer("p", 1), socket.local_endpoint(), asio::use_awaitable);
            char byte = 0;
            co_await socket.async_receive(asio::buffer(&byte, 1), asio::use_awaitable);
        }
        co_return rounds;
    };
    auto rounds = asio::co_spawn(context, send(), asio::use_future);
    EXPECT_EQ(rounds.get(), 50);
    listening.get();
    thread.join();
}

TEST_F(busy_thread, ends_with_the_exception_of_a_handler_which_join_throws_once) {
    busy_poll_thread thread;
    asio::post(thread.get_executor(), [] { throw std::runtime_error("from the data plane"); });
    EXPECT_THROW(
        {
            try {
                thread.join();
            } catch (const std::runtime_error& e) {
                EXPECT_STREQ(e.what(), "from the data plane");
                throw;
            }
        },
        std::runtime_error);
    EXPECT_NO_THROW(thread.join());
}

TEST_F(busy_thread, drops_the_exception_when_nobody_joins) {
    busy_poll_thread thread;
    asio::post(thread.get_executor(), [] { throw std::runtime_error("nobody wants it"); });
}

TEST_F(busy_thread, waits_for_the_work_that_is_left) {
    busy_poll_thread thread;
    queue_pair qp(thread.context(), dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    std::atomic<bool> got{false};
    asio::post(thread.get_executor(), [&] {
        qp.async_receive(memory.buffer(0, 64), [&](error_code ec, received_message) { got = !ec; });
    });
    while (!dev->complete_receive(0, bytes_of("x"))) std::this_thread::yield();
    thread.join();
    EXPECT_TRUE(got.load());
}

TEST_F(busy_thread, stops_with_work_pending) {
    busy_poll_thread thread;
    queue_pair qp(thread.context(), dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    std::promise<void> started;
    bool called = false;
    asio::post(thread.get_executor(), [&] {
        qp.async_receive(memory.buffer(0, 64), [&](error_code, received_message) { called = true; });
        started.set_value();
    });
    started.get_future().get();
    thread.stop();
    thread.join();
    EXPECT_FALSE(called);
}

TEST_F(busy_thread, has_a_name_of_at_most_15_characters) {
    busy_poll_thread thread({.name = "a-rather-long-name"});
    std::promise<std::string> name;
    asio::post(thread.get_executor(), [&] {
        char text[32] = "";
        ::pthread_getname_np(::pthread_self(), text, sizeof text);
        name.set_value(text);
    });
    EXPECT_EQ(name.get_future().get(), "a-rather-long-n");
}

TEST_F(busy_thread, runs_on_the_cpu_it_was_given) {
    cpu_set_t allowed;
    ASSERT_EQ(::pthread_getaffinity_np(::pthread_self(), sizeof allowed, &allowed), 0);
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &allowed)) ++cpu;
    busy_poll_thread thread({.cpu = cpu});
    std::promise<cpu_set_t> pinned;
    asio::post(thread.get_executor(), [&] {
        cpu_set_t set;
        ::pthread_getaffinity_np(::pthread_self(), sizeof set, &set);
        pinned.set_value(set);
    });
    const auto set = pinned.get_future().get();
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &set));
}

TEST_F(busy_thread, refuses_a_cpu_that_does_not_exist_and_leaves_no_thread) {
    for (const unsigned cpu : {1023U, 100000U}) {
        try {
            busy_poll_thread thread({.cpu = cpu});
            ADD_FAILURE() << cpu;
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            EXPECT_THAT(e.what(), ::testing::HasSubstr("CPU " + std::to_string(cpu)));
        }
    }
}

TEST_F(busy_thread, refuses_an_impossible_priority) {
    for (const int priority : {0, -1, 100, 1000}) {
        try {
            busy_poll_thread thread({.realtime_priority = priority});
            ADD_FAILURE() << "priority " << priority << " was accepted";
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            EXPECT_THAT(e.what(), ::testing::HasSubstr("1 to 99"));
        }
    }
}

TEST_F(busy_thread, refused_its_priority_names_limit_and_capability) {
    const without_capability as_a_user(CAP_SYS_NICE);
    const lower_limit lower(RLIMIT_RTPRIO, 0);
    try {
        busy_poll_thread thread({.realtime_priority = 10});
        ADD_FAILURE() << "priority 10 was accepted";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        EXPECT_THAT(e.what(), ::testing::AllOf(::testing::HasSubstr("real-time priority 10"),
                                               ::testing::HasSubstr("RLIMIT_RTPRIO is 0"),
                                               ::testing::HasSubstr("CAP_SYS_NICE")));
    }
}

/// What pthread_getschedparam() tells of a thread of its own that was placed.
struct schedule {
    error_info refusal{};
    int policy = -1;
    int priority = -1;
    cpu_set_t cpus{};
};

schedule scheduled_as(const thread_placement& placement) {
    schedule out;
    std::thread([&] {
        out.refusal = place_this_thread(placement);
        sched_param parameters{};
        ::pthread_getschedparam(::pthread_self(), &out.policy, &parameters);
        out.priority = parameters.sched_priority;
        ::pthread_getaffinity_np(::pthread_self(), sizeof out.cpus, &out.cpus);
    }).join();
    return out;
}

TEST(thread_placement_test, asked_for_nothing_changes_nothing) {
    const auto s = scheduled_as({});
    EXPECT_FALSE(s.refusal);
    EXPECT_EQ(s.policy, ::sched_getscheduler(0));
}

TEST(thread_placement_test, a_thread_of_ones_own_gets_cpu_and_priority) {
    const auto limits = read_machine_limits();
    if (!limits.may_set_priority && limits.priority.value_or(99) < 1)
        GTEST_SKIP() << "needs CAP_SYS_NICE or RLIMIT_RTPRIO";
    const auto s = scheduled_as({.cpu = 0, .realtime_priority = 1});
    ASSERT_FALSE(s.refusal) << s.refusal.message();
    EXPECT_EQ(s.policy, SCHED_FIFO);
    EXPECT_EQ(s.priority, 1);
    EXPECT_EQ(CPU_COUNT(&s.cpus), 1);
    EXPECT_TRUE(CPU_ISSET(0, &s.cpus));
}

TEST(thread_placement_test, a_cpu_that_does_not_exist_is_refused_with_those_that_do) {
    const auto s = scheduled_as({.cpu = 1023});
    EXPECT_EQ(s.refusal.code, errc::invalid_argument);
    EXPECT_THAT(s.refusal.text,
                ::testing::AllOf(::testing::HasSubstr("CPU 1023"), ::testing::HasSubstr("has CPUs 0 to ")));
}

} // namespace
} // namespace rocio::test
