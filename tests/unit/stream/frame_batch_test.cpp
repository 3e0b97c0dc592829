#include "receive_server_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <ranges>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

static_assert(std::random_access_iterator<frame_batch::iterator>);
static_assert(!std::is_copy_constructible_v<frame_batch>);
static_assert(std::ranges::random_access_range<const frame_batch>);

class frame_batch_test : public receive_server_fixture {
  protected:
    using texts = std::vector<std::string>;
    static texts texts_of(const frame_batch& batch) {
        texts seen;
        for (const auto f : batch)
            seen.emplace_back(reinterpret_cast<const char*>(f.payload().data()), f.size());
        return seen;
    }
    void send(std::initializer_list<const char*> frames, std::uint8_t channel = 0) {
        for (const auto* text : frames) ASSERT_TRUE(peer_sends(text, imm(next_++, channel)));
    }
    frame_batch take(receive_view& view, std::size_t most = 16) {
        std::optional<frame_batch> taken;
        view.async_receive_batch(most, [&](error_code ec, frame_batch batch) {
            EXPECT_FALSE(ec) << ec.message();
            taken.emplace(std::move(batch));
        });
        run_until([&] { return taken.has_value(); });
        return std::move(*taken);
    }
    error_code fail(std::size_t most = 16) {
        std::optional<error_code> result;
        server->async_receive_batch(most, [&](error_code ec, frame_batch batch) {
            EXPECT_TRUE(batch.empty());
            result = ec;
        });
        run_until([&] { return result.has_value(); });
        return *result;
    }

    std::uint32_t next_ = 0;
};

TEST_F(frame_batch_test, has_what_arrived_in_order_and_returns_it_together) {
    auto view = connected_server().all();
    send({"a", "b", "c"});
    auto batch = take(view);
    EXPECT_THAT(texts_of(batch), ElementsAre("a", "b", "c"));
    EXPECT_EQ(batch[1].counter(), 1U);
    EXPECT_EQ(batch[2].slot(), batch[0].slot() + 2);
    EXPECT_EQ((batch.end() - 1)[0].size(), 1U);
    EXPECT_LE(batch[0].received(), std::chrono::steady_clock::now());
    EXPECT_EQ(server->snapshot().slots_lent, 3U);
    auto moved = std::move(batch);
    EXPECT_TRUE(batch.empty()); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.size(), 3U);
    moved.release();
    EXPECT_TRUE(moved.empty());
    moved.release();
    run_until([&] { return dev->posted_receives(pair) == depth; });
    EXPECT_EQ(server->snapshot().slots_lent, 0U);
}

TEST_F(frame_batch_test, has_at_most_as_many_as_asked_for) {
    auto view = connected_server().all();
    send({"a", "b", "c", "d"});
    EXPECT_THAT(texts_of(take(view, 3)), ElementsAre("a", "b", "c"));
    EXPECT_THAT(texts_of(take(view, 3)), ElementsAre("d"));
    EXPECT_EQ(fail(0), errc::invalid_argument);
}

TEST_F(frame_batch_test, that_waits_gets_the_next_and_what_came_with_it) {
    auto view = connected_server().all();
    std::vector<texts> seen;
    for (int i = 0; i < 2; ++i)
        view.async_receive_batch(2, [&](error_code, frame_batch batch) { seen.push_back(texts_of(batch)); });
    poll();
    EXPECT_THAT(seen, IsEmpty());
    send({"a", "b", "c"});
    run_until([&] { return seen.size() == 2; });
    EXPECT_THAT(seen, ElementsAre(texts{"a", "b"}, texts{"c"}));
}

TEST_F(frame_batch_test, is_shorter_where_slots_lie_apart) {
    auto view = connected_server().all();
    send({"a", "b", "c", "d"});
    {
        std::vector<frame_batch> singles;
        for (std::size_t i = 0; i < depth; ++i) singles.push_back(take(view, 1));
        for (const std::size_t i : {2U, 0U, 1U, 3U}) singles[i].release();
    }
    run_until([&] { return dev->posted_receives(pair) == depth; });
    send({"e", "f", "g", "h"}); // into slots 2, 0, 1, 3
    std::vector<frame_batch> batches;
    texts seen;
    while (seen.size() < depth) {
        batches.push_back(take(view));
        const auto& batch = batches.back();
        for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(batch[i].slot(), batch[0].slot() + i);
        for (auto& text : texts_of(batch)) seen.push_back(text);
    }
    EXPECT_GE(batches.size(), 3U);
    EXPECT_THAT(seen, ElementsAre("e", "f", "g", "h"));
}

TEST_F(frame_batch_test, of_one_of_several_views_holds_slots_with_the_other) {
    connected_server();
    auto all = server->all(), three = server->channel(3);
    send({"a", "b"}, 3);
    run_until([&] { return server->snapshot().slots_lent == 2; });
    auto mine = take(all);
    const auto theirs = take(three);
    EXPECT_THAT(texts_of(mine), ElementsAre("a", "b"));
    EXPECT_THAT(texts_of(theirs), ElementsAre("a", "b"));
    mine.release();
    poll();
    EXPECT_EQ(server->snapshot().slots_lent, 2U);
    EXPECT_THAT(texts_of(theirs), ElementsAre("a", "b"));
}

TEST_F(frame_batch_test, of_what_was_queued_before_a_second_view_came) {
    auto& s = connected_server();
    auto all = s.all();
    send({"a"});
    run_until([&] { return s.snapshot().slots_lent == 1; });
    auto other = s.all();
    send({"b", "c"});
    run_until([&] { return s.snapshot().slots_lent == 3; });
    auto batch = take(all);
    EXPECT_THAT(texts_of(batch), ElementsAre("a", "b", "c"));
    batch.release();
    run_until([&] { return s.snapshot().slots_lent == 2; });
    EXPECT_THAT(texts_of(take(other)), ElementsAre("b", "c"));
    run_until([&] { return dev->posted_receives(pair) == depth; });
}

TEST_F(frame_batch_test, outlives_its_server) {
    auto view = connected_server().all();
    send({"a", "b"});
    auto batch = take(view);
    server->stop();
    EXPECT_EQ(fail(), errc::stopped);
    { auto gone = std::move(view); }
    server.reset();
    EXPECT_THAT(texts_of(batch), ElementsAre("a", "b"));
}

TEST_F(frame_batch_test, wait_ends_by_cancellation_and_disconnect) {
    connected_server();
    asio::cancellation_signal stop;
    std::vector<error_code> results;
    const auto note = [&](error_code ec, frame_batch) { results.push_back(ec); };
    server->async_receive_batch(4, asio::bind_cancellation_slot(stop.slot(), note));
    server->async_receive_batch(4, note);
    poll();
    stop.emit(asio::cancellation_type::total);
    run_until([&] { return results.size() == 1; });
    EXPECT_EQ(results[0], asio::error::operation_aborted);
    server->core()->disconnected({errc::peer_closed, {}});
    run_until([&] { return results.size() == 2; });
    EXPECT_EQ(results[1], errc::peer_closed);
    EXPECT_EQ(fail(), errc::peer_closed);
}

TEST_F(frame_batch_test, waits_beside_the_other_ways_to_receive) {
    auto view = connected_server().all();
    std::array<frame, 4> frames;
    texts some, batch;
    view.async_receive_some(frames, [&](error_code, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) some.push_back(text_of(frames[i]));
    });
    view.async_receive_batch(4, [&](error_code, frame_batch b) { batch = texts_of(b); });
    poll();
    send({"a", "b"});
    run_until([&] { return !batch.empty(); });
    send({"c", "d"});
    run_until([&] { return !some.empty(); });
    EXPECT_THAT(batch, ElementsAre("a", "b"));
    EXPECT_THAT(some, ElementsAre("c", "d"));
    for (auto& f : frames) f.release();
}

} // namespace
} // namespace rocio::test
