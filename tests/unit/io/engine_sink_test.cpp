// What the engine promises to those who write objects on top of it.

#include "queue_pair_fixture.hpp"

#include <rocio/io/completion_sink.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace rocio::test {
namespace {

/// A sink without a queue pair, into which any thread puts things; the engine's turn takes them out.
class mailbox final : public completion_sink {
  public:
    explicit mailbox(completion_engine& engine) : engine_(engine) {
        auto held = engine_.lock();
        engine_.add_sweeper(*this);
        engine_.work_started();
    }
    ~mailbox() {
        auto held = engine_.lock();
        engine_.remove_sweeper(*this);
    }

    /// From any thread.
    void put() {
        ++waiting_;
        if (armed_.exchange(false)) {
            ++wakes_;
            engine_.wake();
        }
    }
    void end() {
        auto held = engine_.lock();
        engine_.work_finished();
    }
    bool armed() const { return armed_; }
    int taken() const { return taken_; }
    int wakes() const { return wakes_; }

    void on_completion(const work_completion&) noexcept override {}
    bool on_sweep() noexcept override {
        armed_ = false;
        const int n = waiting_.exchange(0);
        taken_ += n;
        return n > 0;
    }
    bool on_park() noexcept override {
        armed_ = true;
        return waiting_ == 0;
    }
    void on_shutdown(async::operation_queue<>&) noexcept override {}

  private:
    completion_engine& engine_;
    std::atomic<int> waiting_{0};
    std::atomic<int> taken_{0};
    std::atomic<int> wakes_{0};
    std::atomic<bool> armed_{false};
};

class engine_sink : public queue_pair_fixture {};

TEST_F(engine_sink, is_asked_last_of_all_before_the_engine_waits) {
    mailbox box(engine());
    poll();
    EXPECT_GT(engine().snapshot().waits, 0U);
    EXPECT_TRUE(box.armed()) << "a sweep after on_park() would lose the next wake-up";
    box.put();
    EXPECT_EQ(box.wakes(), 1);
    run_until([&] { return box.taken() == 1; });
    box.end();
    run();
}

TEST_F(engine_sink, keeps_the_engine_from_waiting_when_something_came_in) {
    mailbox box(engine());
    poll();
    const auto before = engine().snapshot();
    box.put();
    box.put();
    poll();
    EXPECT_EQ(box.taken(), 2);
    // A sink without a device is looked at every millisecond: a slow machine may come to that.
    const auto after = engine().snapshot();
    EXPECT_EQ(after.waits, before.waits + 1 + (after.wakes - before.wakes));
    box.end();
    run();
}

TEST_F(engine_sink, is_woken_by_other_threads_under_every_policy) {
    for (const auto policy : {polling_policy::park(), polling_policy::hybrid(), polling_policy::spin()}) {
        engine().set_policy(policy);
        mailbox box(engine());
        constexpr int puts = 2000;
        std::thread outside([&] {
            for (int i = 0; i < puts; ++i) {
                box.put();
                if (i % 8 == 0) {
                    while (box.taken() < i) std::this_thread::yield();
                }
            }
        });
        run_until([&] { return box.taken() == puts; });
        outside.join();
        box.end();
        run();
    }
}

TEST_F(engine_sink, keeps_run_alive_until_it_has_finished) {
    mailbox box(engine());
    poll();
    EXPECT_FALSE(context.stopped());
    EXPECT_EQ(engine().snapshot().outstanding, 1U);
    box.end();
    run();
    EXPECT_EQ(engine().snapshot().outstanding, 0U);
}

/// Only takes a place.
class idle_sink final : public completion_sink {
  public:
    void on_completion(const work_completion&) noexcept override {}
    void on_shutdown(async::operation_queue<>&) noexcept override {}
};

TEST_F(engine_sink, has_one_of_65536_places) {
    idle_sink sink;
    std::vector<wr_id> places;
    auto held = engine().lock();
    ASSERT_FALSE(engine().attach(dev));
    error_info full;
    while (!full) {
        wr_id place;
        full = engine().add_sink(sink, *dev, place);
        if (!full) places.push_back(place);
    }
    EXPECT_EQ(places.size(), 65536U);
    EXPECT_EQ(full.code, errc::limit_exceeded);
    EXPECT_THAT(full.text, ::testing::HasSubstr("65536"));
    for (const auto place : places) engine().remove_sink(place);
    wr_id again;
    ASSERT_FALSE(engine().add_sink(sink, *dev, again));
    engine().remove_sink(again);
    engine().remove_sink(again); // harmless
    engine().detach(dev);
}

TEST_F(engine_sink, never_gets_a_place_twice_with_the_same_generation) {
    idle_sink sink;
    auto held = engine().lock();
    ASSERT_FALSE(engine().attach(dev));
    wr_id first, second;
    ASSERT_FALSE(engine().add_sink(sink, *dev, first));
    engine().remove_sink(first);
    ASSERT_FALSE(engine().add_sink(sink, *dev, second));
    EXPECT_EQ(first.owner, second.owner);
    EXPECT_NE(first.generation, second.generation);
    engine().remove_sink(first); // not its place any more
    wr_id third;
    ASSERT_FALSE(engine().add_sink(sink, *dev, third));
    EXPECT_NE(third.owner, second.owner);
    engine().remove_sink(second);
    engine().remove_sink(third);
    engine().detach(dev);
}

TEST_F(engine_sink, shares_its_device_by_count) {
    auto held = engine().lock();
    ASSERT_FALSE(engine().attach(dev));
    ASSERT_FALSE(engine().attach(dev));
    device_completion_queue* queue = nullptr;
    ASSERT_FALSE(engine().reserve_completions(dev, 10, queue));
    engine().detach(dev);
    EXPECT_EQ(dev->live_completion_queues(), 1U);
    engine().release_completions(queue, 10);
    engine().detach(dev);
    EXPECT_EQ(dev->live_completion_queues(), 0U);
    EXPECT_EQ(engine().reserve_completions(dev, 10, queue).code, errc::invalid_state);
    EXPECT_EQ(engine().attach(nullptr).code, errc::device_not_found);
}

TEST_F(engine_sink, gets_no_deeper_completion_queue_than_the_device_has) {
    auto held = engine().lock();
    ASSERT_FALSE(engine().attach(dev));
    device_completion_queue* queue = nullptr;
    const auto e = engine().reserve_completions(dev, (1U << 16) + 1, queue);
    EXPECT_EQ(e.code, errc::limit_exceeded);
    EXPECT_THAT(e.text, ::testing::AllOf(::testing::HasSubstr("65536"), ::testing::HasSubstr("65537")));
    ASSERT_FALSE(engine().reserve_completions(dev, 1U << 16, queue));
    EXPECT_EQ(queue->depth(), 1U << 16);
    engine().release_completions(queue, 1U << 16);
    engine().detach(dev);
}

TEST(engine_sink_shutdown, is_told_that_the_context_dies) {
    std::optional<asio::io_context> context(std::in_place);
    auto dev = std::make_shared<scripted_device>();
    struct counting_sink final : completion_sink {
        void on_completion(const work_completion&) noexcept override {}
        void on_shutdown(async::operation_queue<>&) noexcept override { ++told; }
        int told = 0;
    } sink;
    auto& engine = completion_engine::of(*context);
    {
        auto held = engine.lock();
        ASSERT_FALSE(engine.attach(dev));
        wr_id place;
        ASSERT_FALSE(engine.add_sink(sink, *dev, place));
    }
    context.reset();
    EXPECT_GE(sink.told, 1);
}

} // namespace
} // namespace rocio::test
