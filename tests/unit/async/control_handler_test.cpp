#include <rocio/async/control_handler.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace rocio::async {
namespace {

using text_handler = control_handler<void(error_code, std::string)>;

class control_handler_test : public ::testing::Test {
  protected:
    asio::io_context context, elsewhere;
};

TEST_F(control_handler_test, calls_later_with_the_results) {
    std::string got;
    text_handler h(
        [&, owned = std::make_unique<int>(1)](error_code ec, std::string s) {
            EXPECT_EQ(ec, errc::peer_lost);
            got = std::move(s);
        },
        context.get_executor());
    EXPECT_TRUE(h);
    h.post(errc::peer_lost, "gone");
    EXPECT_FALSE(h);
    EXPECT_TRUE(got.empty());
    context.run();
    EXPECT_EQ(got, "gone");
}

TEST_F(control_handler_test, calls_on_the_handlers_executor) {
    bool called = false;
    text_handler h(
        asio::bind_executor(elsewhere.get_executor(), [&](error_code, std::string) { called = true; }),
        context.get_executor());
    EXPECT_EQ(h.executor(), h.get_executor());
    h.post({}, "");
    context.run();
    EXPECT_FALSE(called);
    elsewhere.run();
    EXPECT_TRUE(called);
}

TEST_F(control_handler_test, keeps_the_executor_busy_while_it_waits) {
    auto h = std::make_unique<text_handler>([](error_code, std::string) {}, context.get_executor());
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_FALSE(context.stopped());
    h.reset();
    context.run();
    EXPECT_TRUE(context.stopped());
}

TEST_F(control_handler_test, moves_into_place_and_by_assignment) {
    int calls = 0;
    const auto count = [&](error_code, std::string) { ++calls; };
    text_handler a(count, context.get_executor());
    text_handler b(std::move(a));
    text_handler c(count, context.get_executor());
    c = std::move(b); // any_completion_handler alone would recurse here on Boost 1.81
    std::vector<text_handler> many;
    for (int i = 0; i < 5; ++i) many.emplace_back(count, context.get_executor());
    many.erase(many.begin());
    c.post({}, "");
    for (auto& h : many) h.post({}, "");
    context.run();
    EXPECT_EQ(calls, 5);
}

TEST_F(control_handler_test, ends_cancellation_before_the_call) {
    asio::cancellation_signal signal;
    int cancelled = 0;
    bool called = false;
    text_handler h(asio::bind_cancellation_slot(signal.slot(),
                                                [&](error_code, std::string) {
                                                    signal.emit(asio::cancellation_type::all);
                                                    called = true;
                                                }),
                   context.get_executor());
    h.slot().assign([&](asio::cancellation_type) { ++cancelled; });
    signal.emit(asio::cancellation_type::total);
    EXPECT_EQ(cancelled, 1);
    h.post({}, "");
    context.run();
    EXPECT_TRUE(called);
    EXPECT_EQ(cancelled, 1);
}

TEST_F(control_handler_test, may_be_the_handler_of_another_operation) {
    asio::steady_timer timer(context, std::chrono::milliseconds(1));
    bool called = false;
    timer.async_wait(control_handler<void(error_code)>(
        asio::bind_executor(elsewhere.get_executor(), [&](error_code ec) { called = !ec; }),
        context.get_executor()));
    std::thread other([&] { elsewhere.run(); });
    context.run();
    other.join();
    EXPECT_TRUE(called);
}

TEST_F(control_handler_test, is_destroyed_uncalled_with_its_context) {
    auto witness = std::make_shared<int>();
    std::weak_ptr<int> watch = witness;
    {
        asio::io_context dying;
        text_handler h([w = std::move(witness)](error_code, std::string) { ADD_FAILURE(); },
                       dying.get_executor());
        h.post({}, "");
    }
    EXPECT_TRUE(watch.expired());
}

TEST_F(control_handler_test, resumes_a_coroutine) {
    std::string got;
    const auto ask = [&]() -> asio::awaitable<void> {
        got = co_await asio::async_initiate<decltype(asio::use_awaitable), void(error_code, std::string)>(
            [&](auto handler) {
                text_handler(std::move(handler), context.get_executor()).post({}, "awaited");
            },
            asio::use_awaitable);
    };
    asio::co_spawn(context, ask(), asio::detached);
    context.run();
    EXPECT_EQ(got, "awaited");
}

} // namespace
} // namespace rocio::async
