// A program of its own: it replaces malloc.

#include "allocation_counter.hpp"
#include "fake_slot_ring.hpp"
#include "rpc_messages.hpp"

#include <rocio/rpc/client.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <array>

namespace rocio::rpc {
namespace {

using test::packed;
using test::request_bytes;
using add_signature = std::int64_t(std::int64_t, std::int64_t);

function_table functions() {
    function_table table;
    table.add<add_signature>("addThem", [](auto a, auto b) { return a + b; })
        .add<std::array<double, 4>(std::span<const std::uint8_t>, std::bitset<7>)>(
            "arrays",
            [](auto, auto) {
                return std::array<double, 4>{1, 2, 3, 4};
            })
        .add_raw("raw", [](auto, std::span<std::byte> out) {
            return raw_reply{0, out.size()};
        });
    return table;
}

TEST(rpc_allocation_test, dispatches_without_a_single_allocation) {
    dispatcher server(functions());
    std::array<std::byte, 256> tx;
    std::vector<test::byte_vector> requests{
        request_bytes("addThem", packed(std::int64_t{1}, std::int64_t{2})),
        request_bytes("arrays", packed(std::uint8_t{1}, std::uint8_t{1}, std::bitset<7>(5))),
        request_bytes("raw", {}),
        request_bytes("no_such_function", {}),
        request_bytes("addThem", packed(std::int64_t{1})),
        test::byte_vector(24),
        test::byte_vector(3),
    };
    test::allocation_counter counter;
    std::size_t answered = 0;
    for (int i = 0; i < 1000; ++i) {
        for (const auto& request : requests) answered += server.dispatch(request, tx).answered() ? 1 : 0;
    }
    EXPECT_EQ(counter.allocations(), 0U);
    EXPECT_EQ(answered, 5000U);
}

TEST(rpc_allocation_test, serves_a_ring_without_a_single_allocation) {
    struct counting_ring { // fake_slot_ring itself allocates
        std::array<std::byte, 64> rx{}, tx{};
        std::size_t published = 0, released = 0;
        std::uint32_t slot_count() const { return 1; }
        std::span<const std::byte> rx_slot(std::uint32_t) const { return rx; }
        std::span<std::byte> tx_slot(std::uint32_t) { return tx; }
        bool tx_free(std::uint32_t) const { return true; }
        error_code publish(std::uint32_t, std::size_t) {
            ++published;
            return {};
        }
        void release(std::uint32_t) { ++released; }
    } ring;
    std::ranges::copy(request_bytes("addThem", packed(std::int64_t{1}, std::int64_t{2})), ring.rx.begin());
    ring_dispatcher server(ring, functions());
    test::allocation_counter counter;
    for (int i = 0; i < 1000; ++i) {
        server.on_request(0);
        server.resume();
    }
    EXPECT_EQ(counter.allocations(), 0U);
    EXPECT_EQ(ring.published, 1000U);
    EXPECT_EQ(ring.released, 1000U);
}

/// Answers every call at once, at the next poll.
struct echo_ring {
    std::array<std::byte, 64> rx{}, tx{};
    bool answered = false;
    std::uint32_t slot_count() const { return 1; }
    std::span<const std::byte> rx_slot(std::uint32_t) const { return rx; }
    std::span<std::byte> tx_slot(std::uint32_t) { return tx; }
    bool tx_free(std::uint32_t) const { return true; }
    error_code publish(std::uint32_t, std::size_t) {
        server.dispatch(tx, rx);
        answered = true;
        return {};
    }
    void release(std::uint32_t) {}
    template <class Callback>
    std::size_t poll(Callback callback) {
        if (!std::exchange(answered, false)) return 0;
        callback(0U);
        return 1;
    }
    dispatcher server{functions()};
};

TEST(rpc_allocation_test, calls_without_an_allocation_once_warm) {
    asio::io_context context;
    echo_ring ring;
    client<echo_ring> caller(context, ring);
    std::int64_t sum = 0;
    const auto call_once = [&] {
        caller.async_call<add_signature>("addThem", 20, 22, no_deadline,
                                         [&](error_code ec, std::int64_t r) { sum += ec ? 0 : r; });
        caller.poll();
    };
    const auto keep_running = asio::make_work_guard(context);
    asio::post(context, [&] {
        for (int i = 0; i < 10; ++i) call_once();
        test::allocation_counter counter;
        for (int i = 0; i < 1000; ++i) call_once();
        EXPECT_EQ(counter.allocations(), 0U);
    });
    context.poll();
    EXPECT_EQ(sum, 42 * 1010);
}

TEST(rpc_allocation_test, calls_from_a_coroutine_without_an_allocation_once_warm) {
    asio::io_context context;
    echo_ring ring;
    client<echo_ring, asio::io_context::executor_type> caller(context, ring);
    std::uint64_t allocations = 1;
    int left = 1010;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            test::allocation_counter counter;
            for (; left > 0; --left) {
                if (left == 1000) counter.reset();
                const auto r = co_await caller.async_call<add_signature>("addThem", 20, 22, no_deadline,
                                                                         asio::use_awaitable);
                EXPECT_EQ(r, 42);
            }
            allocations = counter.allocations();
        },
        asio::detached);
    // One handler that polls, as a spinning engine does.
    std::function<void()> spin = [&] {
        caller.poll();
        if (left > 0) asio::post(context, [&] { spin(); });
    };
    spin();
    context.run();
    EXPECT_EQ(left, 0);
    EXPECT_EQ(allocations, 0U);
}

} // namespace
} // namespace rocio::rpc
