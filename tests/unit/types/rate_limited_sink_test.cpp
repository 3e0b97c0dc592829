#include <rocio/types/rate_limited_sink.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

using namespace rocio;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

struct recording_sink final : log_sink {
    void write(log_level level, std::string_view room, std::string_view text) noexcept override {
        const std::lock_guard lock(mutex);
        static constexpr const char* names[] = {"debug", "info", "warning", "error"};
        lines.push_back(std::string(names[static_cast<int>(level)]) + " " + std::string(room) + ": " +
                        std::string(text));
    }
    std::vector<std::string> take() { return std::exchange(lines, {}); }

    std::mutex mutex{};
    std::vector<std::string> lines{};
};

class rate_limited : public testing::Test {
  protected:
    std::unique_ptr<rate_limited_sink> limited(rate_limit limit) {
        return std::make_unique<rate_limited_sink>(out, limit, [this] { return now; });
    }
    static void say(log_sink& sink, std::string_view text, int times = 1) {
        for (int i = 0; i < times; ++i) sink.write(log_level::warning, "io", text);
    }

    std::shared_ptr<recording_sink> out = std::make_shared<recording_sink>();
    rate_limited_sink::clock::time_point now{};
};

TEST_F(rate_limited, a_line_passes_as_often_as_the_limit_says) {
    auto sink = limited({.lines = 2});
    say(*sink, "late", 5);
    EXPECT_THAT(out->lines, ElementsAre("warning io: late", "warning io: late"));
}

TEST_F(rate_limited, level_room_and_text_all_tell_lines_apart) {
    auto sink = limited({.lines = 1});
    sink->write(log_level::warning, "io", "a");
    sink->write(log_level::error, "io", "a");
    sink->write(log_level::warning, "soft", "a");
    sink->write(log_level::warning, "io", "b");
    EXPECT_THAT(out->lines, ElementsAre("warning io: a", "error io: a", "warning soft: a", "warning io: b"));
}

TEST_F(rate_limited, the_next_different_line_first_tells_the_repetitions) {
    auto sink = limited({.lines = 1});
    say(*sink, "late", 4);
    say(*sink, "other");
    EXPECT_THAT(out->lines, ElementsAre("warning io: late", "warning io: late … (repeated 3 times)",
                                        "warning io: other"));
}

TEST_F(rate_limited, the_end_of_the_period_tells_them_and_lets_the_line_through_again) {
    auto sink = limited({.lines = 1, .period = 10s});
    say(*sink, "late", 3);
    now += 10s - 1ns;
    say(*sink, "late");
    EXPECT_THAT(out->take(), ElementsAre("warning io: late"));
    now += 1ns;
    say(*sink, "late");
    EXPECT_THAT(out->lines, ElementsAre("warning io: late … (repeated 3 times)", "warning io: late"));
}

TEST_F(rate_limited, nothing_is_told_of_a_line_that_was_not_held_back) {
    auto sink = limited({.lines = 2, .period = 1s});
    say(*sink, "a", 2);
    now += 1s;
    say(*sink, "b");
    sink.reset();
    EXPECT_THAT(out->lines, ElementsAre("warning io: a", "warning io: a", "warning io: b"));
}

TEST_F(rate_limited, a_line_that_is_itself_held_back_tells_of_no_other) {
    auto sink = limited({.lines = 1});
    say(*sink, "a");
    say(*sink, "b");
    out->take();
    for (int i = 0; i < 50; ++i) {
        say(*sink, "a");
        say(*sink, "b");
    }
    EXPECT_THAT(out->take(), IsEmpty());
    sink->flush();
    EXPECT_THAT(out->lines,
                ElementsAre("warning io: a … (repeated 50 times)", "warning io: b … (repeated 50 times)"));
}

TEST_F(rate_limited, lines_that_take_turns_with_ever_new_ones_do_not_get_around_the_limit) {
    auto sink = limited({.lines = 1, .period = 10s, .remembered = 1000});
    for (int i = 0; i < 100; ++i) {
        say(*sink, "a", 2);
        say(*sink, "new " + std::to_string(i));
    }
    EXPECT_THAT(out->take(), SizeIs(100 + 1 + 1)); // the new ones, a, and one summary in the period
    now += 10s;
    say(*sink, "end");
    EXPECT_THAT(out->lines, ElementsAre("warning io: a … (repeated 198 times)", "warning io: end"));
}

TEST_F(rate_limited, the_destructor_tells_what_is_held_back) {
    auto sink = limited({.lines = 1});
    say(*sink, "late", 3);
    sink.reset();
    EXPECT_THAT(out->lines, ElementsAre("warning io: late", "warning io: late … (repeated 2 times)"));
}

TEST_F(rate_limited, flush_tells_once) {
    auto sink = limited({.lines = 1});
    say(*sink, "late", 3);
    out->take();
    sink->flush();
    EXPECT_THAT(out->take(), SizeIs(1));
    sink->flush();
    EXPECT_THAT(out->take(), IsEmpty());
    say(*sink, "late");
    sink->flush();
    EXPECT_THAT(out->lines, ElementsAre("warning io: late … (repeated 1 times)"));
}

TEST_F(rate_limited, a_line_too_many_takes_the_place_of_the_first_which_tells_its_repetitions) {
    auto sink = limited({.lines = 1, .remembered = 2});
    say(*sink, "a", 3);
    say(*sink, "b");
    say(*sink, "a", 2);
    out->take();
    say(*sink, "c");
    EXPECT_THAT(out->take(), ElementsAre("warning io: a … (repeated 2 times)", "warning io: c"));
    say(*sink, "a"); // forgotten, so it passes
    EXPECT_THAT(out->lines, ElementsAre("warning io: a"));
}

TEST_F(rate_limited, of_a_long_line_the_beginning_and_the_length_count) {
    auto sink = limited({.lines = 1});
    const std::string begin(1024, 'x');
    say(*sink, begin + "12");
    say(*sink, begin + "34");
    EXPECT_THAT(out->take(), ElementsAre("warning io: " + begin + "12"));
    say(*sink, begin + "345");
    EXPECT_THAT(out->lines, ElementsAre("warning io: " + begin + " … (repeated 1 times)",
                                        "warning io: " + begin + "345"));
}

TEST_F(rate_limited, other_numbers_make_another_line_unless_told_otherwise) {
    auto exact = limited({.lines = 1});
    say(*exact, "late by 9 ms");
    say(*exact, "late by 10 ms");
    EXPECT_THAT(out->take(), ElementsAre("warning io: late by 9 ms", "warning io: late by 10 ms"));

    auto sink = limited({.lines = 1, .any_number = true});
    for (const auto* text :
         {"refused 127.0.0.1:40001: late", "refused 127.0.0.1:1: late", "refused 9.8.7.6:5: late"})
        say(*sink, text);
    EXPECT_THAT(out->take(), ElementsAre("warning io: refused 127.0.0.1:40001: late"));
    sink->flush();
    EXPECT_THAT(out->take(), ElementsAre("warning io: refused 127.0.0.1:40001: late … (repeated 2 times)"));
    for (const auto* text :
         {"refused 127.0.0.1:1: later", "refused 127.0.0.1: late", "refused 127.0.0.1:", "refused"})
        say(*sink, text);
    EXPECT_THAT(out->lines, SizeIs(4));
}

TEST_F(rate_limited, values_below_their_minimum_are_raised_to_it) {
    auto sink = limited({.lines = 0, .period = 0s, .remembered = 0});
    say(*sink, "a", 2);
    EXPECT_THAT(out->take(), ElementsAre("warning io: a"));
    now += 1ns;
    say(*sink, "a");
    EXPECT_THAT(out->lines, ElementsAre("warning io: a … (repeated 1 times)", "warning io: a"));
}

TEST_F(rate_limited, the_other_sink_may_itself_write_a_line) {
    struct answering_sink final : log_sink {
        void write(log_level, std::string_view, std::string_view text) noexcept override {
            lines.emplace_back(text);
            if (text == "a") back->write(log_level::info, "io", "answer");
        }
        log_sink* back = nullptr;
        std::vector<std::string> lines{};
    };
    const auto answering = std::make_shared<answering_sink>();
    rate_limited_sink sink(answering, {});
    answering->back = &sink;
    say(sink, "a");
    EXPECT_THAT(answering->lines, ElementsAre("a", "answer"));
}

TEST_F(rate_limited, several_threads_lose_no_line) {
    constexpr int each = 5000;
    {
        rate_limited_sink sink(out, {.lines = 1, .period = 1h});
        auto write = [&] { say(sink, "late", each); };
        std::thread a(write);
        std::thread b(write);
        a.join();
        b.join();
    }
    EXPECT_THAT(out->lines, ElementsAre("warning io: late", "warning io: late … (repeated " +
                                                                std::to_string(2 * each - 1) + " times)"));
}

TEST_F(rate_limited, the_default_clock_is_the_steady_one) {
    rate_limited_sink sink(out, {.lines = 1, .period = 1ns});
    const auto begin = rate_limited_sink::clock::now();
    say(sink, "a");
    while (rate_limited_sink::clock::now() - begin < 1us) {
    }
    say(sink, "a");
    EXPECT_THAT(out->lines, ElementsAre("warning io: a", "warning io: a"));
}

} // namespace
