#include "hsb_control_client_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace rocio::fpga {
namespace {

namespace asio = boost::asio;

TEST_F(hsb_control_client_test, CanBeAwaitedWithTheDefaultToken) {
    board->registers[0x80] = 2;
    hsb_control_client client(context, board->endpoint(), patient());
    std::uint32_t value = 0;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            co_await client.async_write(0x84, 3, asio::use_awaitable);
            value = co_await client.async_read(0x84, asio::use_awaitable);
            auto deferred = client.async_read(0x80);
            value += co_await std::move(deferred)(asio::use_awaitable);
        },
        asio::detached);
    run_until([&] { return value == 5; });
}

TEST_F(hsb_control_client_test, ThrowsInACoroutineWhatItFails) {
    board->then([](script& s, const seen_request& r) {
        s.answer_with(r, {}, hsb_status::invalid_address);
        return false;
    });
    hsb_control_client client(context, board->endpoint(), patient());
    error_code seen;
    asio::co_spawn(context, client.async_read(0x80, asio::use_awaitable),
                   [&](const std::exception_ptr& e, std::uint32_t) {
                       try {
                           std::rethrow_exception(e);
                       } catch (const boost::system::system_error& error) {
                           seen = error.code();
                       }
                   });
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(seen, hsb_status::invalid_address);
}

TEST_F(hsb_control_client_test, TakesFuturesTuplesAndMoveOnlyHandlers) {
    board->registers[0x80] = 7;
    hsb_control_client client(context, board->endpoint(), patient());
    auto future = client.async_read(0x80, asio::use_future);
    // Its promise is kept on a thread of Asio's, which does not wake the context.
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        ASSERT_LT(std::chrono::steady_clock::now(), limit);
        context.run_one_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(future.get(), 7U);

    std::optional<std::uint32_t> value;
    asio::co_spawn(
        context, client.async_read(0x80, asio::as_tuple(asio::use_awaitable)),
        [&](const std::exception_ptr&, std::tuple<error_code, std::uint32_t> r) { value = std::get<1>(r); });
    run_until([&] { return value.has_value(); });
    EXPECT_EQ(*value, 7U);

    auto owned = std::make_unique<int>(1);
    bool called = false;
    client.async_write(0x80, 1, [o = std::move(owned), &called](const error_code&) { called = *o == 1; });
    run_until([&] { return called; });
}

TEST_F(hsb_control_client_test, CompletesOnTheHandlersExecutor) {
    asio::thread_pool pool(1);
    hsb_control_client client(context, board->endpoint(), patient());
    bool done = false;
    client.async_write(0x80, 1, asio::bind_executor(pool, [&](const error_code& ec) {
                           const bool there = !ec && pool.get_executor().running_in_this_thread();
                           asio::post(context, [&done, there] { done = there; });
                       }));
    run_until([&] { return done; });
    pool.join();
}

TEST_F(hsb_control_client_test, WorksOnAStrand) {
    basic_hsb_control_client<asio::strand<asio::io_context::executor_type>> client(
        asio::make_strand(context), board->endpoint(), patient());
    const auto strand = client.get_executor();
    bool inside = false;
    client.async_write(0x80, 1,
                       [&](const error_code& ec) { inside = !ec && strand.running_in_this_thread(); });
    run_until([&] { return inside; });
}

} // namespace
} // namespace rocio::fpga
