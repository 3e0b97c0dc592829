#include "status/wake_list.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using rocio::detail::wake_list;

class wake_list_on_a_context : public testing::Test {
  protected:
    std::shared_ptr<wake_list> list = std::make_shared<wake_list>();
    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>(1);
    int woken = 0;
    bool over = false;

    asio::awaitable<void> count(int times) {
        const auto executor = co_await asio::this_coro::executor;
        wake_list::waiter waiter(list, executor);
        for (int i = 0; i < times; ++i) {
            const bool by_wake = co_await waiter.wait();
            woken += by_wake ? 1 : 0;
        }
        over = true;
    }
    void start(int times) {
        asio::co_spawn(
            asio::any_io_executor(asio::make_strand(asio::any_io_executor(context->get_executor()))),
            count(times), asio::detached);
        context->poll();
    }
};

TEST_F(wake_list_on_a_context, wakes_who_waits) {
    start(2);
    EXPECT_EQ(woken, 0);
    list->wake_all();
    context->poll();
    EXPECT_EQ(woken, 1);
    list->wake_all();
    context->poll();
    EXPECT_EQ(woken, 2);
    EXPECT_TRUE(over);
}

TEST_F(wake_list_on_a_context, wakes_once_for_many_calls_in_a_row) {
    start(1000);
    for (int i = 0; i < 100; ++i) list->wake_all();
    EXPECT_LE(context->poll(), 3U);
    EXPECT_EQ(woken, 1);
}

TEST_F(wake_list_on_a_context, loses_no_wake_between_two_waits) {
    asio::co_spawn(
        asio::any_io_executor(asio::make_strand(asio::any_io_executor(context->get_executor()))),
        [this]() -> asio::awaitable<void> {
            const auto executor = co_await asio::this_coro::executor;
            wake_list::waiter waiter(list, executor);
            list->wake_all();
            const bool first = co_await waiter.wait();
            const bool second = co_await waiter.wait_until(std::chrono::steady_clock::now() + 1ms);
            EXPECT_TRUE(first);
            EXPECT_FALSE(second);
            over = true;
        },
        asio::detached);
    context->run();
    EXPECT_TRUE(over);
}

TEST_F(wake_list_on_a_context, lets_the_context_end_under_a_waiter) {
    start(1);
    list->wake_all(); // on its way
    context.reset();
    list->wake_all();
    EXPECT_EQ(woken, 0);
}

TEST_F(wake_list_on_a_context, is_woken_from_other_threads) {
    start(100);
    std::atomic<bool> done = false;
    std::vector<std::thread> wakers;
    for (int i = 0; i < 2; ++i) {
        wakers.emplace_back([&] {
            while (!done) list->wake_all();
        });
    }
    context->run();
    done = true;
    for (auto& waker : wakers) waker.join();
    EXPECT_EQ(woken, 100);
}

} // namespace
