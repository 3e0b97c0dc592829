#include "rssi_fixture.hpp"

#include <rocio/fpga/bus_error.hpp>

namespace rocio::fpga {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Set-up of a client.

TEST_F(rssi_script, AClientSaysNothingBeforeConnect) {
    rssi_connection client(rssi_role::client, {});
    EXPECT_EQ(client.state(), rssi_state::closed);
    EXPECT_FALSE(client.next_deadline());
    EXPECT_THAT(sent(client), IsEmpty());
}

TEST_F(rssi_script, AClientSendsASynWithANewNumberEachTryPeriod) {
    rssi_connection client(rssi_role::client, {});
    client.connect(now);
    for (int i = 0; i < 5; ++i) {
        const auto s = sent(client);
        ASSERT_EQ(s.size(), 1U);
        EXPECT_TRUE(s[0].header.syn);
        EXPECT_FALSE(s[0].header.ack);
        EXPECT_EQ(s[0].header.sequence, 100 + i);
        EXPECT_EQ(s[0].header.parameters, rssi_parameters{});
        EXPECT_EQ(client.next_deadline(), now + 100ms);
        pass(client, 99ms);
        EXPECT_THAT(sent(client), IsEmpty());
        pass(client, 1ms);
    }
    EXPECT_EQ(client.tries(), 5U);
}

TEST_F(rssi_script, AClientTakesTheBoardsParametersAndAcknowledgesWithoutANumber) {
    rssi_connection client(rssi_role::client, {});
    client.connect(now);
    sent(client);
    const rssi_parameters boards{.max_outstanding = 8, .max_segment = 1000, .retransmit_timeout = 40};
    give(client, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 100, .parameters = boards});
    EXPECT_EQ(client.state(), rssi_state::open);
    EXPECT_EQ(client.parameters(), boards);
    EXPECT_EQ(client.max_payload(), 992U);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.ack);
    EXPECT_FALSE(s[0].header.syn);
    EXPECT_EQ(s[0].header.acknowledge, 50);
    client.send(pattern(10));
    EXPECT_EQ(sent(client)[0].header.sequence, 101) << "the first number after the SYN's";
}

TEST_F(rssi_script, AClientNeverSendsLongerSegmentsThanItsOwnLimit) {
    auto client = open_client({.max_segment = 8000}, {.parameters = {.max_segment = 500}});
    EXPECT_EQ(client.max_payload(), 492U);
}

TEST_F(rssi_script, TheAnswerToAnEarlierSynCounts) {
    rssi_connection client(rssi_role::client, {});
    client.connect(now);
    for (int i = 0; i < 3; ++i) {
        sent(client);
        pass(client, 100ms);
    }
    give(client, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 101});
    EXPECT_EQ(client.state(), rssi_state::open);
    sent(client);
    client.send(pattern(1));
    EXPECT_EQ(sent(client)[0].header.sequence, 102);
}

TEST_F(rssi_script, AClientTakesNoAnswerThatIsNotOne) {
    rssi_connection client(rssi_role::client, {});
    client.connect(now);
    sent(client);
    give(client, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 99});
    give(client, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 101});
    give(client, {.syn = true, .sequence = 50});
    give(client, {.ack = true, .sequence = 50, .acknowledge = 100}, pattern(8));
    give(client, {.syn = true, .ack = true, .acknowledge = 100, .parameters = {.max_outstanding = 0}});
    EXPECT_EQ(client.state(), rssi_state::syn_sent);
    EXPECT_EQ(client.counters().refused, 5U);
    give(client, {.rst = true});
    EXPECT_EQ(client.state(), rssi_state::syn_sent) << "the end of an earlier connection";
}

// Set-up of a server.

TEST_F(rssi_script, AServerAnswersASynWithItsOwnParametersAndOpensOnTheAcknowledgement) {
    rssi_connection server(rssi_role::server, {.parameters = {.max_outstanding = 8}});
    EXPECT_EQ(server.state(), rssi_state::listening);
    give(server, {.syn = true, .sequence = 7, .parameters = {.max_outstanding = 4, .max_segment = 600}});
    EXPECT_EQ(server.state(), rssi_state::syn_received);
    const auto s = sent(server);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.syn && s[0].header.ack);
    EXPECT_EQ(s[0].header.acknowledge, 7);
    EXPECT_EQ(s[0].header.parameters.max_outstanding, 8);
    give(server, {.ack = true, .sequence = 8, .acknowledge = s[0].header.sequence});
    EXPECT_EQ(server.state(), rssi_state::open);
    EXPECT_EQ(server.max_payload(), 592U) << "what the client takes";
}

TEST_F(rssi_script, DataInPlaceOfALostAcknowledgementOpensAServerToo) {
    rssi_connection server(rssi_role::server, {});
    give(server, {.syn = true, .sequence = 7});
    sent(server);
    give(server, {.ack = true, .sequence = 8, .acknowledge = 100}, pattern(16));
    EXPECT_EQ(server.state(), rssi_state::open);
    EXPECT_THAT(taken(server), ElementsAre(pattern(16)));
}

TEST_F(rssi_script, AServerRepeatsItsAnswerAndThenListensAgain) {
    rssi_connection server(rssi_role::server, {.parameters = {.max_retransmits = 3}});
    give(server, {.syn = true, .sequence = 7});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(sent(server).size(), 1U);
        pass(server, 20ms);
    }
    EXPECT_EQ(server.state(), rssi_state::listening);
    EXPECT_THAT(sent(server), IsEmpty());
}

TEST_F(rssi_script, ASecondSynBeforeTheAcknowledgementTakesItsPlace) {
    rssi_connection server(rssi_role::server, {});
    give(server, {.syn = true, .sequence = 7});
    sent(server);
    give(server, {.syn = true, .sequence = 8});
    EXPECT_EQ(sent(server)[0].header.acknowledge, 8);
    give(server, {.ack = true, .sequence = 9, .acknowledge = 100}, pattern(8));
    EXPECT_THAT(taken(server), ElementsAre(pattern(8)));
}

TEST_F(rssi_script, AServerThatListensHearsOnlySyns) {
    rssi_connection server(rssi_role::server, {});
    give(server, {.ack = true, .sequence = 8, .acknowledge = 100}, pattern(8));
    give(server, {.rst = true});
    give(server, {.syn = true, .ack = true, .sequence = 8});
    give(server, {.syn = true, .sequence = 8, .parameters = {.retransmit_timeout = 0}});
    EXPECT_EQ(server.state(), rssi_state::listening);
    EXPECT_THAT(sent(server), IsEmpty());
    EXPECT_EQ(server.counters().refused, 4U);
}

// Data and acknowledgements.

TEST_F(rssi_script, DataCarriesTheNextNumbersAndAnAcknowledgement) {
    auto client = open_client();
    client.send(pattern(8));
    client.send(pattern(9));
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 2U);
    EXPECT_EQ(s[0].header.sequence, 101);
    EXPECT_EQ(s[1].header.sequence, 102);
    EXPECT_EQ(s[1].header.acknowledge, 50);
    EXPECT_EQ(s[1].payload, pattern(9));
    EXPECT_EQ(client.unacknowledged(), 2U);
    give(client, {.ack = true, .sequence = 51, .acknowledge = 102});
    EXPECT_EQ(client.unacknowledged(), 0U) << "one acknowledgement for both";
}

TEST_F(rssi_script, OneSegmentIsAcknowledgedAfterAWhileTwoAtOnce) {
    auto client = open_client();
    give(client, {.ack = true, .sequence = 51, .acknowledge = 100}, pattern(8));
    EXPECT_THAT(sent(client), IsEmpty());
    EXPECT_EQ(client.next_deadline(), now + 5ms);
    pass(client, 5ms);
    auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_EQ(s[0].header.acknowledge, 51);
    EXPECT_TRUE(s[0].payload.empty());

    give(client, {.ack = true, .sequence = 52, .acknowledge = 100}, pattern(8));
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8));
    s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_EQ(s[0].header.acknowledge, 53);
}

TEST_F(rssi_script, NoMoreIsOutstandingThanTheOtherSideAllows) {
    auto client = open_client({.max_outstanding = 4});
    for (unsigned i = 0; i < 10; ++i) client.send(pattern(8, i));
    EXPECT_EQ(sent(client).size(), 4U);
    give(client, {.ack = true, .sequence = 51, .acknowledge = 102});
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 2U);
    EXPECT_EQ(s[0].payload, pattern(8, 4));
}

TEST_F(rssi_script, WhatIsNotAcknowledgedIsSentAgain) {
    auto client = open_client();
    client.send(pattern(8));
    sent(client);
    pass(client, 19ms);
    EXPECT_THAT(sent(client), IsEmpty());
    pass(client, 1ms);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_EQ(s[0].header.sequence, 101);
    EXPECT_EQ(s[0].payload, pattern(8));
    EXPECT_EQ(client.counters().retransmits, 1U);
    EXPECT_EQ(client.counters().sent, 1U);
}

TEST_F(rssi_script, AfterFifteenTransmissionsOfASegmentTheConnectionIsResetAndLost) {
    auto client = open_client();
    client.send(pattern(8));
    int transmissions = 0;
    for (int i = 0; i < 15; ++i) {
        for (const auto& s : sent(client)) transmissions += s.header.sequence == 101 && !s.payload.empty();
        pass(client, 20ms);
    }
    EXPECT_EQ(transmissions, 15);
    EXPECT_EQ(client.state(), rssi_state::lost);
    EXPECT_EQ(client.failure().code, bus_errc::connection_lost);
    EXPECT_THAT(client.failure().text, HasSubstr("never acknowledged"));
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.rst);
    EXPECT_FALSE(client.next_deadline());
}

TEST_F(rssi_script, SegmentsOutOfOrderAreKeptAndGivenInOrder) {
    auto client = open_client();
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8, 3));
    give(client, {.ack = true, .sequence = 52, .acknowledge = 100}, pattern(8, 2));
    EXPECT_THAT(taken(client), IsEmpty());
    give(client, {.ack = true, .sequence = 51, .acknowledge = 100}, pattern(8, 1));
    EXPECT_THAT(taken(client), ElementsAre(pattern(8, 1), pattern(8, 2), pattern(8, 3)));
    EXPECT_EQ(client.counters().out_of_order, 2U);
    EXPECT_EQ(sent(client).at(0).header.acknowledge, 53);
}

TEST_F(rssi_script, DuplicatesAreGivenOnceAndAcknowledgedAgain) {
    auto client = open_client();
    give(client, {.ack = true, .sequence = 51, .acknowledge = 100}, pattern(8));
    pass(client, 5ms);
    sent(client);
    give(client, {.ack = true, .sequence = 51, .acknowledge = 100}, pattern(8));
    EXPECT_EQ(taken(client).size(), 1U);
    EXPECT_EQ(sent(client).at(0).header.acknowledge, 51) << "the first may have been lost";
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8));
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8));
    EXPECT_EQ(client.counters().duplicates, 2U);
}

TEST_F(rssi_script, SegmentsBeyondTheWindowAreRefused) {
    auto client = open_client({}, {.parameters = {.max_outstanding = 4}});
    give(client, {.ack = true, .sequence = 55, .acknowledge = 100}, pattern(8));
    EXPECT_EQ(client.counters().refused, 1U);
    give(client, {.ack = true, .sequence = 54, .acknowledge = 100}, pattern(8));
    EXPECT_EQ(client.counters().out_of_order, 1U);
}

TEST_F(rssi_script, AnAcknowledgementOfWhatWasNeverSentIsRefusedWithAllThatComesWithIt) {
    auto client = open_client();
    client.send(pattern(8));
    sent(client);
    give(client, {.ack = true, .sequence = 51, .acknowledge = 102}, pattern(8));
    EXPECT_EQ(client.counters().refused, 1U);
    EXPECT_EQ(client.unacknowledged(), 1U);
    EXPECT_THAT(taken(client), IsEmpty());
    give(client, {.ack = true, .sequence = 51, .acknowledge = 90}, pattern(8));
    EXPECT_EQ(taken(client).size(), 1U) << "an old one is late, not wrong";
}

TEST_F(rssi_script, NumbersGoRoundManyTimes) {
    auto client = open_client();
    for (unsigned i = 0; i < 1000; ++i) {
        client.send(pattern(8, i));
        const auto s = sent(client);
        const auto data = std::find_if(s.begin(), s.end(), [](const auto& x) { return !x.payload.empty(); });
        ASSERT_NE(data, s.end());
        ASSERT_EQ(data->header.sequence, static_cast<std::uint8_t>(101 + i));
        give(client,
             {.ack = true,
              .sequence = static_cast<std::uint8_t>(51 + i),
              .acknowledge = static_cast<std::uint8_t>(101 + i)},
             pattern(8, i));
        ASSERT_THAT(taken(client), ElementsAre(pattern(8, i)));
    }
    EXPECT_EQ(client.unacknowledged(), 0U);
    EXPECT_EQ(client.counters().refused, 0U);
}

// Keep-alive.

TEST_F(rssi_script, AnIdleClientSendsANulWithANumberEachThirdOfTheNullTimeout) {
    auto client = open_client({.null_timeout = 900});
    pass(client, 299ms);
    EXPECT_THAT(sent(client), IsEmpty());
    pass(client, 1ms);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.nul && s[0].header.ack);
    EXPECT_EQ(s[0].header.sequence, 101);
    EXPECT_EQ(client.unacknowledged(), 1U);
    give(client, {.ack = true, .sequence = 51, .acknowledge = 101});
    client.send(pattern(8));
    EXPECT_EQ(sent(client).at(0).header.sequence, 102);
}

TEST_F(rssi_script, AServerAcknowledgesANulAndGivesNothingForIt) {
    auto server = open_server();
    give(server, {.ack = true, .nul = true, .sequence = 51, .acknowledge = 100});
    pass(server, 5ms);
    EXPECT_EQ(sent(server).at(0).header.acknowledge, 51);
    EXPECT_THAT(taken(server), IsEmpty());
}

TEST_F(rssi_script, AServerGivesUpAClientThatIsSilent) {
    auto server = open_server({.parameters = {.null_timeout = 900}});
    pass(server, 899ms);
    EXPECT_EQ(server.state(), rssi_state::open);
    give(server, {.ack = true, .sequence = 51, .acknowledge = 100});
    pass(server, 899ms);
    EXPECT_EQ(server.state(), rssi_state::open);
    pass(server, 1ms);
    EXPECT_EQ(server.state(), rssi_state::lost);
    EXPECT_TRUE(sent(server).at(0).header.rst);
}

TEST_F(rssi_script, WhatComesWithANulIsNoData) {
    auto server = open_server();
    give(server, {.ack = true, .nul = true, .sequence = 51, .acknowledge = 100}, pattern(8));
    give(server, {.ack = true, .sequence = 52, .acknowledge = 100}, pattern(8, 1));
    EXPECT_THAT(taken(server), ElementsAre(pattern(8, 1)));
}

// Busy.

TEST_F(rssi_script, ToABusySideNothingNewIsSentAndNothingRepeated) {
    auto client = open_client();
    client.send(pattern(8));
    sent(client);
    give(client, {.ack = true, .busy = true, .sequence = 51, .acknowledge = 100});
    EXPECT_TRUE(client.peer_busy());
    client.send(pattern(9));
    for (int i = 0; i < 16; ++i) pass(client, 20ms); // longer than all retransmits would take
    for (const auto& s : sent(client)) EXPECT_TRUE(s.header.nul) << "only the keep-alive";
    EXPECT_EQ(client.state(), rssi_state::open);

    give(client, {.ack = true, .sequence = 51, .acknowledge = 101});
    EXPECT_EQ(sent(client).at(0).payload, pattern(9));
}

TEST_F(rssi_script, AFullWindowAtABusySideIsProbed) {
    auto client = open_client({.max_outstanding = 1, .null_timeout = 900});
    client.send(pattern(8));
    sent(client);
    give(client, {.ack = true, .busy = true, .sequence = 51, .acknowledge = 100});
    pass(client, 300ms);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_EQ(s[0].payload, pattern(8));
}

TEST_F(rssi_script, WhoTakesNothingIsBusyUntilHeDoes) {
    auto client = open_client({}, {.parameters = {.max_outstanding = 2}});
    for (std::uint8_t i = 0; i < 2; ++i)
        give(client, {.ack = true, .sequence = static_cast<std::uint8_t>(51 + i), .acknowledge = 100},
             pattern(8, i));
    EXPECT_TRUE(sent(client).at(0).header.busy);
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8, 2));
    pass(client, 5ms);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.busy);
    EXPECT_EQ(s[0].header.acknowledge, 52) << "what there is no room for comes again";
    EXPECT_EQ(taken(client).size(), 2U);
    EXPECT_FALSE(sent(client).at(0).header.busy) << "says so by itself";
    give(client, {.ack = true, .sequence = 53, .acknowledge = 100}, pattern(8, 2));
    EXPECT_THAT(taken(client), ElementsAre(pattern(8, 2)));
}

// Ends.

TEST_F(rssi_script, AResetEndsTheConnectionWithoutAnAnswer) {
    auto client = open_client();
    client.send(pattern(8));
    give(client, {.rst = true, .sequence = 51});
    EXPECT_EQ(client.state(), rssi_state::lost);
    EXPECT_THAT(client.failure().text, HasSubstr("reset"));
    EXPECT_THAT(sent(client), IsEmpty());
    EXPECT_EQ(client.unacknowledged(), 0U);
}

TEST_F(rssi_script, ASynOnAnOpenConnectionResetsIt) {
    auto client = open_client();
    give(client, {.syn = true, .sequence = 9});
    EXPECT_EQ(client.state(), rssi_state::lost);
    EXPECT_TRUE(sent(client).at(0).header.rst);
    auto server = open_server();
    give(server, {.syn = true, .sequence = 9});
    EXPECT_EQ(server.state(), rssi_state::lost);
    EXPECT_TRUE(sent(server).at(0).header.rst);
}

TEST_F(rssi_script, TheSameSynAgainIsADuplicateAndNotANewConnection) {
    auto client = open_client();
    give(client, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 100});
    EXPECT_EQ(client.state(), rssi_state::open);
    EXPECT_EQ(sent(client).at(0).header.acknowledge, 50) << "ours was lost";
    auto server = open_server();
    give(server, {.syn = true, .sequence = 50});
    EXPECT_EQ(server.state(), rssi_state::open);
}

TEST_F(rssi_script, CloseTellsThePeerOnceAndForgetsEverything) {
    auto client = open_client();
    client.send(pattern(8));
    client.close(now);
    EXPECT_EQ(client.state(), rssi_state::closed);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.rst);
    client.close(now);
    EXPECT_THAT(sent(client), IsEmpty());
    give(client, {.ack = true, .sequence = 51, .acknowledge = 101}, pattern(8));
    EXPECT_THAT(taken(client), IsEmpty());
}

TEST_F(rssi_script, AfterALossTheClientConnectsAnewWithLaterNumbers) {
    auto client = open_client();
    give(client, {.rst = true});
    client.connect(now);
    const auto s = sent(client);
    ASSERT_EQ(s.size(), 1U);
    EXPECT_TRUE(s[0].header.syn);
    EXPECT_EQ(s[0].header.sequence, 101);
    give(client, {.syn = true, .ack = true, .sequence = 200, .acknowledge = 101});
    EXPECT_EQ(client.state(), rssi_state::open);
    EXPECT_FALSE(client.failure());
}

TEST_F(rssi_script, ConfigurationsOutsideTheirLimitsAreRefused) {
    EXPECT_FALSE(validate(rssi_config{}));
    EXPECT_EQ(validate(rssi_config{.parameters = {.max_segment = 9001}}).code, errc::invalid_argument);
    EXPECT_EQ(validate(rssi_config{.parameters = {.max_outstanding = 0}}).code, errc::invalid_argument);
    EXPECT_EQ(validate(rssi_config{.try_period = 0ms}).code, errc::invalid_argument);
    EXPECT_EQ(validate(rssi_config{.try_period = 61s}).code, errc::invalid_argument);
}

} // namespace
} // namespace rocio::fpga
