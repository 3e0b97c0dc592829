#include "hsb_announcements.hpp"

#include <rocio/fpga/hsb_announcer.hpp>
#include <rocio/fpga/hsb_listener.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace rocio::fpga {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;
using namespace std::chrono_literals;

class HsbListener : public ::testing::Test {
  protected:
    static constexpr std::chrono::seconds patience{20};

    asio::io_context context;

    static udp::endpoint at(const char* address, std::uint16_t port = 0) {
        return {asio::ip::make_address(address), port};
    }
    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    struct result {
        error_code ec;
        hsb_sighting what;
    };
    result next(hsb_listener& listener) {
        std::optional<result> out;
        listener.async_next([&](const error_code& ec, const hsb_sighting& s) { out = result{ec, s}; });
        run_until([&] { return out.has_value(); });
        return out.value_or(result{});
    }
    hsb_announcer announce(const hsb_listener& listener, std::chrono::milliseconds interval = 1h) {
        hsb_announcement a;
        a.address = {127, 46, 100, 2};
        a.ip_version = 0x2606;
        hsb_announcer_config c;
        c.from = at("127.46.100.2");
        c.to = listener.local_endpoint();
        c.interval = interval;
        return hsb_announcer(context.get_executor(), a, c);
    }
};

TEST_F(HsbListener, gives_what_a_board_says_and_where_it_says_it_from) {
    hsb_listener listener(context, at("127.46.100.1"));
    const auto board = announce(listener);
    const auto got = next(listener);
    EXPECT_FALSE(got.ec);
    EXPECT_EQ(got.what.from, asio::ip::make_address("127.46.100.2"));
    EXPECT_EQ(got.what.board.ip_version, 0x2606);
    EXPECT_EQ(listener.snapshot().announcements, 1U);
}

TEST_F(HsbListener, a_board_announces_itself_again_and_again_and_counts) {
    hsb_listener listener(context, at("127.46.100.3"));
    const auto board = announce(listener, 5ms);
    for (std::uint16_t i = 0; i < 4; ++i) EXPECT_EQ(next(listener).what.board.sequence, i);
    EXPECT_GE(board.sent(), 4U);
}

TEST_F(HsbListener, other_datagrams_are_counted_and_dropped) {
    hsb_listener listener(context, at("127.46.100.4"));
    udp::socket stranger(context, at("127.46.100.5"));
    stranger.send_to(asio::buffer("hello", 5), listener.local_endpoint());
    stranger.send_to(asio::buffer("", 0), listener.local_endpoint());
    const auto board = announce(listener);
    EXPECT_FALSE(next(listener).ec);
    EXPECT_EQ(listener.snapshot().ignored, 2U);
}

TEST_F(HsbListener, the_port_is_shared_with_other_listeners) {
    hsb_listener first(context, at("127.46.100.6"));
    EXPECT_NO_THROW(hsb_listener(context, first.local_endpoint()));
}

TEST_F(HsbListener, an_address_of_nobody_here_is_told) {
    try {
        const hsb_listener listener(context, at("192.0.2.1", 12267));
        ADD_FAILURE() << "bound";
    } catch (const exception& e) {
        EXPECT_THAT(e.what(), ::testing::HasSubstr("192.0.2.1:12267"));
    }
}

TEST_F(HsbListener, one_operation_at_a_time_and_each_can_be_cancelled) {
    hsb_listener listener(context, at("127.46.100.7"));
    std::optional<error_code> first, second;
    asio::cancellation_signal signal;
    listener.async_next(asio::bind_cancellation_slot(
        signal.slot(), [&](const error_code& ec, const hsb_sighting&) { first = ec; }));
    listener.async_next([&](const error_code& ec, const hsb_sighting&) { second = ec; });
    run_until([&] { return second.has_value(); });
    EXPECT_EQ(*second, errc::invalid_state);
    EXPECT_FALSE(first.has_value());
    signal.emit(asio::cancellation_type::total);
    run_until([&] { return first.has_value(); });
    EXPECT_EQ(*first, asio::error::operation_aborted);
    first.reset();
    listener.async_next([&](const error_code& ec, const hsb_sighting&) { first = ec; });
    listener.cancel();
    run_until([&] { return first.has_value(); });
    EXPECT_EQ(*first, asio::error::operation_aborted);
    const auto board = announce(listener); // of use afterwards
    EXPECT_FALSE(next(listener).ec);
}

TEST_F(HsbListener, destruction_ends_what_waits) {
    std::optional<error_code> ended;
    {
        hsb_listener listener(context, at("127.46.100.8"));
        listener.async_next([&](const error_code& ec, const hsb_sighting&) { ended = ec; });
        context.poll();
    }
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
}

} // namespace
} // namespace rocio::fpga
