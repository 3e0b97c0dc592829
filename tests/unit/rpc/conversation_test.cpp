// Client and server as an application uses them: coroutines over two rings in memory, on contexts that run.

#include "fake_slot_ring.hpp"
#include "rpc_messages.hpp"

#include <rocio/rpc/client.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

namespace rocio::rpc {
namespace {

using namespace std::chrono_literals;
using test::fake_slot_ring;
using ::testing::ElementsAre;

using add_signature = std::int64_t(std::int64_t, std::int64_t);
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

class conversation_test : public ::testing::Test {
  protected:
    asio::io_context context;
    asio::thread_pool pool{2};
    fake_slot_ring near{8, 128}, far{8, 128};
    dispatcher_config server_config;
    std::optional<ring_dispatcher<fake_slot_ring>> server;
    std::optional<client<fake_slot_ring>> caller;
    int active = 0;

    void SetUp() override { caller.emplace(context, near, client_config{.order = slot_order::any_free}); }
    void TearDown() override {
        pool.join();
        server.reset();
    }

    function_table functions() {
        function_table table;
        table.add<add_signature>("addThem", [](auto a, auto b) { return a + b; })
            .add<std::vector<std::uint8_t>(std::span<const std::uint8_t>)>(
                "rpc_increment",
                [](std::span<const std::uint8_t> in) {
                    std::vector<std::uint8_t> out(in.begin(), in.end());
                    for (auto& x : out) ++x;
                    return out;
                },
                {pool.get_executor()})
            .add<void()>("noop", [] {})
            .add<void(std::int32_t)>("fail", [](std::int32_t s) { throw status_error(s); })
            .add<void()>("throw", [] { throw std::runtime_error("handler"); }, {pool.get_executor()});
        return table;
    }

    /// Runs one coroutine; the wire moves while any runs.
    void spawn(std::function<asio::awaitable<void>()> body) {
        ++active;
        asio::co_spawn(context, std::move(body), [this](const std::exception_ptr& e) {
            --active;
            if (e) std::rethrow_exception(e);
        });
    }
    void run() {
        server.emplace(context.get_executor(), far, functions(), server_config);
        asio::post(context, [this] { turn(); });
        context.run_for(20s);
        EXPECT_EQ(active, 0) << "a coroutine is stuck";
    }

  private:
    static void move(fake_slot_ring& from, fake_slot_ring& to) {
        for (const auto& m : std::exchange(from.sent, {})) to.receive(m.slot, m.bytes);
    }
    void turn() {
        move(near, far);
        server->poll();
        move(far, near);
        caller->poll();
        if (active > 0) asio::post(context, [this] { turn(); });
    }
};

TEST_F(conversation_test, calls_as_the_tutorial_does) {
    std::int64_t sum = 0;
    spawn([&]() -> asio::awaitable<void> {
        sum = co_await caller->async_call<std::int64_t(std::int64_t, std::int64_t)>("addThem", 2, 3);
        co_await caller->async_call<void()>("noop");
    });
    run();
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(server->snapshot().answered, 2U);
}

TEST_F(conversation_test, holds_many_conversations_at_once) {
    constexpr std::int64_t coroutines = 40, calls = 25;
    std::int64_t right = 0;
    for (std::int64_t c = 0; c < coroutines; ++c) {
        spawn([&, c]() -> asio::awaitable<void> {
            for (std::int64_t i = 0; i < calls; ++i) {
                if (co_await caller->async_call<add_signature>("addThem", c * 1000, i) == c * 1000 + i)
                    ++right;
                const std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(c),
                                                      static_cast<std::uint8_t>(i)};
                const auto answer =
                    co_await caller->async_call<std::vector<std::uint8_t>(std::span<const std::uint8_t>)>(
                        "rpc_increment", std::span(bytes));
                if (answer == std::vector<std::uint8_t>{static_cast<std::uint8_t>(c + 1),
                                                        static_cast<std::uint8_t>(i + 1)}) {
                    ++right;
                }
            }
        });
    }
    run();
    EXPECT_EQ(right, 2 * coroutines * calls);
    EXPECT_EQ(caller->snapshot().succeeded, 2U * coroutines * calls);
    const auto s = server->snapshot();
    EXPECT_EQ(s.functions[0].latency.count, static_cast<std::uint64_t>(coroutines * calls));
    EXPECT_EQ(s.with_executors, 0U);
}

TEST_F(conversation_test, tells_each_side_of_its_mistakes) {
    std::vector<error_code> ends;
    spawn([&]() -> asio::awaitable<void> {
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("nobody", as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void(std::int32_t)>("addThem", 1, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void(std::int32_t)>("fail", 42, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("throw", as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<std::int32_t(std::int64_t, std::int64_t)>(
            "addThem", 1, 2, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("noop", as_result)));
    });
    run();
    EXPECT_THAT(ends, ElementsAre(make_error_code(status::unknown_function),
                                  make_error_code(status::bad_argument_length),
                                  error_code(42, status_category()), make_error_code(status::handler_failed),
                                  make_error_code(errc::bad_response), error_code()));
}

TEST_F(conversation_test, hears_nothing_of_its_mistakes_from_a_silent_bridge) {
    server_config.on_refusal = refusals::silent;
    std::vector<error_code> ends;
    spawn([&]() -> asio::awaitable<void> {
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("nobody", 100ms, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("addThem", 100ms, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("throw", 100ms, as_result)));
        ends.push_back(std::get<0>(co_await caller->async_call<void()>("noop", as_result)));
    });
    run();
    const auto silence = make_error_code(errc::deadline_exceeded);
    EXPECT_THAT(ends, ElementsAre(silence, silence, silence, error_code()));
    EXPECT_EQ(server->snapshot().silent, 3U);
}

} // namespace
} // namespace rocio::rpc
