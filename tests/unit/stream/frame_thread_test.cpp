#include "receive_server_fixture.hpp"

#include <rocio/io/busy_poll_thread.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace rocio::test {
namespace {

/// A server whose context runs on another thread, under a script that feeds it.
class frame_thread_test : public ::testing::Test {
  protected:
    static constexpr std::uint32_t depth = 16;

    receive_server_config config() {
        receive_server_config c;
        c.device = dev;
        c.max_payload = 64;
        c.rx_queue_depth = depth;
        return c;
    }
    void connect(receive_server& s) {
        auto core = s.core();
        ASSERT_FALSE(core->set_transport({}));
        local_parameters ours;
        ASSERT_FALSE(core->prepare(ours));
        peer_parameters theirs;
        theirs.queue_pair = qpn{0xABCDEF};
        ASSERT_FALSE(core->establish(theirs));
        core->connected(nullptr);
    }
    /// Sends `n` frames, each as soon as there is a slot for it.
    void feed(std::uint32_t n) {
        for (std::uint32_t i = 0; i < n; ++i) {
            const auto bytes = std::as_bytes(std::span(&i, 1));
            while (!dev->complete_receive(0, bytes, i << 8 | 1)) std::this_thread::yield();
        }
    }

    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
};

TEST_F(frame_thread_test, coroutine_of_another_context_takes_every_frame_in_order) {
    constexpr std::uint32_t frames = 3000;
    for (const auto policy : {polling_policy::park(), polling_policy::spin()}) {
        dev = std::make_shared<scripted_device>();
        busy_poll_thread_config tc;
        tc.policy = policy;
        busy_poll_thread data_plane(tc);
        boost::asio::io_context application;
        receive_server server(data_plane.get_executor(), config());
        auto view = server.all();
        connect(server);
        std::uint32_t expected = 0;
        boost::asio::co_spawn(
            application,
            [&]() -> boost::asio::awaitable<void> {
                std::array<frame, 8> batch;
                while (expected < frames) {
                    const auto n = co_await view.async_receive_some(batch, boost::asio::use_awaitable);
                    for (std::size_t i = 0; i < n; ++i) {
                        EXPECT_EQ(batch[i].counter(), expected++);
                        batch[i].release();
                    }
                }
            },
            boost::asio::detached);
        std::thread sender([&] { feed(frames); });
        application.run();
        sender.join();
        server.stop();
        EXPECT_EQ(expected, frames);
    }
}

TEST_F(frame_thread_test, leases_returned_by_other_threads_while_stop_runs) {
    for (int round = 0; round < 50; ++round) {
        dev = std::make_shared<scripted_device>();
        busy_poll_thread data_plane;
        std::mutex mutex;
        std::vector<frame> held;
        auto server = std::make_unique<receive_server>(data_plane.get_executor(), config());
        auto view = server->all();
        connect(*server);
        std::function<void()> take = [&] {
            view.async_receive([&](const error_code& ec, frame f) {
                if (ec) return;
                {
                    std::lock_guard lock(mutex);
                    held.push_back(std::move(f));
                }
                take();
            });
        };
        take();
        for (std::uint32_t i = 0; i < depth; ++i) {
            while (!dev->complete_receive(0, std::as_bytes(std::span("x", 1)), 1)) std::this_thread::yield();
        }
        for (;;) {
            std::lock_guard lock(mutex);
            if (held.size() == depth) break;
        }
        std::atomic<std::size_t> next{0};
        const auto give_back = [&] {
            for (std::size_t i = next++; i < depth; i = next++) held[i].release();
        };
        std::thread a(give_back), b(give_back);
        server->stop();
        server.reset();
        a.join();
        b.join();
        view.cancel();
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty());
        EXPECT_EQ(dev->live_regions(), 0U);
        data_plane.stop();
        data_plane.join();
    }
}

TEST_F(frame_thread_test, snapshot_from_any_thread_while_frames_come) {
    constexpr std::uint32_t frames = 2000;
    busy_poll_thread data_plane;
    receive_server server(data_plane.get_executor(), config());
    auto other = server.channel(200); // not theirs: every frame is unclaimed and goes back at once
    connect(server);
    std::thread sender([&] { feed(frames); });
    std::uint64_t last = 0;
    while (last < frames) {
        const auto s = server.snapshot();
        EXPECT_GE(s.rx_frame_count, last);
        EXPECT_EQ(s.slots_posted + s.slots_lent + s.slots_free, depth);
        last = s.rx_frame_count;
    }
    sender.join();
    EXPECT_EQ(server.snapshot().unclaimed, frames);
    server.stop();
}

} // namespace
} // namespace rocio::test
