#include "fake_slot_ring.hpp"
#include "rpc_messages.hpp"

#include <rocio/rpc/ring_dispatcher.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace rocio::rpc {
namespace {

namespace asio = boost::asio;
using test::fake_slot_ring;
using test::packed;
using test::request_bytes;
using test::response_of;
using test::value_behind_header;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::StrEq;

class ring_dispatcher_test : public ::testing::Test {
  protected:
    using server_type = ring_dispatcher<fake_slot_ring>;

    asio::io_context home;
    asio::io_context elsewhere;
    fake_slot_ring ring{4, 64};
    function_table table;
    dispatcher_config config;
    std::optional<server_type> server;

    void SetUp() override {
        table.add<std::int32_t(std::int32_t)>("here", [](std::int32_t x) { return x + 1; })
            .add<std::int32_t(std::int32_t)>("there",
                                             [this](std::int32_t x) {
                                                 ran_there.push_back(x);
                                                 return x + 100;
                                             },
                                             {elsewhere.get_executor()})
            .add<void()>("throws", []() { throw std::runtime_error("no"); }, {elsewhere.get_executor()});
    }

    server_type& start() { return server.emplace(home.get_executor(), ring, std::move(table), config); }

    void receive(std::uint32_t slot, function_id callee, std::int32_t x) {
        ring.receive(slot, request_bytes(callee, packed(x), 1000 + slot, slot));
    }
    /// One ready handler of the other context, and its answer.
    void run_one_there() {
        elsewhere.restart();
        ASSERT_EQ(elsewhere.poll_one(), 1U);
    }
    void run_home() {
        home.restart();
        home.poll();
    }
    std::vector<std::uint32_t> sent_slots() const {
        std::vector<std::uint32_t> slots;
        for (const auto& m : ring.sent) slots.push_back(m.slot);
        return slots;
    }

    std::vector<std::int32_t> ran_there;
};

TEST_F(ring_dispatcher_test, answers_from_the_slot_of_the_same_number) {
    start();
    receive(2, "here", 5);
    EXPECT_EQ(server->poll(), 1U);
    ASSERT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(ring.sent[0].slot, 2U);
    EXPECT_EQ(ring.sent[0].bytes.size(), 28U);
    EXPECT_EQ(response_of(ring.sent[0].bytes).request_id, 1002U);
    EXPECT_EQ(value_behind_header<std::int32_t>(ring.sent[0].bytes), 6);
}

TEST_F(ring_dispatcher_test, publishes_before_it_releases) {
    start();
    receive(1, "here", 5);
    server->poll();
    EXPECT_THAT(ring.log, ElementsAre(Pair(StrEq("publish"), 1U), Pair(StrEq("release"), 1U)));
}

TEST_F(ring_dispatcher_test, serves_slots_in_the_order_of_their_arrival) {
    start();
    for (const std::uint32_t slot : {3U, 0U, 2U}) receive(slot, "here", 1);
    EXPECT_EQ(server->poll(), 3U);
    EXPECT_THAT(sent_slots(), ElementsAre(3U, 0U, 2U));
    EXPECT_EQ(server->poll(), 0U);
}

TEST_F(ring_dispatcher_test, releases_a_slot_that_gets_no_answer) {
    start();
    ring.receive(1, test::byte_vector(24));
    server->poll();
    EXPECT_TRUE(ring.sent.empty());
    EXPECT_FALSE(ring.is_filled(1));
    EXPECT_EQ(server->snapshot().bad_magic, 1U);
}

TEST_F(ring_dispatcher_test, says_nothing_to_refusals_in_the_originals_way) {
    config.on_refusal = refusals::silent;
    start();
    receive(0, "no_such_function", 1);
    receive(1, "here", 1);
    server->poll();
    EXPECT_THAT(sent_slots(), ElementsAre(1U));
    EXPECT_FALSE(ring.is_filled(0));
}

TEST_F(ring_dispatcher_test, works_where_both_slots_are_the_same_memory) {
    ring = fake_slot_ring(4, 64, fake_slot_ring::memory::shared);
    start();
    for (std::int32_t round = 0; round < 5; ++round) {
        for (std::uint32_t slot = 0; slot < 4; ++slot) receive(slot, slot % 2 ? "here" : "there", round);
        server->poll();
        run_one_there();
        run_one_there();
        run_home();
        ASSERT_EQ(ring.sent.size(), 4U);
        for (const auto& m : ring.sent) {
            EXPECT_EQ(value_behind_header<std::int32_t>(m.bytes), round + (m.slot % 2 ? 1 : 100));
            EXPECT_EQ(response_of(m.bytes).request_id, 1000 + m.slot);
        }
        ring.sent.clear();
    }
}

// Another executor.

TEST_F(ring_dispatcher_test, holds_the_slot_until_the_handlers_answer) {
    start();
    receive(1, "there", 5);
    server->poll();
    run_home();
    EXPECT_TRUE(ring.is_filled(1));
    EXPECT_TRUE(ran_there.empty()) << "the handler ran on the polling strand";
    EXPECT_EQ(server->snapshot().with_executors, 1U);

    run_one_there();
    EXPECT_TRUE(ring.sent.empty()) << "published from another executor than the ring's";
    run_home();
    ASSERT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(value_behind_header<std::int32_t>(ring.sent[0].bytes), 105);
    EXPECT_FALSE(ring.is_filled(1));
    EXPECT_EQ(server->snapshot().with_executors, 0U);
}

TEST_F(ring_dispatcher_test, lets_quick_answers_overtake_slow_ones) {
    start();
    receive(0, "there", 1);
    receive(1, "here", 2);
    receive(2, "there", 3);
    receive(3, "here", 4);
    server->poll();
    EXPECT_THAT(sent_slots(), ElementsAre(1U, 3U));
    run_one_there();
    run_one_there();
    run_home();
    EXPECT_THAT(sent_slots(), ElementsAre(1U, 3U, 0U, 2U));
    EXPECT_THAT(ran_there, ElementsAre(1, 3));
}

TEST_F(ring_dispatcher_test, keeps_the_home_context_running_until_the_answer_is_sent) {
    start();
    receive(0, "there", 1);
    server->poll();
    home.restart();
    home.poll();
    EXPECT_FALSE(home.stopped());
    run_one_there();
    home.run();
    EXPECT_EQ(ring.sent.size(), 1U);
}

TEST_F(ring_dispatcher_test, answers_for_a_handler_that_throws_elsewhere) {
    start();
    ring.receive(3, request_bytes("throws", {}, 9));
    server->poll();
    run_one_there();
    run_home();
    ASSERT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(response_of(ring.sent[0].bytes).status, static_cast<int>(status::handler_failed));
    EXPECT_EQ(response_of(ring.sent[0].bytes).request_id, 9U);
    EXPECT_EQ(server->snapshot().functions[2].exceptions, 1U);
}

TEST_F(ring_dispatcher_test, refuses_bad_requests_without_the_other_executor) {
    start();
    ring.receive(0, request_bytes("there", {}, 9));
    server->poll();
    EXPECT_EQ(elsewhere.poll(), 0U);
    ASSERT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(response_of(ring.sent[0].bytes).status, static_cast<int>(status::bad_argument_length));
}

TEST_F(ring_dispatcher_test, gives_the_handler_a_copy_of_its_request) {
    start();
    receive(0, "there", 7);
    server->poll();
    ring.fill(0, test::byte_vector(64, std::byte{0xFF})); // a peer that overwrites a held slot
    run_one_there();
    run_home();
    EXPECT_THAT(ran_there, ElementsAre(7));
    EXPECT_EQ(value_behind_header<std::int32_t>(ring.sent.at(0).bytes), 107);
}

TEST_F(ring_dispatcher_test, counts_and_ignores_a_slot_that_is_reported_while_it_is_held) {
    start();
    receive(0, "there", 7);
    server->poll();
    server->on_request(0);
    server->on_request(4);
    server->on_request(0xFFFFFFFF);
    EXPECT_EQ(server->snapshot().repeated, 3U);
    run_one_there();
    run_home();
    EXPECT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(elsewhere.poll(), 0U);
    receive(0, "here", 8);
    server->poll();
    EXPECT_EQ(ring.sent.size(), 2U) << "the slot serves again";
}

TEST_F(ring_dispatcher_test, answers_failure_for_a_request_that_its_executor_threw_away) {
    auto doomed = std::make_unique<asio::io_context>();
    table.add<void()>("doomed", [] { FAIL() << "called"; }, {doomed->get_executor()});
    start();
    ring.receive(1, request_bytes("doomed", {}, 5));
    server->poll();
    doomed.reset();
    run_home();
    EXPECT_TRUE(ring.is_filled(1)) << "it is the next resume() that finds it";
    server->resume();
    ASSERT_EQ(ring.sent.size(), 1U);
    EXPECT_EQ(response_of(ring.sent[0].bytes).status, static_cast<int>(status::handler_failed));
    EXPECT_FALSE(ring.is_filled(1));
}

TEST_F(ring_dispatcher_test, still_hears_of_answers_after_a_request_was_thrown_away) {
    auto doomed = std::make_unique<asio::io_context>();
    table.add<void()>("doomed", [] {}, {doomed->get_executor()});
    start();
    ring.receive(1, request_bytes("doomed", {}, 5));
    receive(2, "there", 1);
    server->poll();
    doomed.reset();
    run_one_there();
    run_home();
    EXPECT_THAT(sent_slots(), ElementsAre(1U, 2U));
}

TEST_F(ring_dispatcher_test, begins_no_handler_once_it_is_gone) {
    start();
    receive(0, "there", 1);
    server->poll();
    server.reset();
    elsewhere.poll();
    run_home();
    EXPECT_TRUE(ran_there.empty());
    EXPECT_TRUE(ring.sent.empty());
}

TEST_F(ring_dispatcher_test, tells_nobody_of_an_answer_that_comes_after_its_end) {
    start();
    receive(0, "there", 1);
    server->poll();
    run_one_there(); // the answer is on its way home
    server.reset();
    run_home();
    EXPECT_TRUE(ring.sent.empty());
}

TEST_F(ring_dispatcher_test, lets_a_running_handler_end_after_it) {
    auto owned = std::make_shared<int>(1);
    std::weak_ptr<int> watch = owned;
    std::promise<void> begun, go;
    asio::thread_pool pool(1);
    table.add<void()>("slow",
                      [&, kept = std::move(owned)] {
                          begun.set_value();
                          go.get_future().wait();
                          EXPECT_EQ(*kept, 1);
                      },
                      {pool.get_executor()});
    start();
    ring.receive(0, request_bytes("slow", {}));
    server->poll();
    begun.get_future().wait();
    server.reset();
    EXPECT_FALSE(watch.expired()) << "the function was destroyed under a handler that runs";
    go.set_value();
    pool.join();
    run_home();
    EXPECT_TRUE(watch.expired());
}

TEST_F(ring_dispatcher_test, sends_the_answers_in_resume_when_it_has_no_home) {
    server.emplace(ring, std::move(table), config);
    receive(0, "there", 1);
    server->poll();
    run_one_there();
    EXPECT_TRUE(ring.sent.empty());
    server->resume();
    EXPECT_THAT(sent_slots(), ElementsAre(0U));
}

TEST_F(ring_dispatcher_test, clears_the_tail_of_an_answer_from_elsewhere) {
    config.clear_tail = true;
    start();
    std::ranges::fill(ring.tx_slot(1), std::byte{0xCC});
    receive(1, "there", 1);
    server->poll();
    run_one_there();
    run_home();
    EXPECT_THAT(ring.tx_slot(1).subspan(28), ::testing::Each(std::byte{0}));
}

// Send slots.

TEST_F(ring_dispatcher_test, does_not_overwrite_an_answer_that_has_not_left) {
    start();
    ring.keep_tx = true;
    receive(1, "here", 1);
    server->poll();
    receive(1, "here", 2);
    receive(2, "here", 3);
    server->poll();
    EXPECT_THAT(sent_slots(), ElementsAre(1U, 2U)) << "one slot that has not left held up another";
    EXPECT_EQ(server->snapshot().waiting, 1U);
    EXPECT_TRUE(ring.is_filled(1));
    server->resume();
    EXPECT_EQ(ring.sent.size(), 2U);
    ring.let_leave(1);
    server->resume();
    ASSERT_EQ(ring.sent.size(), 3U);
    EXPECT_EQ(value_behind_header<std::int32_t>(ring.sent[2].bytes), 3);
    EXPECT_EQ(server->snapshot().waiting, 0U);
}

TEST_F(ring_dispatcher_test, serves_waiting_requests_in_their_order) {
    start();
    for (std::uint32_t slot = 0; slot < 4; ++slot) ring.occupy_tx(slot);
    for (const std::uint32_t slot : {2U, 0U, 3U, 1U}) receive(slot, "here", 1);
    server->poll();
    ring.let_leave(3);
    ring.let_leave(0);
    server->resume();
    EXPECT_THAT(sent_slots(), ElementsAre(0U, 3U));
    ring.let_leave(1);
    ring.let_leave(2);
    server->resume();
    EXPECT_THAT(sent_slots(), ElementsAre(0U, 3U, 2U, 1U));
}

TEST_F(ring_dispatcher_test, counts_answers_that_the_ring_refuses) {
    start();
    ring.next_publish_error = rocio::errc::queue_full;
    receive(1, "here", 1);
    server->poll();
    EXPECT_FALSE(ring.is_filled(1));
    EXPECT_EQ(server->snapshot().publish_errors, 1U);
    EXPECT_EQ(server->snapshot().last_publish_error, rocio::errc::queue_full);
    receive(1, "here", 1);
    server->poll();
    EXPECT_EQ(ring.sent.size(), 1U);
}

TEST_F(ring_dispatcher_test, serves_a_ring_without_slots) {
    ring = fake_slot_ring(0, 64);
    start();
    EXPECT_EQ(server->poll(), 0U);
    server->on_request(0);
    EXPECT_EQ(server->snapshot().repeated, 1U);
}

TEST_F(ring_dispatcher_test, measures_the_time_until_the_answer_is_back) {
    static std::chrono::steady_clock::time_point the_time;
    the_time = {};
    config.now = []() noexcept { return the_time; };
    start();
    receive(1, "there", 1);
    server->poll();
    run_one_there();
    the_time += std::chrono::microseconds(7);
    run_home();
    EXPECT_EQ(server->snapshot().functions[1].latency.max, std::chrono::microseconds(7));
}

// Many threads.

TEST_F(ring_dispatcher_test, takes_answers_from_many_threads) {
    constexpr std::uint32_t slots = 64;
    constexpr int rounds = 50;
    ring = fake_slot_ring(slots, 64);
    asio::thread_pool pool(4);
    table.add<std::int32_t(std::int32_t)>("pool", [](std::int32_t x) { return 3 * x; },
                                          {pool.get_executor()});
    start();
    for (std::int32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) {
            receive(slot, "pool", round * 1000 + static_cast<std::int32_t>(slot));
        }
        server->poll();
        home.restart();
        home.run_for(std::chrono::seconds(20)); // until all answers are home
        ASSERT_EQ(ring.sent.size(), slots);
        for (const auto& m : ring.sent) {
            EXPECT_EQ(value_behind_header<std::int32_t>(m.bytes),
                      3 * (round * 1000 + static_cast<std::int32_t>(m.slot)));
        }
        ring.sent.clear();
    }
    EXPECT_EQ(server->snapshot().answered, slots * rounds);
    EXPECT_EQ(server->snapshot().functions[3].latency.count, slots * rounds);
    pool.join();
}

} // namespace
} // namespace rocio::rpc
