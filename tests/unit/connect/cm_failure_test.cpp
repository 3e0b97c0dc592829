// The error and the sentence of each event that ends a connection or keeps it from coming about.

#include "connect/cm_failure.hpp"
#include "connect/cm_greeting.hpp"
#include "scripted_connection_manager.hpp"

#include <boost/asio/error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace rocio::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* peer = "10.0.0.9:4000";

error_info failed(cm_stage stage, cm_event_kind kind, const error_code& reason = {}) {
    return failure_of(stage, {.kind = kind, .reason = reason}, peer);
}

error_info rejected(std::uint32_t reason, const std::vector<std::byte>& data = {},
                    cm_stage stage = cm_stage::connecting) {
    cm_event event{.kind = cm_event_kind::rejected};
    event.reject_reason = reason;
    event.data = test::padded(data, cm_private_data::most_at_reject);
    return failure_of(stage, event, peer);
}

error_code system(int number) {
    return {number, boost::system::system_category()};
}

TEST(CmFailure, NamesTheStepThatFailed) {
    using enum cm_stage;
    const auto text = [](cm_stage stage, cm_event_kind kind) {
        return failed(stage, kind, system(ENETUNREACH)).text;
    };
    EXPECT_THAT(text(resolving_address, cm_event_kind::address_error),
                HasSubstr("could not resolve its address"));
    EXPECT_THAT(text(resolving_route, cm_event_kind::route_error),
                HasSubstr("could not resolve the route to it"));
    EXPECT_THAT(text(connecting, cm_event_kind::connect_error), HasSubstr("could not connect"));
    EXPECT_THAT(text(accepting, cm_event_kind::unreachable), HasSubstr("could not connect"));
    for (const auto stage : {resolving_address, resolving_route, connecting, accepting}) {
        EXPECT_THAT(text(stage, cm_event_kind::unreachable), StartsWith(peer));
        EXPECT_THAT(text(stage, cm_event_kind::unreachable), HasSubstr(system(ENETUNREACH).message()));
    }
}

TEST(CmFailure, KeepsTheSystemsCode) {
    EXPECT_EQ(failed(cm_stage::resolving_address, cm_event_kind::address_error, system(ENETUNREACH)).code,
              boost::system::errc::network_unreachable);
    EXPECT_EQ(
        failed(cm_stage::resolving_address, cm_event_kind::address_error, errc::address_not_available).code,
        errc::address_not_available);
}

TEST(CmFailure, TimeThatRanOutIsOneErrorWhereverItDid) {
    for (const auto kind : {cm_event_kind::address_error, cm_event_kind::route_error,
                            cm_event_kind::unreachable, cm_event_kind::connect_error}) {
        const auto e = failed(cm_stage::connecting, kind, system(ETIMEDOUT));
        EXPECT_EQ(e.code, errc::handshake_timed_out) << to_string(kind);
        EXPECT_EQ(e.code, condition::timed_out);
        EXPECT_THAT(e.text, Not(HasSubstr("-110")));
        EXPECT_EQ(failed(cm_stage::connecting, kind, boost::asio::error::timed_out).code,
                  errc::handshake_timed_out);
    }
}

TEST(CmFailure, WithoutAReasonThePeerCannotBeReached) {
    EXPECT_EQ(failed(cm_stage::connecting, cm_event_kind::connect_error).code,
              boost::asio::error::host_unreachable);
}

// ---- Rejections

TEST(CmFailure, NobodyListens) {
    const auto e = rejected(8);
    EXPECT_EQ(e.code, boost::asio::error::connection_refused);
    EXPECT_EQ(e.code, condition::refused);
    EXPECT_THAT(e.text, HasSubstr("nobody listens for rdma_cm at 10.0.0.9:4000"));
    EXPECT_THAT(e.text, HasSubstr("reason 8"));
}

TEST(CmFailure, TheProgramTurnedUsAwayWithItsSentence) {
    const auto e = rejected(28, cm_greeting::encode(rendezvous::refusal{rendezvous::refusal_reason::geometry,
                                                                        "takes at most 64 bytes"}));
    EXPECT_EQ(e.code, errc::geometry_mismatch);
    EXPECT_EQ(e.text, "10.0.0.9:4000 refuses: takes at most 64 bytes");
}

TEST(CmFailure, TheProgramTurnedUsAwayWithoutAWord) {
    const auto e = rejected(28);
    EXPECT_EQ(e.code, errc::refused_by_peer);
    EXPECT_THAT(e.text, HasSubstr("its program turned us away (reject reason 28)"));
}

TEST(CmFailure, DataOfAnotherProgramsRefusalAreNotShown) {
    std::vector<std::byte> foreign(148, std::byte{'x'});
    EXPECT_THAT(rejected(28, foreign).text, Not(HasSubstr("xx")));
    EXPECT_EQ(rejected(28, foreign).code, errc::refused_by_peer);
}

TEST(CmFailure, ReasonsOfTheConnectionManagerAreToldAndNumbered) {
    EXPECT_THAT(rejected(3).text, HasSubstr("it has no resources left (reject reason 3)"));
    EXPECT_THAT(rejected(10).text, HasSubstr("is not over there yet; try again (reject reason 10)"));
    EXPECT_THAT(rejected(4711).text, HasSubstr("its connection manager turned us away (reject reason 4711)"));
    for (const std::uint32_t reason : {0U, 3U, 10U, 4711U, 0xFFFFFFFFU})
        EXPECT_EQ(rejected(reason).code, errc::refused_by_peer);
}

TEST(CmFailure, OurRefusalCountsOnlyWhereTheProgramRejects) {
    const auto ours = cm_greeting::encode(rendezvous::refusal{rendezvous::refusal_reason::version, "words"});
    EXPECT_EQ(rejected(3, ours).code, errc::refused_by_peer);
    EXPECT_THAT(rejected(3, ours).text, Not(HasSubstr("words")));
}

// ---- What stands, and ends

TEST(CmFailure, GoodbyeOfAStandingConnectionIsNoHandshakeGivenUp) {
    const auto stands = failed(cm_stage::established, cm_event_kind::disconnected);
    EXPECT_EQ(stands.code, errc::peer_closed);
    EXPECT_THAT(stands.text, HasSubstr("ended the connection"));
    const auto accepting = failed(cm_stage::accepting, cm_event_kind::disconnected);
    EXPECT_EQ(accepting.code, errc::peer_closed);
    EXPECT_THAT(accepting.text, HasSubstr("gave the handshake up"));
}

TEST(CmFailure, AStandingConnectionIsLostByWhateverElseEndsIt) {
    EXPECT_EQ(failed(cm_stage::established, cm_event_kind::connect_error, system(ECONNRESET)).code,
              errc::peer_lost);
    EXPECT_EQ(failed(cm_stage::established, cm_event_kind::connect_error, system(ETIMEDOUT)).code,
              errc::peer_lost);
    EXPECT_EQ(rejected(4, {}, cm_stage::established).code, errc::peer_lost);
    EXPECT_THAT(rejected(4, {}, cm_stage::established).text, HasSubstr("never took the connection up"));
}

TEST(CmFailure, RemovedDeviceIsFatalInEveryStage) {
    for (std::size_t i = 0; i < cm_stage_count; ++i) {
        const auto e = failed(static_cast<cm_stage>(i), cm_event_kind::device_removal);
        EXPECT_EQ(e.code, errc::device_fatal);
        EXPECT_THAT(e.text, HasSubstr(peer));
    }
}

TEST(CmFailure, EveryFailureHasACodeAndASentence) {
    for (std::size_t stage = 0; stage < cm_stage_count; ++stage) {
        for (int kind = 0; kind <= static_cast<int>(cm_event_kind::time_wait_exit); ++kind) {
            const auto e = failed(static_cast<cm_stage>(stage), static_cast<cm_event_kind>(kind));
            EXPECT_TRUE(e.code);
            EXPECT_THAT(e.text, HasSubstr(peer));
        }
    }
}

} // namespace
} // namespace rocio::detail
