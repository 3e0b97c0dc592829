#include "named_stream.hpp"

#include <rocio/status/status_source.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace rocio;
using testing::ElementsAre;
using testing::IsEmpty;

status_source::provider stream_called(const std::string& name) {
    return [name](status_snapshot& s) { s.streams.push_back(test::named_stream(name)); };
}

std::vector<std::string> stream_names(const status_source& source) {
    std::vector<std::string> names;
    for (const auto& stream : source.snapshot().streams) names.push_back(stream.name);
    return names;
}

TEST(status_source, without_providers_tells_of_the_process) {
    const status_source source;
    const auto status = source.snapshot();
    EXPECT_EQ(status.process.pid, ::getpid());
    EXPECT_THAT(status.process.version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_GE(status.process.uptime.count(), 0);
    EXPECT_GE(source.snapshot().process.uptime, status.process.uptime);
    EXPECT_THAT(status.streams, IsEmpty());
}

TEST(status_source, asks_its_providers_in_the_order_they_came) {
    status_source source;
    const auto a = source.add(stream_called("a"));
    const auto b = source.add(stream_called("b"));
    EXPECT_THAT(stream_names(source), ElementsAre("a", "b"));
}

TEST(status_source, asks_a_provider_anew_for_each_snapshot) {
    status_source source;
    std::uint32_t turns = 0;
    const auto shown = source.add([&](status_snapshot& s) {
        engine_snapshot engine;
        engine.turns = ++turns;
        s.engines.push_back(engine);
    });
    EXPECT_EQ(source.snapshot().engines.at(0).turns, 1U);
    EXPECT_EQ(source.snapshot().engines.at(0).turns, 2U);
}

TEST(status_source, forgets_a_provider_whose_registration_ends) {
    status_source source;
    const auto a = source.add(stream_called("a"));
    {
        const auto b = source.add(stream_called("b"));
        const auto c = source.add(stream_called("c"));
        EXPECT_THAT(stream_names(source), ElementsAre("a", "b", "c"));
    }
    EXPECT_THAT(stream_names(source), ElementsAre("a"));
}

TEST(status_source, keeps_a_provider_through_moves_of_its_registration) {
    status_source source;
    auto a = source.add(stream_called("a"));
    status_registration moved(std::move(a));
    EXPECT_THAT(stream_names(source), ElementsAre("a"));
    status_registration assigned = source.add(stream_called("b"));
    assigned = std::move(moved);
    EXPECT_THAT(stream_names(source), ElementsAre("a"));
    assigned.reset();
    assigned.reset();
    EXPECT_THAT(stream_names(source), IsEmpty());
}

TEST(status_source, shares_providers_with_its_copies_which_keep_them_alive) {
    std::optional<status_source> source(std::in_place);
    const auto copy = *source;
    const auto a = source->add(stream_called("a"));
    source.reset();
    EXPECT_THAT(stream_names(copy), ElementsAre("a"));
}

TEST(status_source, lets_a_registration_outlive_it) {
    std::optional<status_source> source(std::in_place);
    auto captured = std::make_shared<int>(1);
    auto a = source->add([captured](status_snapshot&) {});
    source.reset();
    EXPECT_EQ(captured.use_count(), 2);
    a.reset();
    EXPECT_EQ(captured.use_count(), 1);
}

TEST(status_source, passes_on_what_a_provider_throws_and_works_on) {
    status_source source;
    auto failing = source.add([](status_snapshot&) { throw std::runtime_error("no answer"); });
    EXPECT_THROW(source.snapshot(), std::runtime_error);
    failing.reset();
    EXPECT_THAT(stream_names(source), IsEmpty());
}

TEST(status_source, waits_for_a_call_under_way_before_a_provider_is_gone) {
    status_source source;
    std::promise<void> entered;
    std::promise<void> leave;
    std::atomic<bool> left = false;
    auto shown = source.add([&](status_snapshot&) {
        entered.set_value();
        leave.get_future().wait();
        left = true;
    });
    std::thread reader([&] { source.snapshot(); });
    entered.get_future().wait();
    std::thread ender([&] {
        shown.reset();
        EXPECT_TRUE(left);
    });
    leave.set_value();
    ender.join();
    reader.join();
}

TEST(status_source, is_read_from_threads_while_objects_come_and_go) {
    status_source source;
    std::atomic<bool> done = false;
    std::atomic<int> reads = 0;
    auto read = [&] {
        while (!done) {
            for (const auto& stream : source.snapshot().streams) EXPECT_EQ(stream.name, "short-lived");
            ++reads;
        }
    };
    std::thread first(read);
    std::thread second(read);
    for (int i = 0; i < 2000 || reads < 100; ++i) {
        const std::string name = "short-lived"; // the provider refers to it
        const auto shown =
            source.add([&name](status_snapshot& s) { s.streams.push_back(test::named_stream(name)); });
    }
    done = true;
    first.join();
    second.join();
    EXPECT_THAT(stream_names(source), IsEmpty());
}

} // namespace
