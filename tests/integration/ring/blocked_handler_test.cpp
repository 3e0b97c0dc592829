// A handler on the data plane's own thread blocks: ring and engine still tell of themselves on another one.

#include "ring_fixture.hpp"

#include <rocio/io/busy_poll_thread.hpp>

#include <chrono>
#include <future>
#include <thread>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

class RingBlocked : public RingSoft {};

TEST_F(RingBlocked, snapshots_are_told_while_a_handler_of_the_data_plane_blocks) {
    for (const auto policy : {polling_policy::spin(), polling_policy::park()}) {
        std::promise<void> entered, let_go;
        busy_poll_thread_config config;
        config.policy = policy;
        busy_poll_thread plane(config), other(busy_poll_thread_config{.policy = polling_policy::park()});
        ring_transceiver here(plane.get_executor(), config_on("soft:127.95.40.1"));
        ring_transceiver there(other.get_executor(), config_on("soft:127.95.40.2"));
        connect(here, there);
        here.async_receive([&](const error_code& ec, ring_slot slot) {
            EXPECT_FALSE(ec);
            entered.set_value();
            let_go.get_future().wait();
            slot = {};
        });
        send(there, 0, "hello");
        ASSERT_EQ(entered.get_future().wait_for(patience), std::future_status::ready);

        // Each of these would not come back if it waited for the handler.
        const auto told = here.snapshot();
        const auto first = completion_engine::of(plane.context()).snapshot();
        const auto second = completion_engine::of(plane.context()).snapshot();
        EXPECT_EQ(told.received, 1U);
        EXPECT_EQ(told.rx_held, 1U);
        EXPECT_EQ(queue_pair_of(told).state, "ready to send");
        EXPECT_GT(first.in_turn, 0ns);
        EXPECT_GT(second.in_turn, first.in_turn);
        EXPECT_EQ(here.config().device->snapshot().port_state, "active");

        let_go.set_value();
        const auto limit = std::chrono::steady_clock::now() + patience;
        while (here.snapshot().rx_held != 0 && std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        EXPECT_EQ(here.snapshot().held.count, 1U);
        for (auto* ring : {&here, &there}) ring->stop();
        for (auto* thread : {&plane, &other}) {
            thread->stop();
            thread->join();
        }
    }
}

} // namespace
} // namespace rocio::test
