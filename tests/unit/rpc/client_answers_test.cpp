// Answers that come too late, twice, or to others: none of them may reach a call.

#include "client_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace rocio::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class client_answers_test : public client_fixture {
  protected:
    void call_with_slot(ended<std::int64_t>& end, asio::cancellation_signal& signal) {
        caller->async_call<add_signature>("addThem", 1, 1, no_deadline,
                                          asio::bind_cancellation_slot(signal.slot(), end.handler()));
    }
};

TEST_F(client_answers_test, drops_the_answer_to_a_timed_out_call) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, soon);
    run();
    EXPECT_EQ(respond(0, 77), answer::late);
    EXPECT_EQ(end->times, 1);
    EXPECT_EQ(caller->snapshot().late_answers, 1U);
}

TEST_F(client_answers_test, gives_a_late_answer_to_no_call_in_the_same_slot) {
    start();
    std::array<ended<std::int64_t>, 4> old;
    for (auto& end : old) call(end, 1, 1, soon);
    run();
    std::array<ended<std::int64_t>, 4> young;
    for (auto& end : young) call(end, 2, 2);
    for (std::size_t n = 0; n < 4; ++n) {
        ring.receive(static_cast<std::uint32_t>(n), answer_to(n, 77));
    }
    caller->poll();
    for (auto& end : young) EXPECT_EQ(end->times, 0) << "an answer reached another call";
    for (std::size_t n = 4; n < 8; ++n) respond(n, 5);
    for (auto& end : young) EXPECT_EQ(end->result, 5);
    EXPECT_EQ(caller->snapshot().late_answers, 4U);
}

TEST_F(client_answers_test, drops_the_answer_to_a_cancelled_call) {
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> end;
    call_with_slot(end, signal);
    poll();
    signal.emit(asio::cancellation_type::total);
    EXPECT_EQ(respond(0, 2), answer::late);
    EXPECT_EQ(end->ec, asio::error::operation_aborted);
}

TEST_F(client_answers_test, drops_the_second_answer) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    EXPECT_EQ(respond(0, 2), answer::delivered);
    EXPECT_EQ(respond(0, 3), answer::duplicate);
    EXPECT_EQ(end->times, 1);
    EXPECT_EQ(end->result, 2);
    EXPECT_EQ(caller->snapshot().duplicate_answers, 1U);
}

TEST_F(client_answers_test, calls_the_second_late_answer_a_duplicate) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, soon);
    run();
    EXPECT_EQ(respond(0, 2), answer::late);
    EXPECT_EQ(respond(0, 2), answer::duplicate);
}

TEST_F(client_answers_test, drops_answers_to_ids_it_never_sent) {
    config.first_id = 100;
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    for (const std::uint32_t id : {0U, 99U, 101U, 0xFFFFFFFFU}) {
        for (const std::uint64_t timestamp : {std::uint64_t{id}, std::uint64_t{0}, std::uint64_t{100}}) {
            const auto bytes = test::response_bytes({.request_id = id, .timestamp = timestamp},
                                                    test::packed(std::int64_t{9}));
            EXPECT_EQ(caller->on_response(bytes), answer::foreign) << id << " " << timestamp;
        }
    }
    EXPECT_EQ(end->times, 0);
}

TEST_F(client_answers_test, drops_an_answer_whose_timestamp_is_another_calls) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    auto request = test::request_of(sent(0));
    request.timestamp += std::uint64_t{1} << 32; // an id whose low half is the same
    EXPECT_EQ(caller->on_response(test::response_bytes(request, test::packed(std::int64_t{9}))),
              answer::foreign);
    EXPECT_EQ(end->times, 0);
    respond(0, 2);
    EXPECT_EQ(end->result, 2);
}

TEST_F(client_answers_test, takes_an_answer_without_a_timestamp_unless_it_is_strict) {
    for (const bool strict : {false, true}) {
        config.strict_timestamp = strict;
        start();
        ended<std::int64_t> end;
        call(end, 1, 1);
        auto request = test::request_of(last_sent());
        request.timestamp = 0;
        EXPECT_EQ(caller->on_response(test::response_bytes(request, test::packed(std::int64_t{9}))),
                  strict ? answer::foreign : answer::delivered);
        EXPECT_EQ(end->times, strict ? 0 : 1);
    }
}

TEST_F(client_answers_test, tells_late_answers_without_a_timestamp_too) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, soon);
    run();
    auto request = test::request_of(sent(0));
    request.timestamp = 0;
    const auto bytes = test::response_bytes(request, test::packed(std::int64_t{9}));
    EXPECT_EQ(caller->on_response(bytes), answer::late);
    EXPECT_EQ(caller->on_response(bytes), answer::duplicate);
}

TEST_F(client_answers_test, does_not_use_an_id_again_while_a_call_with_the_same_low_half_is_in_flight) {
    config.first_id = 0xFFFFFFFE;
    config.order = slot_order::any_free;
    start();
    std::array<ended<std::int64_t>, 4> ends;
    for (auto& end : ends) call(end, 1, 1);
    std::vector<std::uint64_t> ids;
    for (std::size_t n = 0; n < 4; ++n) ids.push_back(test::request_of(sent(n)).timestamp);
    EXPECT_THAT(ids, ElementsAre(0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, 0x100000001));
    for (std::size_t n = 0; n < 4; ++n)
        EXPECT_EQ(respond(n, static_cast<std::int64_t>(n)), answer::delivered);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(ends[n]->result, static_cast<std::int64_t>(n));
}

TEST_F(client_answers_test, skips_the_id_0_when_ids_wrap) {
    config.first_id = ~std::uint64_t{0};
    start();
    std::array<ended<std::int64_t>, 2> ends;
    for (auto& end : ends) call(end, 1, 1);
    EXPECT_EQ(test::request_of(sent(0)).timestamp, ~std::uint64_t{0});
    EXPECT_EQ(test::request_of(sent(1)).timestamp, 1U);
    respond(1, 3);
    respond(0, 2);
    EXPECT_EQ(ends[0]->result, 2);
    EXPECT_EQ(ends[1]->result, 3);
    EXPECT_EQ(respond(1, 3), answer::duplicate);
}

TEST_F(client_answers_test, takes_nothing_for_an_answer_that_is_none) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    const auto good = answer_to(0, 2);
    for (std::size_t n = 0; n < 24; ++n) {
        EXPECT_EQ(caller->on_response(std::span(good).first(n)), answer::not_answer) << n;
    }
    for (unsigned bit = 0; bit < 32; ++bit) {
        auto damaged = good;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_EQ(caller->on_response(damaged), answer::not_answer) << bit;
    }
    EXPECT_EQ(caller->on_response(sent(0)), answer::not_answer) << "its own request";
    EXPECT_EQ(end->times, 0);
    EXPECT_EQ(caller->snapshot().not_answers, 57U);
}

TEST_F(client_answers_test, hears_no_answer_to_an_earlier_client_of_the_ring) {
    config.first_id.reset();
    start();
    ended<std::int64_t> old, young;
    call(old, 1, 1);
    const auto old_answer = answer_to(0, 77);
    start();
    call(young, 1, 1);
    EXPECT_EQ(caller->on_response(old_answer), answer::foreign);
    EXPECT_EQ(young->times, 0);
    EXPECT_EQ(old->ec, asio::error::operation_aborted);
}

TEST_F(client_answers_test, remembers_the_latest_ended_calls_and_takes_older_ones_for_duplicates) {
    start();
    constexpr std::size_t remembered = 2 * 4 + 64;
    for (std::size_t n = 0; n <= remembered; ++n) {
        asio::cancellation_signal signal;
        ended<std::int64_t> end;
        call_with_slot(end, signal);
        poll();
        signal.emit(asio::cancellation_type::total);
        poll();
    }
    EXPECT_EQ(respond(0, 2), answer::duplicate) << "memory for ended calls grows without bound";
    EXPECT_EQ(respond(1, 2), answer::late);
    EXPECT_EQ(respond(remembered, 2), answer::late);
}

TEST_F(client_answers_test, ends_a_call_by_the_answer_that_repeats_an_earlier_slot) {
    start();
    std::array<ended<std::int64_t>, 3> ends;
    for (auto& end : ends) call(end, 1, 1);
    for (std::size_t n = 0; n < 3; ++n) {
        ring.receive(2, answer_to(n, 10 + static_cast<std::int64_t>(n))); // always the same receive slot
        caller->poll();
    }
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(ends[n]->result, 10 + static_cast<std::int64_t>(n));
}

TEST_F(client_answers_test, counts_each_kind_apart) {
    start();
    ended<std::int64_t> answered, silent;
    call(answered, 1, 1);
    call(silent, 1, 1, soon);
    respond(0, 2);
    run();
    respond(0, 2);
    respond(1, 2);
    caller->on_response(test::byte_vector(24));
    caller->on_response(test::response_bytes({.request_id = 50, .timestamp = 50}, {}));
    const auto s = caller->snapshot();
    EXPECT_EQ(s.calls, 2U);
    EXPECT_EQ(s.succeeded, 1U);
    EXPECT_EQ(s.deadline_exceeded, 1U);
    EXPECT_EQ(s.duplicate_answers, 1U);
    EXPECT_EQ(s.late_answers, 1U);
    EXPECT_EQ(s.not_answers, 1U);
    EXPECT_EQ(s.foreign_answers, 1U);
}

} // namespace
} // namespace rocio::rpc
