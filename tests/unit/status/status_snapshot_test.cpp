#include "named_stream.hpp"

#include <rocio/status/status_source.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace rocio;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

status_source::provider stream_called(const std::string& name) {
    return [name](status_snapshot& s) { s.streams.push_back(test::named_stream(name)); };
}

std::vector<std::string> stream_names(const status_snapshot& status) {
    std::vector<std::string> names;
    for (const auto& stream : status.streams) names.push_back(stream.name);
    return names;
}

std::string stale_text(const status_snapshot& status) {
    std::string text;
    for (const auto& part : status.stale) text += part.name + ": " + part.reason + "\n";
    return text;
}

/// A data plane and whoever looks at it, each on a context that runs when the test lets it.
class bound_provider : public testing::Test {
  protected:
    status_source source{};
    std::optional<asio::io_context> plane{std::in_place, 1};
    std::optional<asio::io_context> front{std::in_place, 1};
    std::optional<status_snapshot> result{};

    status_registration bind(status_source::provider show) {
        return source.add(plane->get_executor(), "plane", std::move(show));
    }
    void start(std::chrono::milliseconds deadline = 10s) {
        result.reset();
        source.async_snapshot(front->get_executor(), deadline,
                              [this](const std::exception_ptr& failure, status_snapshot status) {
                                  EXPECT_FALSE(failure);
                                  result = std::move(status);
                              });
        run_front();
    }
    std::size_t run_plane() {
        plane->restart();
        return plane->poll();
    }
    void run_front() {
        front->restart();
        front->poll();
    }
    const status_snapshot& late() {
        start(1ms);
        while (!result) front->run_one();
        return *result;
    }
    const status_snapshot& in_time() {
        start();
        run_plane();
        run_front();
        return result.value();
    }
};

TEST_F(bound_provider, is_asked_on_its_executor_and_waited_for) {
    std::thread::id asked_on;
    const auto shown = bind([&](status_snapshot& s) {
        asked_on = std::this_thread::get_id();
        stream_called("camera")(s);
    });
    start();
    EXPECT_FALSE(result);
    std::thread other([&] { run_plane(); });
    const auto other_id = other.get_id();
    other.join();
    EXPECT_EQ(asked_on, other_id);
    run_front();
    ASSERT_TRUE(result);
    EXPECT_THAT(stream_names(*result), ElementsAre("camera"));
    EXPECT_THAT(result->stale, IsEmpty());
}

TEST_F(bound_provider, that_never_answered_contributes_what_is_said_of_it) {
    const auto shown = bind(stream_called("camera"));
    const auto& status = late();
    EXPECT_THAT(stream_names(status), IsEmpty());
    EXPECT_EQ(stale_text(status), "plane: no answer within 1 ms\n");
    EXPECT_GT(status.stale.at(0).age, 1ms) << "since the source was made";
}

TEST_F(bound_provider, that_is_late_contributes_its_last_answer) {
    std::string name = "first";
    const auto shown = bind([&](status_snapshot& s) { stream_called(name)(s); });
    EXPECT_THAT(stream_names(in_time()), ElementsAre("first"));
    name = "second";
    EXPECT_THAT(stream_names(late()), ElementsAre("first"));
    EXPECT_EQ(stale_text(*result), "plane: no answer within 1 ms\n");
    EXPECT_GT(result->stale.at(0).age, 0ns);
    run_plane(); // the late answer is kept
    EXPECT_THAT(stream_names(late()), ElementsAre("second"));
}

TEST_F(bound_provider, answers_an_older_request_for_a_newer_snapshot_too) {
    const auto shown = bind(stream_called("camera"));
    late();
    start();
    EXPECT_FALSE(result);
    EXPECT_EQ(run_plane(), 1U);
    run_front();
    ASSERT_TRUE(result);
    EXPECT_THAT(result->stale, IsEmpty());
}

TEST_F(bound_provider, has_no_more_than_one_request_queued) {
    int calls = 0;
    const auto shown = bind([&](status_snapshot&) { ++calls; });
    for (int i = 0; i < 100; ++i) late();
    EXPECT_EQ(run_plane(), 1U);
    EXPECT_EQ(calls, 1);
}

TEST_F(bound_provider, of_several_delays_only_what_it_shows_itself) {
    asio::io_context other(1);
    const auto stuck = bind(stream_called("stuck"));
    const auto quick = source.add(other.get_executor(), "quick", stream_called("quick"));
    start(50ms);
    other.poll();
    while (!result) front->run_one();
    EXPECT_THAT(stream_names(*result), ElementsAre("quick"));
    EXPECT_EQ(stale_text(*result), "plane: no answer within 50 ms\n");
}

TEST_F(bound_provider, keeps_its_place_among_the_others) {
    const auto a = source.add(stream_called("a"));
    const auto b = bind(stream_called("b"));
    const auto c = source.add(stream_called("c"));
    EXPECT_THAT(stream_names(in_time()), ElementsAre("a", "b", "c"));
}

TEST_F(bound_provider, that_throws_is_stale_with_its_reason_and_its_context_runs_on) {
    bool fails = false;
    const auto shown = bind([&](status_snapshot& s) {
        if (fails) throw std::runtime_error("device went away");
        stream_called("camera")(s);
    });
    in_time();
    fails = true;
    EXPECT_THAT(stream_names(in_time()), ElementsAre("camera"));
    EXPECT_EQ(stale_text(*result), "plane: it failed: device went away\n");
    fails = false;
    EXPECT_THAT(in_time().stale, IsEmpty());
}

TEST_F(bound_provider, is_asked_by_the_waitless_snapshot_too_which_shows_its_last_answer) {
    const auto shown = bind(stream_called("camera"));
    EXPECT_EQ(stale_text(source.snapshot()), "plane: no answer within 50 ms\n");
    EXPECT_EQ(run_plane(), 1U);
    const auto status = source.snapshot();
    EXPECT_THAT(stream_names(status), ElementsAre("camera"));
    EXPECT_THAT(status.stale, IsEmpty());
}

TEST_F(bound_provider, whose_registration_ends_is_not_called_for_a_queued_request) {
    auto captured = std::make_shared<int>(0);
    {
        const auto shown = bind([captured](status_snapshot&) { ++*captured; });
        start();
    }
    EXPECT_EQ(captured.use_count(), 1);
    run_plane();
    EXPECT_EQ(*captured, 0);
    run_front();
    EXPECT_TRUE(result) << "it is waited for although it is gone";
}

TEST_F(bound_provider, may_outlive_its_context_with_a_request_queued) {
    auto shown = bind(stream_called("camera"));
    in_time();
    start();
    plane.reset();
    while (!result) front->run_one_for(10ms);
    EXPECT_THAT(stream_names(*result), ElementsAre("camera"));
    EXPECT_EQ(stale_text(*result), "plane: its context has ended\n");
    EXPECT_EQ(stale_text(late()), "plane: its context has ended\n");
    shown.reset();
    EXPECT_THAT(late().stale, IsEmpty());
}

TEST_F(bound_provider, may_outlive_its_context_on_a_strand_of_it) {
    const auto shown = source.add(asio::make_strand(*plane), "strand", stream_called("camera"));
    in_time();
    plane.reset();
    EXPECT_EQ(stale_text(late()), "strand: its context has ended\n");
}

TEST_F(bound_provider, may_answer_when_the_context_of_who_asked_is_gone) {
    const auto shown = bind(stream_called("camera"));
    start();
    front.reset();
    EXPECT_EQ(run_plane(), 1U);
    EXPECT_FALSE(result);
    EXPECT_THAT(stream_names(source.snapshot()), ElementsAre("camera"));
}

TEST_F(bound_provider, may_answer_when_the_source_is_gone) {
    auto shown = bind(stream_called("camera"));
    start();
    source = status_source();
    run_plane();
    run_front();
    ASSERT_TRUE(result);
    EXPECT_THAT(stream_names(*result), ElementsAre("camera"));
}

TEST_F(bound_provider, is_not_waited_for_while_its_thread_is_blocked) {
    std::latch blocked(1);
    std::latch go_on(1);
    asio::post(*plane, [&] {
        blocked.count_down();
        go_on.wait();
    });
    std::thread runner([&] { plane->run(); });
    blocked.wait();
    const auto shown = bind(stream_called("camera"));
    EXPECT_EQ(stale_text(late()), "plane: no answer within 1 ms\n");
    go_on.count_down();
    runner.join();
    EXPECT_THAT(stream_names(source.snapshot()), ElementsAre("camera"));
}

class async_snapshot : public bound_provider {};

TEST_F(async_snapshot, takes_any_completion_token) {
    const auto shown = source.add(stream_called("camera"));
    const auto executor = front->get_executor();
    auto future = source.async_snapshot(executor, 1s, asio::use_future);
    int done = 0;
    auto only_moved = std::make_unique<int>(1);
    source.async_snapshot(executor, 1s, asio::deferred)(
        [&done, only = std::move(only_moved)](const std::exception_ptr&, const status_snapshot& s) {
            done += *only * static_cast<int>(s.streams.size());
        });
    source.async_snapshot(executor, 1s)([&](const std::exception_ptr&, const status_snapshot&) { ++done; });
    asio::co_spawn(
        executor,
        [&]() -> asio::awaitable<void> {
            const auto status = co_await source.async_snapshot(executor, 1s, asio::use_awaitable);
            done += static_cast<int>(status.streams.size());
        },
        [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
    EXPECT_EQ(done, 0) << "completed inside the call";
    front->run();
    EXPECT_EQ(done, 3);
    EXPECT_THAT(stream_names(future.get()), ElementsAre("camera"));
}

TEST_F(async_snapshot, completes_on_the_handlers_executor) {
    asio::io_context other(1);
    bool done = false;
    source.async_snapshot(front->get_executor(), 1s,
                          asio::bind_executor(other, [&](const std::exception_ptr&, const status_snapshot&) {
                              done = other.get_executor().running_in_this_thread();
                          }));
    front->run();
    EXPECT_FALSE(done);
    other.run();
    EXPECT_TRUE(done);
}

TEST_F(async_snapshot, passes_on_what_a_provider_without_executor_throws) {
    const auto failing = source.add([](status_snapshot&) { throw std::runtime_error("no answer"); });
    auto future = source.async_snapshot(front->get_executor(), 1s, asio::use_future);
    front->run();
    EXPECT_THROW(future.get(), std::runtime_error);
}

TEST_F(async_snapshot, says_that_an_engine_is_stale_whose_turn_lasts_or_is_due_too_long) {
    const auto shown = source.add([](status_snapshot& s) {
        s.engines.resize(4);
        s.engines[0].name = "main";
        s.engines[0].in_turn = 500ms;
        s.engines[0].turn_due = 500ms;
        s.engines[1].name = "plane";
        s.engines[1].in_turn = 3249ms;
        s.engines[2].turn_due = 501ms;
    });
    EXPECT_EQ(stale_text(late()),
              "engine plane: its turn lasts for 3.2 s\nengine: its turn is due for 0.5 s\n");
    EXPECT_EQ(result->stale.at(0).age, 3249ms);
    EXPECT_EQ(stale_text(source.snapshot()), stale_text(*result));
}

TEST_F(async_snapshot, tells_of_the_process) {
    const auto before = std::chrono::system_clock::now();
    source.set_program_name("rocio test");
    const auto& process = late().process;
    EXPECT_EQ(process.name, "rocio test");
    EXPECT_GE(process.now, before);
    EXPECT_LE(process.now, std::chrono::system_clock::now());
    EXPECT_THAT(process.build, testing::MatchesRegex("(g|clang)\\+\\+ [0-9]+\\.[0-9]+\\.[0-9]+, .*"));
    EXPECT_EQ(status_source("named").snapshot().process.name, "named");
}

TEST(status_source_on_threads, is_asked_by_several_while_bound_providers_come_and_go) {
    status_source source;
    asio::thread_pool plane(1);
    asio::thread_pool front(2);
    std::atomic<int> taken = 0;
    std::atomic<bool> done = false;
    const auto ask = [&]() -> asio::awaitable<void> {
        while (!done) {
            const auto executor = co_await asio::this_coro::executor;
            const auto status = co_await source.async_snapshot(executor, 5ms, asio::use_awaitable);
            for (const auto& stream : status.streams) EXPECT_EQ(stream.name, "short-lived");
            ++taken;
        }
    };
    for (int i = 0; i < 3; ++i) {
        asio::co_spawn(front, ask, [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
    }
    for (int i = 0; i < 500 || taken < 100; ++i) {
        const std::string name = "short-lived"; // the provider refers to it
        const auto shown = source.add(plane.get_executor(), "plane", [&name](status_snapshot& s) {
            s.streams.push_back(test::named_stream(name));
        });
        source.notify();
        source.snapshot();
    }
    done = true;
    front.join();
}

TEST(status_source_on_threads, survives_the_end_of_contexts_on_other_threads) {
    for (int i = 0; i < 100; ++i) {
        status_source source;
        auto plane = std::make_unique<asio::thread_pool>(1);
        auto front = std::make_unique<asio::thread_pool>(1);
        auto shown = source.add(plane->get_executor(), "plane", stream_called("camera"));
        for (int k = 0; k < 5; ++k) {
            source.async_snapshot(front->get_executor(), 20ms,
                                  [](const std::exception_ptr&, const status_snapshot&) {});
        }
        std::thread ender([&] {
            front->stop();
            front.reset();
        });
        source.snapshot();
        plane->stop();
        plane.reset();
        ender.join();
        EXPECT_THAT(stale_text(source.snapshot()), HasSubstr("its context has ended"));
    }
}

} // namespace
