#include "archetype_tokens.hpp"
#include "slac_engine_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace rocio::fpga {
namespace {

namespace asio = boost::asio;
using slac_engine_tokens_test = slac_engine_fixture;

TEST_F(slac_engine_tokens_test, EveryOperationCanBeAwaited) {
    slac_engine engine(context, bus, fpga, config);
    bool done = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto peer = co_await engine.async_exchange(local(), asio::use_awaitable);
            EXPECT_EQ(peer.queue_pair, qpn(0x203));
            co_await engine.async_ready(asio::use_awaitable);
            const auto counters = co_await engine.async_read_counters(asio::use_awaitable);
            EXPECT_EQ(counters.success, 0U);
            co_await engine.async_release(asio::use_awaitable);
            const slac_host host{.qpn = 5, .region_length = 8192};
            const auto made = co_await engine.async_setup_connection(host, asio::use_awaitable);
            EXPECT_EQ(made.fpga_qpn, 0x204U);
            const slac_data_path path{.host_qpn = 5, .region_length = 8192, .max_payload = 4096};
            co_await engine.async_arm(path, asio::use_awaitable);
            board.power_cycle();
            const auto [lost] = co_await engine.async_wait_lost(asio::as_tuple(asio::use_awaitable));
            EXPECT_EQ(lost, errc::peer_lost);
            co_await engine.async_disarm(asio::use_awaitable);
            co_await engine.async_teardown_connection(asio::use_awaitable);
            done = true;
        },
        [](const std::exception_ptr& e) {
            if (e) std::rethrow_exception(e);
        });
    run_until([&] { return done; });
}

TEST_F(slac_engine_tokens_test, TheDefaultTokenIsDeferred) {
    slac_engine engine(context, bus, fpga, config);
    bool done = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            auto exchange = engine.async_exchange(local());
            co_await std::move(exchange)(asio::use_awaitable);
            auto release = engine.async_release();
            co_await std::move(release)(asio::use_awaitable);
            done = true;
        },
        asio::detached);
    run_until([&] { return done; });
    auto ready = engine.async_ready();
    auto wait_lost = engine.async_wait_lost();
    auto counters = engine.async_read_counters();
    auto disarm = engine.async_disarm(asio::deferred);
    static_assert(!std::is_void_v<decltype(ready)> && !std::is_void_v<decltype(wait_lost)>);
    static_assert(!std::is_void_v<decltype(counters)> && !std::is_void_v<decltype(disarm)>);
}

TEST_F(slac_engine_tokens_test, FuturesLazyAndEagerTokensAreTaken) {
    slac_engine engine(context, bus, fpga, config);
    EXPECT_EQ(engine.async_exchange(local(), test::lazy_token{}), 42);
    EXPECT_EQ(engine.async_ready(test::lazy_token{}), 42);
    EXPECT_EQ(engine.async_read_counters(test::eager_token{}), 43);
    EXPECT_EQ(engine.async_disarm(test::eager_token{}), 43);
    auto future = engine.async_read_counters(asio::use_future);
    // Its promise is kept on a thread of Asio's, which does not wake the context.
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        ASSERT_LT(std::chrono::steady_clock::now(), limit);
        context.run_one_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(future.get().success, 0U);
}

TEST_F(slac_engine_tokens_test, MoveOnlyHandlersAndOtherExecutors) {
    asio::thread_pool pool(1);
    auto work = asio::make_work_guard(context); // while the handler runs elsewhere
    slac_engine engine(context, bus, fpga, config);
    auto owned = std::make_unique<int>(1);
    bool there = false, done = false;
    engine.async_exchange(
        local(),
        asio::bind_executor(pool, [&, o = std::move(owned)](const error_code& ec, const peer_parameters&) {
            const bool inside = !ec && *o == 1 && pool.get_executor().running_in_this_thread();
            asio::post(context, [&, inside] {
                there = inside;
                done = true;
            });
        }));
    run_until([&] { return done; });
    EXPECT_TRUE(there);
    pool.join();
    work.reset();
    release(engine);
}

TEST_F(slac_engine_tokens_test, WorksOnAStrandAndCanBeRebound) {
    using strand = asio::strand<asio::io_context::executor_type>;
    basic_slac_engine<strand> engine(asio::make_strand(context), bus, fpga, config);
    const auto where = engine.get_executor();
    bool inside = false;
    engine.async_exchange(local(), [&](const error_code& ec, const peer_parameters&) {
        inside = !ec && where.running_in_this_thread();
    });
    run_until([&] { return inside; });
    slac_engine any(std::move(engine));
    EXPECT_FALSE(release(any));
    EXPECT_EQ(wait([&](auto h) { engine.async_ready(h); }), errc::invalid_state) << "moved from";
}

TEST_F(slac_engine_tokens_test, NeverCompletesInsideTheInitiatingFunction) {
    slac_engine engine(context, bus, fpga, config);
    bool called = false;
    engine.async_release([&](const error_code&) { called = true; });
    EXPECT_FALSE(called);
    run_until([&] { return called; });
}

} // namespace
} // namespace rocio::fpga
