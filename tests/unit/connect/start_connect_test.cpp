#include "start_connect_fixture.hpp"
#include "tracker_executor.hpp"

#include <new>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(StartConnect, TakesTheStepsInOrder) {
    start();
    EXPECT_THAT(events, IsEmpty()) << "steps ran inside the initiating function";
    settle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "establish", "ready", "connected", "wait_lost",
                                    "handler"));
    EXPECT_FALSE(outcome.ec);
    EXPECT_TRUE(target->has_watch());
}

TEST_F(StartConnect, PassesEachSidesNumbersToTheOther) {
    connect();
    EXPECT_EQ(script->local.queue_pair, qpn(1234));
    EXPECT_EQ(target->established_with.queue_pair, qpn(77));
    EXPECT_EQ(target->established_with.address, good_peer().address);
}

TEST_F(StartConnect, DoesNotKeepTheTargetAliveWhileItWatches) {
    connect();
    EXPECT_EQ(target.use_count(), 1);
}

TEST_F(StartConnect, HandlerRunsOnItsOwnExecutorAndNotInsideTheCall) {
    auto strand = asio::make_strand(*context);
    bool on_its_executor = false;
    bool inside = false;
    auto handler = asio::bind_executor(strand, [&](const error_code&) {
        on_its_executor = strand.running_in_this_thread();
        inside = initiation_scope::active();
        outcome.done = true;
    });
    asio::post(*context, [&] {
        const initiation_scope scope;
        detail::start_connect(
            target, scripted_handshake(script),
            async::control_handler<void(error_code)>(std::move(handler), context->get_executor()));
    });
    settle();
    ASSERT_TRUE(outcome.done);
    EXPECT_TRUE(on_its_executor);
    EXPECT_FALSE(inside);
}

// ---- Failure at each step

TEST_F(StartConnect, FailedPreparationMeetsNoPeer) {
    target->fails_to_prepare = {errc::no_usable_gid, "the table is empty"};
    start();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("prepare", "disconnected", "handler"));
    EXPECT_EQ(outcome.ec, errc::no_usable_gid);
    EXPECT_EQ(target->last_error.text, "the table is empty");
    expect_no_leftovers();
}

TEST_F(StartConnect, SecondAttemptDoesNotTouchTheFirstConnection) {
    connect();
    start(std::make_shared<handshake_script>(*context, events));
    settle();
    EXPECT_THAT(events, ElementsAre("prepare", "handler"));
    EXPECT_EQ(outcome.ec, errc::already_connected);
    EXPECT_TRUE(target->has_watch());
}

TEST_F(StartConnect, FailedExchangeIsUndone) {
    script->ends("exchange", errc::handshake_timed_out, "waited 5000 ms in vain");
    start();
    expect_idle();
    EXPECT_THAT(events,
                ElementsAre("prepare", "exchange", "exchange failed", "release", "disconnected", "handler"));
    EXPECT_EQ(outcome.ec, errc::handshake_timed_out);
    EXPECT_EQ(target->last_error.text, "waited 5000 ms in vain");
    expect_no_leftovers();
}

TEST_F(StartConnect, NumbersOutOfRangeNeverReachTheTarget) {
    script->peer.queue_pair = qpn(1);
    start();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "release", "disconnected", "handler"));
    EXPECT_EQ(outcome.ec, errc::invalid_peer_parameters);
    EXPECT_THAT(target->last_error.text, HasSubstr("queue_pair is 1"));
    expect_no_leftovers();
}

TEST_F(StartConnect, FailureToEstablishIsUndone) {
    target->fails_to_establish = {errc::path_mtu_too_large, "4096 asked, 1024 allowed"};
    start();
    expect_idle();
    EXPECT_THAT(events,
                ElementsAre("prepare", "exchange", "establish", "release", "disconnected", "handler"));
    EXPECT_EQ(outcome.ec, errc::path_mtu_too_large);
    EXPECT_EQ(target->last_error.text, "4096 asked, 1024 allowed");
    expect_no_leftovers();
}

TEST_F(StartConnect, PeerThatIsNotReadyUndoesAll) {
    script->ends("ready", errc::peer_closed, "gave up");
    start();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "establish", "ready", "ready failed", "release",
                                    "disconnected", "handler"));
    EXPECT_EQ(outcome.ec, errc::peer_closed);
    EXPECT_EQ(target->last_error.text, "gave up");
    expect_no_leftovers();
}

TEST_F(StartConnect, SentenceOfAnotherFailureIsNotBorrowed) {
    script->last_error = {errc::peer_lost, "an old story"};
    target->fails_to_establish = {errc::limit_exceeded, ""};
    start();
    expect_idle();
    EXPECT_EQ(target->last_error.code, errc::limit_exceeded);
    EXPECT_EQ(target->last_error.text, "");
}

TEST_F(StartConnect, FailedGoodbyeDoesNotHideTheCause) {
    script->ends("exchange", errc::version_mismatch);
    script->ends("release", errc::peer_lost);
    start();
    expect_idle();
    EXPECT_EQ(outcome.ec, errc::version_mismatch);
    EXPECT_EQ(target->last_error.code, errc::version_mismatch);
}

TEST_F(StartConnect, LackOfMemoryIsReportedAndUndone) {
    target->when_established = [] { throw std::bad_alloc(); };
    start();
    expect_idle();
    EXPECT_EQ(outcome.ec, boost::system::errc::not_enough_memory);
    EXPECT_THAT(events,
                ElementsAre("prepare", "exchange", "establish", "release", "disconnected", "handler"));
    expect_no_leftovers();
}

TEST_F(StartConnect, CanBeDoneAgainAfterAFailure) {
    script->ends("ready", errc::peer_lost);
    start();
    expect_idle();
    events.clear();
    script->ends("ready", {});
    start();
    settle();
    EXPECT_THAT(events, ElementsAre("prepare", "exchange", "establish", "ready", "connected", "wait_lost",
                                    "handler"));
}

// ---- The standing connection

TEST_F(StartConnect, LostPeerClosesTheTargetWithItsSentence) {
    connect();
    script->finish("wait_lost", errc::peer_lost, "silent for 3000 ms");
    expect_idle();
    EXPECT_THAT(events, ElementsAre("wait_lost failed", "disconnected", "release"));
    EXPECT_EQ(target->last_error.code, errc::peer_lost);
    EXPECT_EQ(target->last_error.text, "silent for 3000 ms");
    expect_no_leftovers();
}

TEST_F(StartConnect, WaitThatEndsWithoutAReasonMeansThatThePeerClosed) {
    connect();
    script->finish("wait_lost");
    expect_idle();
    EXPECT_EQ(target->last_error.code, errc::peer_closed);
}

TEST_F(StartConnect, ClosedTargetSaysGoodbyeAndLetsTheContextEnd) {
    connect();
    target->close();
    EXPECT_THAT(events, IsEmpty()) << "release() may only post";
    expect_idle();
    EXPECT_THAT(events, ElementsAre("wait_lost failed", "release"));
    expect_no_leftovers();
}

TEST_F(StartConnect, GoodbyeIsSaidOnceWhenThePeerIsLostAndTheTargetClosesAtTheSameTime) {
    connect();
    script->finish("wait_lost", errc::peer_lost);
    target->close();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("wait_lost failed", "release"));
}

TEST_F(StartConnect, DestroyedTargetSaysGoodbye) {
    connect();
    target.reset();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("wait_lost failed", "release"));
    EXPECT_EQ(script.use_count(), 1);
}

TEST_F(StartConnect, TargetThatDropsItsWatchHasReleasedIt) {
    connect();
    target->forget_watch();
    expect_idle();
    EXPECT_THAT(events, ElementsAre("wait_lost failed", "release"));
}

TEST_F(StartConnect, LossOfAnOldConnectionDoesNotTouchTheNewOne) {
    connect();
    const auto old = script;
    old->holds("release");
    target->close();
    script = std::make_shared<handshake_script>(*context, events);
    start();
    settle();
    old->finish("release");
    settle();
    EXPECT_THAT(events, ::testing::Contains("connected"));
    EXPECT_THAT(events, ::testing::Not(::testing::Contains("disconnected")));
    EXPECT_TRUE(target->has_watch());
}

TEST_F(StartConnect, TargetConnectsAgainAfterAGoodbye) {
    for (int round = 0; round < 3; ++round) {
        connect();
        target->close();
        expect_idle();
        expect_no_leftovers();
    }
}

} // namespace
} // namespace rocio::test
