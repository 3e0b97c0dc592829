#include "connect/rendezvous_message.hpp"
#include "sample_offer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::test {
namespace {

using rendezvous::check_fit;
using ::testing::HasSubstr;

rendezvous::offer side(std::uint32_t sends, std::uint32_t takes, mtu path_mtu = mtu::b4096) {
    auto o = sample_offer();
    o.side.path_mtu = path_mtu;
    o.side.max_payload = takes;
    o.largest_message = sends;
    return o;
}

TEST(RendezvousFit, EqualSidesFit) {
    EXPECT_FALSE(check_fit(sample_offer(), sample_offer()));
}

TEST(RendezvousFit, MessageMayBeAsLargeAsTheSlot) {
    EXPECT_FALSE(check_fit(side(4096, 0), side(0, 4096)));
}

TEST(RendezvousFit, ConnectingSideThatSendsMoreThanTheSlotDoesNotFit) {
    const auto error = check_fit(side(4097, 0), side(0, 4096));
    EXPECT_EQ(error.code, errc::geometry_mismatch);
    EXPECT_THAT(error.text, HasSubstr("connecting side sends messages of up to 4097 bytes"));
    EXPECT_THAT(error.text, HasSubstr("listening side takes at most 4096"));
}

TEST(RendezvousFit, ListeningSideThatSendsMoreThanTheSlotDoesNotFit) {
    const auto error = check_fit(side(0, 64), side(65, 0));
    EXPECT_EQ(error.code, errc::geometry_mismatch);
    EXPECT_THAT(error.text, HasSubstr("listening side sends messages of up to 65 bytes"));
}

TEST(RendezvousFit, WhatOneSideDoesNotTellFitsEverything) {
    EXPECT_FALSE(check_fit(side(0, 0), side(1, 1)));
    EXPECT_FALSE(check_fit(side(0xFFFFFFFF, 0), side(0, 0)));
    EXPECT_FALSE(check_fit(side(0, 1), side(0, 1)));
}

TEST(RendezvousFit, DifferentPathMtusDoNotFitAndBothAreNamed) {
    const auto error = check_fit(side(0, 0, mtu::b4096), side(0, 0, mtu::b1024));
    EXPECT_EQ(error.code, errc::path_mtu_mismatch);
    EXPECT_THAT(error.text, HasSubstr("connecting side has path MTU 4096"));
    EXPECT_THAT(error.text, HasSubstr("listening side 1024"));
}

} // namespace
} // namespace rocio::test
