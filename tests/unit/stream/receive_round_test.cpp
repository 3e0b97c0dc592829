// Frames that handlers take and release between two sweeps of the engine.

#include "receive_server_fixture.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <stdexcept>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;

class receive_round_test : public receive_server_fixture {
  protected:
    /// Spinning, with the whole receive queue full of frames "0", "1", …
    void fill() {
        engine().set_policy(polling_policy::spin());
        connected_server();
        for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(peer_sends(std::to_string(i), imm(i, 0)));
    }
    void take_next() {
        server->async_receive([this](error_code ec, frame f) {
            ASSERT_FALSE(ec);
            seen.push_back(text_of(f));
            if (then) then();
            if (seen.size() < depth) take_next();
        });
    }
    bool all_seen() const { return seen.size() == depth; }

    std::vector<std::string> seen;
    std::function<void()> then;
};

TEST_F(receive_round_test, a_handler_that_takes_the_next_is_called_in_order_and_each_slot_posted_again) {
    fill();
    take_next();
    run_until([&] { return all_seen(); });
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3"));
    run_until([&] { return dev->posted_receives(pair) == depth; });
    EXPECT_EQ(server->snapshot().slots_lent, 0U);
    for (std::uint32_t i = 0; i < 3 * depth; ++i) {
        ASSERT_TRUE(peer_sends("more", imm(i, 0)));
        seen.assign(depth - 1, {});
        take_next();
        run_until([&] { return all_seen(); });
        EXPECT_EQ(seen.back(), "more");
    }
}

TEST_F(receive_round_test, slots_released_by_handlers_are_posted_after_the_last_of_them) {
    fill();
    then = [&] { EXPECT_EQ(dev->posted_receives(pair), 0U); };
    take_next();
    run_until([&] { return dev->posted_receives(pair) == depth; });
    std::vector<std::uint32_t> order;
    for (const auto& request : dev->receive_log(pair)) order.push_back(request.id.slot);
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3)) << "as they came";
}

TEST_F(receive_round_test, operations_side_by_side_get_the_frames_in_the_order_of_their_start) {
    fill();
    const auto note = [&](error_code, frame f) { seen.push_back(text_of(f)); };
    const auto note_and_take = [&](error_code ec, frame f) {
        note(ec, std::move(f));
        server->async_receive(note);
    };
    server->async_receive(note_and_take);
    server->async_receive(note_and_take);
    run_until([&] { return all_seen(); });
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3"));
}

TEST_F(receive_round_test, after_a_handler_that_throws_the_rest_are_called_and_nothing_is_lost) {
    fill();
    int thrown = 0;
    then = [&] {
        if (seen.size() != 2) return;
        take_next(); // started, and complete at once
        ++thrown;
        throw std::runtime_error("a handler's own");
    };
    take_next();
    EXPECT_THROW(run_until([&] { return all_seen(); }), std::runtime_error);
    then = {};
    run_until([&] { return all_seen() && dev->posted_receives(pair) == depth; });
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3"));
    EXPECT_EQ(thrown, 1);
}

TEST_F(receive_round_test, the_server_may_go_with_frames_released_in_the_same_round) {
    fill();
    std::optional<frame> kept;
    server->async_receive([&](error_code, frame first) {
        first.release();
        server->async_receive([&](error_code, frame second) {
            kept.emplace(std::move(second));
            server.reset();
        });
    });
    run_until([&] { return kept.has_value(); });
    EXPECT_EQ(text_of(*kept), "1");
}

TEST_F(receive_round_test, a_device_that_takes_no_receive_now_gets_them_later) {
    fill();
    dev->fail_call(device_call::post_receive, 1, errc::queue_full);
    take_next();
    run_until([&] { return all_seen() && dev->posted_receives(pair) == depth; });
    EXPECT_TRUE(server->is_connected());
    ASSERT_TRUE(peer_sends("more", imm(9, 0)));
    seen.assign(depth - 1, {});
    take_next();
    run_until([&] { return all_seen(); });
}

TEST_F(receive_round_test, a_device_that_refuses_receives_ends_the_session) {
    fill();
    dev->fail_call(device_call::post_receive, 1, errc::local_operation_error);
    take_next();
    run_until([&] { return all_seen() && !server->is_connected(); });
    EXPECT_EQ(server->last_error().code, errc::local_operation_error);
    EXPECT_EQ(server->snapshot().slots_free, depth);
    ++pair;
    ASSERT_FALSE(connect());
    EXPECT_EQ(dev->posted_receives(pair), depth);
}

TEST_F(receive_round_test, a_session_that_ends_with_recycled_slots_keeps_each_slot_once) {
    fill();
    std::array<frame, 2> frames;
    std::vector<error_code> results;
    server->async_receive_some(frames, [&](error_code first, std::size_t) {
        results.push_back(first);
        // Its frames are replaced by those queued, at once; the session ends before any sweep.
        server->async_receive_some(frames,
                                   [&](error_code second, std::size_t) { results.push_back(second); });
        server->core()->disconnected({errc::peer_closed, {}});
    });
    run_until([&] { return results.size() == 2; });
    EXPECT_THAT(results, ElementsAre(error_code(), error_code()));
    for (auto& f : frames) f.release();
    ++pair;
    ASSERT_FALSE(connect());
    EXPECT_EQ(dev->posted_receives(pair), depth);
    EXPECT_EQ(server->snapshot().slots_lent, 0U);
    EXPECT_EQ(server->snapshot().slots_free, 0U) << "a slot is there twice";
    for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(peer_sends(std::to_string(i), imm(i, 0)));
    EXPECT_FALSE(peer_sends("none left", 0));
    take_next();
    run_until([&] { return all_seen(); });
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3"));
}

TEST_F(receive_round_test, a_completion_of_an_earlier_queue_pair_is_stale_and_touches_no_slot) {
    engine().set_policy(polling_policy::spin());
    connected_server();
    work_completion late;
    late.id = dev->receive_log(pair).front().id;
    late.op = completion_opcode::receive;
    late.has_immediate = true;
    late.byte_len = 1;
    server->core()->disconnected({errc::peer_closed, {}});
    ++pair;
    ASSERT_FALSE(connect());
    const auto before = engine().snapshot().stale_completions;
    for (const auto status : {errc::success, errc::work_request_flushed}) {
        late.status = status;
        dev->inject(late);
    }
    run_until([&] { return engine().snapshot().stale_completions == before + 2; });
    EXPECT_TRUE(server->is_connected());
    EXPECT_EQ(server->snapshot().slots_posted, depth);
    EXPECT_EQ(server->snapshot().slots_lent, 0U);
}

TEST_F(receive_round_test, several_who_wait_for_some_frames_get_one_each) {
    connected_server();
    std::array<frame, 4> first, second;
    std::size_t n = 0, m = 0;
    server->async_receive_some(first, [&](error_code, std::size_t taken) { n = taken; });
    server->async_receive_some(second, [&](error_code, std::size_t taken) { m = taken; });
    poll();
    for (std::uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(peer_sends(std::to_string(i), imm(i, 0)));
    run_until([&] { return n > 0 && m > 0; });
    EXPECT_EQ(text_of(first[0]), "0");
    EXPECT_EQ(text_of(second[0]), "1");
}

class receive_round_between_engines : public receive_round_test {
  protected:
    /// A handler that `other`'s engine calls.
    void in_a_handler_of(receive_server& theirs, std::function<void()> what) {
        theirs.async_receive([what = std::move(what)](error_code, frame) { what(); });
    }
};

TEST_F(receive_round_between_engines, what_another_engines_handler_starts_or_releases_is_done_by_its_own) {
    fill();
    std::optional<frame> first;
    server->async_receive([&](error_code, frame f) { first.emplace(std::move(f)); });
    run_until([&] { return first.has_value(); });

    boost::asio::io_context other;
    auto others_dev = std::make_shared<scripted_device>();
    auto others_config = config();
    others_config.device = others_dev;
    receive_server others(other, others_config);
    completion_engine::of(other).set_policy(polling_policy::spin());
    local_parameters ours;
    ASSERT_FALSE(others.core()->prepare(ours));
    peer_parameters theirs;
    theirs.address = gid::parse("10.0.0.2").value();
    theirs.queue_pair = qpn{1};
    ASSERT_FALSE(others.core()->establish(theirs));
    others.core()->connected(nullptr);
    ASSERT_TRUE(others_dev->complete_receive(0, std::as_bytes(std::span("x")), 0));

    bool called_there = false;
    in_a_handler_of(others, [&] {
        first->release();
        take_next();
        called_there = true;
    });
    while (!called_there) other.run_one();
    for (int i = 0; i < 10; ++i) other.poll_one();
    EXPECT_TRUE(seen.empty()) << "called by an engine that it does not belong to";
    EXPECT_LT(dev->posted_receives(pair), depth);
    seen.push_back("0");
    run_until([&] { return all_seen() && dev->posted_receives(pair) == depth; });
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3"));
    others.stop();
}

} // namespace
} // namespace rocio::test
