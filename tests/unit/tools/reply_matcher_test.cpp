#include "cudaq/reply_matcher.hpp"

#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <gtest/gtest.h>

#include <array>

namespace rocio::tools {
namespace {

using verdict = reply_matcher::verdict;

std::array<std::byte, 64> request(std::uint32_t id, std::uint64_t timestamp) {
    std::array<std::byte, 64> out{};
    EXPECT_TRUE((rpc::request_header{1, 8, id, timestamp}.encode(out)));
    return out;
}

std::array<std::byte, 32> response(std::uint32_t id, std::uint64_t timestamp) {
    std::array<std::byte, 32> out{};
    EXPECT_TRUE((rpc::response_header{0, 8, id, timestamp}.encode(out)));
    return out;
}

class ReplyMatcher : public ::testing::Test {
  protected:
    void send(std::uint32_t window, std::uint32_t id, std::uint64_t timestamp = 0, std::uint64_t pass = 1) {
        matcher.sent(reply_matcher::describe(request(id, timestamp), window, pass));
    }
    verdict take(std::uint32_t id, std::uint64_t timestamp = 0) {
        last = matcher.take(response(id, timestamp));
        return last.what;
    }
    reply_matcher matcher;
    reply_matcher::match last;
};

TEST_F(ReplyMatcher, an_answer_in_time_is_its_windows_once) {
    send(3, 17);
    EXPECT_TRUE(matcher.waits());
    EXPECT_EQ(take(17), verdict::current);
    EXPECT_EQ(last.which.window, 3U);
    EXPECT_FALSE(matcher.waits());
    EXPECT_EQ(take(17), verdict::stray);
}

TEST_F(ReplyMatcher, a_late_answer_counts_for_no_other_window) {
    send(0, 10, 0, 5);
    matcher.give_up();
    send(1, 11, 0, 5);
    EXPECT_EQ(take(10), verdict::late);
    EXPECT_EQ(last.which.window, 0U);
    EXPECT_EQ(last.which.pass, 5U);
    EXPECT_TRUE(matcher.waits());
    EXPECT_EQ(take(10), verdict::stray);
    EXPECT_EQ(take(11), verdict::current);
}

TEST_F(ReplyMatcher, an_answer_that_nobody_asked_for_is_a_stray_one) {
    EXPECT_EQ(take(1), verdict::stray);
    send(0, 10);
    EXPECT_EQ(take(99), verdict::stray);
    EXPECT_TRUE(matcher.waits());
}

TEST_F(ReplyMatcher, the_timestamp_tells_the_laps_of_a_loop_apart) {
    send(0, 10, 1000);
    matcher.give_up();
    send(0, 10, 2000);
    EXPECT_EQ(take(10, 1000), verdict::late);
    EXPECT_EQ(last.which.timestamp, 1000U);
    EXPECT_EQ(take(10, 2000), verdict::current);
}

TEST_F(ReplyMatcher, a_handler_that_does_not_echo_the_timestamp_is_matched_by_id) {
    send(0, 10, 1000);
    EXPECT_EQ(take(10, 0), verdict::current);
    send(1, 11, 2000);
    EXPECT_EQ(take(11, 77), verdict::current);
    send(2, 12, 3000);
    matcher.give_up();
    EXPECT_EQ(take(12, 0), verdict::late);
}

TEST_F(ReplyMatcher, a_request_that_comes_back_as_it_went_is_matched_too) {
    send(4, 20, 500);
    EXPECT_EQ(matcher.take(request(20, 500)).what, verdict::current);
}

TEST_F(ReplyMatcher, without_an_id_the_next_reply_is_the_windows) {
    const std::array<std::byte, 64> raw{};
    matcher.sent(reply_matcher::describe(raw, 6, 1));
    EXPECT_EQ(take(5), verdict::current);
    EXPECT_EQ(last.which.window, 6U);
    send(7, 30);
    EXPECT_EQ(matcher.take(std::span(raw).first(8)).what, verdict::current); // too short for an id
    EXPECT_EQ(matcher.take(std::span(raw).first(8)).what, verdict::stray);
    EXPECT_EQ(matcher.take({}).what, verdict::stray);
}

TEST_F(ReplyMatcher, remembers_so_many_unanswered_windows_and_no_more) {
    const auto n = static_cast<std::uint32_t>(reply_matcher::memory);
    for (std::uint32_t i = 0; i <= n; ++i) send(i, i + 1);
    matcher.give_up();
    EXPECT_EQ(take(1), verdict::stray); // forgotten
    EXPECT_EQ(take(2), verdict::late);
    EXPECT_EQ(take(n + 1), verdict::late);
}

TEST_F(ReplyMatcher, a_window_that_follows_an_unanswered_one_gives_that_up) {
    send(0, 1);
    send(1, 2);
    EXPECT_EQ(take(1), verdict::late);
    EXPECT_EQ(take(2), verdict::current);
}

} // namespace
} // namespace rocio::tools
