#include "test_device.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>

#include <cstring>
#include <exception>
#include <functional>
#include <vector>

namespace rocio::test {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
constexpr auto as_result = asio::as_tuple(use_awaitable);

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

/// A sender: `count` frames whose first four bytes are their number, on channel number % channels + 1.
struct sender {
    sender(asio::io_context& c, const std::string& device, const open_options& o = {})
        : context(c), dev(open_device(test_device(device), o)), memory(dev, 4096), pair(c, dev) {}

    asio::awaitable<void> connect(asio::ip::tcp::endpoint where) {
        co_await async_connect(pair, tcp_connector(context, where), use_awaitable);
    }
    asio::awaitable<error_code> send(std::uint32_t first, std::uint32_t count, std::uint32_t channels = 1) {
        for (std::uint32_t i = first; i < first + count; ++i) {
            const auto buffer = memory.buffer(0, 64);
            std::memcpy(buffer.data, &i, sizeof i);
            auto [ec] =
                co_await pair.async_send_with_immediate(buffer, i << 8 | (i % channels + 1), as_result);
            if (ec) co_return ec;
        }
        co_return error_code{};
    }

    asio::io_context& context;
    std::shared_ptr<device> dev;
    memory_region memory;
    queue_pair pair;
};

std::uint32_t number_in(const frame& f) {
    std::uint32_t n = 0;
    std::memcpy(&n, f.payload().data(), sizeof n);
    return n;
}

receive_server_config server_on(const std::string& device, std::uint32_t depth) {
    receive_server_config c;
    c.name = device;
    c.device = open_device(test_device(device));
    c.rx_queue_depth = depth;
    return c;
}

class stream_soft_test : public ::testing::Test {
  protected:
    void run() { context.run_for(std::chrono::seconds{60}); }
    void spawn(std::function<asio::awaitable<void>()> f) { asio::co_spawn(context, std::move(f), rethrow); }

    asio::io_context context;
    tcp_listener listener{context};
};

TEST_F(stream_soft_test, consumer_that_keeps_every_lease_holds_the_sender_by_rnr_and_loses_nothing) {
    constexpr std::uint32_t depth = 8, frames = 64;
    receive_server server(context, server_on("soft:127.31.0.1", depth));
    sender fpga(context, "soft:127.31.0.2");
    auto view = server.all();
    std::vector<std::uint32_t> seen;
    spawn([&]() -> asio::awaitable<void> {
        co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);
        std::vector<frame> held;
        for (std::uint32_t i = 0; i < depth; ++i) held.push_back(co_await view.async_receive(use_awaitable));
        // Every slot is held: the device must refuse until one comes back.
        while (server.snapshot().counters.rnr_naks_sent < 3) {
            asio::steady_timer timer(context, std::chrono::milliseconds{1});
            co_await timer.async_wait(use_awaitable);
        }
        EXPECT_EQ(server.snapshot().slots_posted, 0U);
        EXPECT_EQ(server.snapshot().rx_frame_count, depth);
        for (auto& f : held) seen.push_back(number_in(f));
        held.clear();
        while (seen.size() < frames) seen.push_back(number_in(co_await view.async_receive(use_awaitable)));
    });
    spawn([&]() -> asio::awaitable<void> {
        co_await fpga.connect(listener.local_endpoint());
        EXPECT_FALSE(co_await fpga.send(0, frames));
        fpga.pair.close();
    });
    run();
    ASSERT_EQ(seen.size(), frames);
    for (std::uint32_t i = 0; i < frames; ++i) EXPECT_EQ(seen[i], i);
    EXPECT_GT(server.snapshot().counters.rnr_naks_sent, 0U);
}

TEST_F(stream_soft_test, channel_without_a_view_holds_nobody_up) {
    constexpr std::uint32_t frames = 300;
    receive_server server(context, server_on("soft:127.31.1.1", 8));
    sender fpga(context, "soft:127.31.1.2");
    auto two = server.channel(2);
    std::uint32_t got = 0;
    spawn([&]() -> asio::awaitable<void> {
        co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);
        for (; got < frames / 3; ++got) {
            const auto f = co_await two.async_receive(use_awaitable);
            EXPECT_EQ(f.channel(), 2);
        }
    });
    spawn([&]() -> asio::awaitable<void> {
        co_await fpga.connect(listener.local_endpoint());
        EXPECT_FALSE(co_await fpga.send(0, frames, 3));
        fpga.pair.close();
    });
    run();
    EXPECT_EQ(got, frames / 3);
    EXPECT_EQ(server.snapshot().unclaimed, frames - frames / 3);
    EXPECT_EQ(server.snapshot().rx_frame_count, frames);
}

TEST_F(stream_soft_test, sender_that_goes_away_is_reported_and_the_next_one_is_served) {
    receive_server server(context, server_on("soft:127.31.2.1", 8));
    auto view = server.all();
    std::vector<error_code> ends;
    std::uint32_t got = 0;
    spawn([&]() -> asio::awaitable<void> {
        for (int session = 0; session < 3; ++session) {
            co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);
            for (;;) {
                auto [ec, f] = co_await view.async_receive(as_result);
                if (ec) {
                    ends.push_back(ec);
                    break;
                }
                ++got;
            }
        }
    });
    spawn([&]() -> asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            sender fpga(context, "soft:127.31.2.2");
            co_await fpga.connect(listener.local_endpoint());
            EXPECT_FALSE(co_await fpga.send(0, 100));
            fpga.pair.close();
            co_await fpga.pair.async_wait_closed(as_result);
        }
    });
    run();
    EXPECT_EQ(got, 300U);
    ASSERT_EQ(ends.size(), 3U);
    for (const auto& ec : ends) EXPECT_TRUE(ec == condition::connection_failed) << ec.message();
    EXPECT_EQ(server.snapshot().sessions, 3U);
}

TEST_F(stream_soft_test, two_peers_in_one_process_do_not_mix) {
    constexpr std::uint32_t frames = 500;
    auto dev = open_device(test_device("soft:127.31.3.1"));
    const auto config = [&](const char* name) {
        receive_server_config c;
        c.name = name;
        c.device = dev;
        c.rx_queue_depth = 16;
        return c;
    };
    receive_server a(context, config("a")), b(context, config("b"));
    auto view_a = a.all();
    auto view_b = b.all();
    sender fpga_a(context, "soft:127.31.3.2"), fpga_b(context, "soft:127.31.3.3");
    tcp_listener second(context);
    const auto take = [&](receive_server& server, receive_view& view, tcp_listener& at,
                          std::uint32_t first) -> asio::awaitable<void> {
        co_await server.async_connect(co_await at.async_accept(use_awaitable), use_awaitable);
        for (std::uint32_t i = 0; i < frames; ++i)
            EXPECT_EQ(number_in(co_await view.async_receive(use_awaitable)), first + i);
    };
    const auto give = [&](sender& s, tcp_listener& at, std::uint32_t first) -> asio::awaitable<void> {
        co_await s.connect(at.local_endpoint());
        EXPECT_FALSE(co_await s.send(first, frames));
        s.pair.close();
    };
    spawn([&] { return take(a, view_a, listener, 0); });
    spawn([&] { return take(b, view_b, second, 10000); });
    spawn([&] { return give(fpga_a, listener, 0); });
    spawn([&] { return give(fpga_b, second, 10000); });
    run();
    EXPECT_EQ(a.snapshot().rx_frame_count, frames);
    EXPECT_EQ(b.snapshot().rx_frame_count, frames);
}

TEST_F(stream_soft_test, everything_arrives_once_and_in_order_over_a_bad_network) {
    constexpr std::uint32_t frames = 2000;
    fault_plan bad;
    bad.drop = bad.duplicate = bad.reorder = 0.02;
    bad.corrupt = 0.005;
    bad.seed = 11;
    open_options faulty;
    faulty.faults = bad;
    receive_server_config c = server_on("soft:127.31.4.1", 16);
    receive_server server(context, c);
    auto view = server.all();
    sender fpga(context, "soft:127.31.4.2", faulty);
    std::uint32_t got = 0;
    spawn([&]() -> asio::awaitable<void> {
        co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);
        for (; got < frames; ++got) EXPECT_EQ(number_in(co_await view.async_receive(use_awaitable)), got);
    });
    std::uint64_t retransmits = 0;
    spawn([&]() -> asio::awaitable<void> {
        co_await fpga.connect(listener.local_endpoint());
        EXPECT_FALSE(co_await fpga.send(0, frames));
        device_queue_pair_counters counters;
        EXPECT_TRUE(fpga.pair.counters(counters));
        retransmits = counters.retransmits;
        fpga.pair.close();
    });
    run();
    EXPECT_EQ(got, frames);
    EXPECT_GT(retransmits, 0U);
}

TEST_F(stream_soft_test, slot_smaller_than_the_message_is_refused_before_anything_is_sent) {
    auto c = server_on("soft:127.31.5.1", 8);
    c.max_payload = 1024;
    receive_server server(context, c);
    sender fpga(context, "soft:127.31.5.2");
    error_code ours, theirs;
    spawn([&]() -> asio::awaitable<void> {
        auto [accept_error, peer] = co_await listener.async_accept(as_result);
        auto [ec] = co_await server.async_connect(std::move(peer), as_result);
        ours = ec;
        listener.close();
    });
    spawn([&]() -> asio::awaitable<void> {
        tcp_rendezvous_config rendezvous;
        rendezvous.largest_message = 4096;
        auto [ec] = co_await async_connect(
            fpga.pair, tcp_connector(context, listener.local_endpoint(), rendezvous), as_result);
        theirs = ec;
    });
    run();
    EXPECT_TRUE(ours);
    EXPECT_EQ(theirs, errc::geometry_mismatch);
    EXPECT_THAT(fpga.pair.last_error().message(), ::testing::HasSubstr("1024"));
    EXPECT_EQ(server.snapshot().rx_frame_count, 0U);
}

} // namespace
} // namespace rocio::test
