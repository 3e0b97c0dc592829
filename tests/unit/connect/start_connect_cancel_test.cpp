#include "start_connect_fixture.hpp"

namespace rocio::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- The user's cancellation

struct suspension {
    const char* step;
    asio::cancellation_type type;
    const char* name;
};

class StartConnectCancel : public StartConnect, public ::testing::WithParamInterface<suspension> {};

TEST_P(StartConnectCancel, EndsTheAttemptAndLeavesNothing) {
    script->holds(GetParam().step);
    start();
    settle();
    ASSERT_THAT(events, Contains(GetParam().step));
    signal.emit(GetParam().type);
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_EQ(target->last_error.code, asio::error::operation_aborted);
    EXPECT_THAT(events, Contains("release"));
    EXPECT_THAT(events, Not(Contains("connected")));
    expect_no_leftovers();
}

TEST_P(StartConnectCancel, IsHonouredThoughTheStepHasJustSucceeded) {
    script->holds(GetParam().step);
    start();
    settle();
    script->finish(GetParam().step);
    signal.emit(GetParam().type);
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_THAT(events, Not(Contains("connected")));
    EXPECT_THAT(events, Contains("release"));
    expect_no_leftovers();
}

TEST_P(StartConnectCancel, CanBeConnectedAfterwards) {
    script->holds(GetParam().step);
    start();
    settle();
    signal.emit(GetParam().type);
    expect_idle();
    script->ends(GetParam().step, {});
    connect();
}

INSTANTIATE_TEST_SUITE_P(
    Steps, StartConnectCancel,
    ::testing::Values(suspension{"exchange", asio::cancellation_type::terminal, "exchange_terminal"},
                      suspension{"exchange", asio::cancellation_type::total, "exchange_total"},
                      suspension{"ready", asio::cancellation_type::terminal, "ready_terminal"},
                      suspension{"ready", asio::cancellation_type::total, "ready_total"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(StartConnect, CancelledBeforeItsFirstStepItTouchesNothing) {
    start();
    signal.emit(asio::cancellation_type::total);
    // The relay is queued behind the first step: what has begun is undone.
    script->holds("exchange");
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_THAT(events, Not(Contains("establish")));
    expect_no_leftovers();
}

TEST_F(StartConnect, PartialCancellationIsNotSupported) {
    script->holds("exchange");
    start();
    settle();
    signal.emit(asio::cancellation_type::partial);
    settle();
    EXPECT_FALSE(outcome.done);
    script->finish("exchange");
    settle();
    EXPECT_TRUE(outcome.done);
    EXPECT_FALSE(outcome.ec);
}

TEST_F(StartConnect, GoodbyeOfACancelledAttemptIsNotCancelled) {
    script->holds("exchange");
    script->holds("release");
    start();
    settle();
    signal.emit(asio::cancellation_type::total);
    settle();
    signal.emit(asio::cancellation_type::total);
    settle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "exchange failed", "release"));
    script->finish("release");
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
}

TEST_F(StartConnect, CancellationAfterSuccessDoesNothing) {
    start();
    while (!target->has_watch() || events.back() != "wait_lost") ASSERT_GT(context->poll_one(), 0U);
    ASSERT_FALSE(outcome.done) << "the handler is still queued";
    signal.emit(asio::cancellation_type::total);
    settle();
    EXPECT_FALSE(outcome.ec);
    signal.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_TRUE(target->has_watch());
    EXPECT_THAT(events, Not(Contains("release")));
}

// ---- The target goes away meanwhile

class StartConnectClosed : public StartConnect, public ::testing::WithParamInterface<const char*> {};

TEST_P(StartConnectClosed, ClosedTargetEndsTheAttemptAtOnce) {
    script->holds(GetParam());
    start();
    settle();
    target->close();
    EXPECT_THAT(events, Not(Contains("release"))) << "release() may only post";
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_THAT(events, Not(Contains("connected")));
    EXPECT_THAT(events, Contains("release"));
    expect_no_leftovers();
}

TEST_P(StartConnectClosed, TargetThatIsLetGoIsDestroyedWithTheAttempt) {
    script->holds(GetParam());
    start();
    settle();
    const std::weak_ptr<scripted_target> gone = target;
    target->close();
    target.reset();
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_TRUE(gone.expired());
    EXPECT_EQ(script.use_count(), 1);
}

TEST_P(StartConnectClosed, ClosedWhileTheStepSucceedsItStaysClosed) {
    script->holds(GetParam());
    start();
    settle();
    script->finish(GetParam());
    target->close();
    expect_idle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_FALSE(target->has_watch());
    expect_no_leftovers();
}

INSTANTIATE_TEST_SUITE_P(Steps, StartConnectClosed, ::testing::Values("exchange", "ready"));

TEST_F(StartConnect, OldAttemptThatStillSaysGoodbyeDoesNotTouchTheNextOne) {
    script->holds("exchange");
    script->holds("release");
    start();
    settle();
    target->close();
    const auto old = script;
    script = std::make_shared<handshake_script>(*context, events);
    connect_outcome next;
    detail::start_connect(target, scripted_handshake(script),
                          async::control_handler<void(error_code)>(
                              [&](const error_code& ec) {
                                  next = {true, ec};
                              },
                              context->get_executor()));
    settle();
    ASSERT_TRUE(next.done);
    EXPECT_FALSE(next.ec);
    old->finish("release");
    settle();
    EXPECT_EQ(outcome.ec, asio::error::operation_aborted);
    EXPECT_THAT(events, Not(Contains("disconnected")));
    EXPECT_TRUE(target->has_watch());
}

TEST_F(StartConnect, TargetClosedByItsOwnHandlerOfTheConnection) {
    auto handler = [this](const error_code&) { target->close(); };
    detail::start_connect(target, scripted_handshake(script),
                          async::control_handler<void(error_code)>(handler, context->get_executor()));
    expect_idle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "establish", "ready", "connected", "wait_lost",
                                    "wait_lost failed", "release"));
    expect_no_leftovers();
}

// ---- The context goes away

class StartConnectContext : public StartConnect, public ::testing::WithParamInterface<const char*> {};

TEST_P(StartConnectContext, DestroyedContextFreesEverythingAndCallsNothing) {
    script->holds(GetParam());
    if (std::string(GetParam()) == "release") script->ends("exchange", errc::peer_lost);
    auto kept = std::make_shared<int>(0);
    const std::weak_ptr<int> handler_alive = kept;
    detail::start_connect(target, scripted_handshake(script),
                          async::control_handler<void(error_code)>(
                              [kept = std::move(kept), this](const error_code&) { outcome.done = true; },
                              context->get_executor()));
    settle();
    const bool was_done = outcome.done;
    ASSERT_THAT(events, Contains(GetParam()));
    events.clear();
    const std::weak_ptr<handshake_script> script_alive = script;
    script.reset();
    context.reset();
    EXPECT_EQ(outcome.done, was_done);
    EXPECT_TRUE(handler_alive.expired());
    EXPECT_TRUE(script_alive.expired()) << "the handshake leaked";
    EXPECT_EQ(target.use_count(), 1);
    EXPECT_THAT(events, IsEmpty());
    target->forget_watch();
}

INSTANTIATE_TEST_SUITE_P(Steps, StartConnectContext,
                         ::testing::Values("exchange", "ready", "wait_lost", "release"));

TEST_F(StartConnect, ContextDestroyedBeforeTheFirstStep) {
    start();
    context.reset();
    EXPECT_FALSE(outcome.done);
    EXPECT_THAT(events, IsEmpty());
    expect_no_leftovers();
}

} // namespace
} // namespace rocio::test
