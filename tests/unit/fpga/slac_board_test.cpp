#include "slac_fixture.hpp"

namespace rocio::fpga {
namespace {

using testing::HasSubstr;

class slac_board_test : public slac_fixture {
  protected:
    void write(std::uint64_t address, std::uint32_t value) {
        EXPECT_EQ(board.write(address, value), bus_response::ok) << std::hex << address;
    }
    std::uint32_t read(std::uint64_t address) {
        std::uint32_t value = 0;
        EXPECT_EQ(board.read(address, value), bus_response::ok) << std::hex << address;
        return value;
    }
    slac_reply ask(const slac_request& request) {
        slac_request_words words;
        EXPECT_FALSE(encode(request, words));
        for (std::uint32_t i = 0; i < words.size(); ++i) write(at(0xF04 + 4 * i), words[i]);
        write(at(0xF00), 1);
        write(at(0xF00), 0);
        EXPECT_EQ(read(at(0xF00)), 2U) << "the reply is there";
        return last_reply();
    }
    slac_reply last_reply() {
        slac_reply_words words;
        for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = read(at(0xF2C + 4 * i));
        slac_reply reply;
        EXPECT_FALSE(decode(words, reply));
        return reply;
    }
    bool ok(const slac_request& request) {
        return std::visit([](const auto& r) { return r.ok; }, ask(request));
    }
    static slac_mr_request region(std::uint32_t pd, std::uint32_t part) {
        slac_mr_request r;
        r.allocate = true;
        r.length = 4096;
        r.pd_handler = pd;
        r.lkey_part = r.rkey_part = part;
        return r;
    }
    slac_request go(std::uint32_t state, std::uint32_t mask, unsigned path_mtu = 5) {
        return slac_modify_qp(0x203, state, mask, path_mtu);
    }
    void switch_on() {
        write(at(0x200C), keys.lkey_part);
        write(at(0x2000), 1);
        write(prbs_base, slac_prbs::axi_enable | slac_prbs::tx_enable);
    }
};

TEST_F(slac_board_test, HasOneDomainTwoRegionsAndOneQueuePair) {
    EXPECT_TRUE(ok(slac_allocate_pd(7)));
    EXPECT_FALSE(ok(slac_allocate_pd(8)));
    EXPECT_TRUE(ok(region(7, 1)));
    EXPECT_TRUE(ok(region(7, 2)));
    EXPECT_FALSE(ok(region(7, 3)));
    EXPECT_TRUE(ok(slac_create_qp(7)));
    EXPECT_FALSE(ok(slac_create_qp(7)));
    EXPECT_EQ(board.resources_allocated(), 4U);
    EXPECT_EQ(board.requests(), 7U);
    EXPECT_EQ(board.refusals(), 3U);
}

TEST_F(slac_board_test, KeysAreMadeOfTheHostsPartAndTheRegionsNumber) {
    ask(slac_allocate_pd(7));
    const auto first = std::get<slac_mr_reply>(ask(region(7, 0x11)));
    const auto second = std::get<slac_mr_reply>(ask(region(7, 0x22)));
    EXPECT_EQ(first.lkey, 0x11U);
    EXPECT_EQ(second.lkey, 0x8000'0022U);
    EXPECT_EQ(second.length, 4096U);
}

TEST_F(slac_board_test, NothingIsMadeInADomainThatDoesNotExist) {
    EXPECT_FALSE(ok(region(7, 1)));
    EXPECT_FALSE(ok(slac_create_qp(7)));
    ask(slac_allocate_pd(7));
    EXPECT_FALSE(ok(region(8, 1)));
    EXPECT_FALSE(ok(slac_create_qp(8)));
}

TEST_F(slac_board_test, WhatIsInUseIsNotFreed) {
    ask(slac_allocate_pd(7));
    ask(region(7, 1));
    EXPECT_FALSE(ok(slac_free_pd(7))) << "a region is in it";
    ask(slac_create_qp(7));
    EXPECT_FALSE(ok(slac_free_mr(7, 1, 1))) << "a queue pair may use it";
    EXPECT_FALSE(ok(slac_destroy_qp(0x203))) << "not in ERR";
    EXPECT_TRUE(ok(go(slac_qp_state::error, slac_qp_mask::state)));
    EXPECT_FALSE(ok(slac_destroy_qp(0x204)));
    EXPECT_TRUE(ok(slac_destroy_qp(0x203)));
    EXPECT_FALSE(ok(slac_free_mr(7, 2, 2)));
    EXPECT_TRUE(ok(slac_free_mr(7, 1, 1)));
    EXPECT_FALSE(ok(slac_free_pd(8)));
    EXPECT_TRUE(ok(slac_free_pd(7)));
    EXPECT_EQ(board.resources_allocated(), 0U);
}

TEST_F(slac_board_test, OnlyTheKnownTransitionsAreTaken) {
    ask(slac_allocate_pd(7));
    EXPECT_FALSE(ok(go(slac_qp_state::init, slac_qp_mask::to_init))) << "there is none";
    ask(slac_create_qp(7));
    EXPECT_FALSE(ok(go(slac_qp_state::rtr, slac_qp_mask::to_rtr)));
    EXPECT_FALSE(ok(go(slac_qp_state::rts, slac_qp_mask::to_rts)));
    EXPECT_FALSE(ok(go(slac_qp_state::init, slac_qp_mask::state))) << "attributes are missing";
    EXPECT_TRUE(ok(go(slac_qp_state::init, slac_qp_mask::to_init)));
    EXPECT_FALSE(ok(go(slac_qp_state::rts, slac_qp_mask::to_rts)));
    EXPECT_FALSE(ok(go(slac_qp_state::rtr, slac_qp_mask::to_rtr, 6))) << "no such path MTU";
    EXPECT_FALSE(ok(go(slac_qp_state::rtr, slac_qp_mask::to_rtr, 0)));
    const auto rtr = std::get<slac_qp_reply>(ask(go(slac_qp_state::rtr, slac_qp_mask::to_rtr)));
    EXPECT_TRUE(rtr.ok);
    EXPECT_EQ(rtr.qpn, 0x203U);
    EXPECT_EQ(rtr.attributes.state, slac_qp_state::rtr);
    EXPECT_FALSE(ok(go(slac_qp_state::rtr, slac_qp_mask::to_rtr)));
    EXPECT_TRUE(ok(go(slac_qp_state::rts, slac_qp_mask::to_rts)));
    EXPECT_FALSE(ok(go(slac_qp_state::init, slac_qp_mask::to_init)));
    EXPECT_TRUE(ok(go(slac_qp_state::error, slac_qp_mask::state)));
    EXPECT_FALSE(ok(go(slac_qp_state::rts, slac_qp_mask::to_rts)));
}

TEST_F(slac_board_test, ARefusalTellsTheQueuePairsState) {
    ask(slac_allocate_pd(7));
    ask(slac_create_qp(7));
    const auto refused = std::get<slac_qp_reply>(ask(go(slac_qp_state::rts, slac_qp_mask::to_rts)));
    EXPECT_FALSE(refused.ok);
    EXPECT_EQ(refused.attributes.state, slac_qp_state::create);
}

TEST_F(slac_board_test, EachQueuePairHasANumberOfItsOwn) {
    for (const std::uint32_t expected : {0x203U, 0x204U, 0x205U}) {
        ASSERT_FALSE(set_up().result);
        EXPECT_EQ(session->qpn, expected);
        ASSERT_FALSE(tear_down().result);
    }
}

TEST_F(slac_board_test, OnlyARisingEdgeStartsARequest) {
    ask(slac_allocate_pd(7));
    write(at(0xF00), 0);
    write(at(0xF00), 0);
    EXPECT_EQ(board.requests(), 1U);
    write(at(0xF00), 1);
    write(at(0xF00), 1);
    write(at(0xF00), 3);
    EXPECT_EQ(board.requests(), 2U);
}

TEST_F(slac_board_test, AnEdgeWhileARequestIsOpenIsIgnored) {
    board.faults().reply_after_reads = 3;
    write(at(0xF00), 1);
    write(at(0xF00), 0);
    write(at(0xF00), 1);
    EXPECT_EQ(board.requests(), 1U);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read(at(0xF00)), 1U) << "still open";
    EXPECT_EQ(read(at(0xF00)), 3U);
}

TEST_F(slac_board_test, AWedgedEngineAnswersAgainAfterSoftReset) {
    board.faults().wedge_at = 2;
    EXPECT_TRUE(ok(slac_allocate_pd(7)));
    for (int i = 0; i < 3; ++i) {
        write(at(0xF00), 1);
        write(at(0xF00), 0);
        EXPECT_EQ(read(at(0xF00)), 0U);
    }
    EXPECT_EQ(board.requests(), 2U);
    write(at(0xF50), 1);
    write(at(0xF50), 0);
    EXPECT_EQ(board.resources_allocated(), 0U);
    EXPECT_TRUE(ok(slac_allocate_pd(7)));
}

TEST_F(slac_board_test, ARequestOfAnUnknownTypeWedgesTheEngine) {
    write(at(0xF28), 0x6000);
    write(at(0xF00), 1);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(read(at(0xF00)), 1U);
}

TEST_F(slac_board_test, UnknownAddressesAreDecodeErrors) {
    std::uint32_t value = 0;
    for (const std::uint64_t address : {0x0ULL, 0x150000ULL, 0x150F54ULL, 0x152024ULL, 0x153000ULL,
                                        0x110020ULL, 0x160014ULL, 0x150F01ULL, 0x1'0015'0F00ULL, ~0ULL - 3}) {
        EXPECT_EQ(board.read(address, value), bus_response::decode_error) << std::hex << address;
        EXPECT_EQ(board.write(address, 1), bus_response::decode_error) << std::hex << address;
    }
    slac_board old(port, {.has_soft_reset = false});
    EXPECT_EQ(old.write(at(0xF50), 1), bus_response::decode_error);
}

TEST_F(slac_board_test, RegistersKeepTheirBits) {
    write(at(0xF28), 0xFFFF'FFFF);
    EXPECT_EQ(read(at(0xF28)), 0x7FFFU) << "303 bits";
    write(at(0x2010), 0xFFFF'FFFF);
    EXPECT_EQ(read(at(0x2010)), 0xFF'FFFFU);
    write(at(0x2014), 0xFFFF'FFFF);
    EXPECT_EQ(read(at(0x2014)), 0x1FF'FFFFU);
    write(at(0x201C), 0x1234'5678);
    EXPECT_EQ(read(at(0x201C)), 0x1234'5678U);
    write(at(0x1004), 5);
    EXPECT_EQ(read(at(0x1004)), 5U);
    write(0x110000, 0xFFFF'FFFF);
    EXPECT_EQ(read(0x110000), 0xFFFFU);
    write(at(0x2004), 1);
    EXPECT_EQ(read(at(0x2004)), 4096U) << "read only";
}

// ---- The source

TEST_F(slac_board_test, FramesFlowWhileEverythingIsThere) {
    ASSERT_FALSE(set_up().result);
    write(at(0x200C), keys.lkey_part);
    write(prbs_base, slac_prbs::tx_enable);
    EXPECT_FALSE(port.runs);
    write(at(0x2000), 1);
    EXPECT_TRUE(port.runs);
    EXPECT_EQ(read(prbs_base), slac_prbs::tx_enable | slac_prbs::busy);
    write(prbs_base, 0);
    EXPECT_FALSE(port.runs);
    write(prbs_base, slac_prbs::tx_enable);
    EXPECT_TRUE(port.runs);
    write(at(0x2000), 0);
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(port.starts.size(), 2U);
}

TEST_F(slac_board_test, NothingFlowsBeforeTheQueuePairIsInRts) {
    switch_on();
    EXPECT_FALSE(port.runs);
    config.soft_reset = false;
    // slac_setup switches the Core off first; here it is switched on again under its feet.
    ASSERT_FALSE(set_up().result);
    EXPECT_FALSE(port.runs);
    write(at(0x2000), 1);
    EXPECT_TRUE(port.runs);
    ask(slac_modify_qp(*session->qpn, slac_qp_state::error, slac_qp_mask::state, 1));
    EXPECT_FALSE(port.runs);
}

TEST_F(slac_board_test, AKeyOfNoRegionCountsAsFailure) {
    ASSERT_FALSE(set_up().result);
    switch_on();
    EXPECT_TRUE(port.runs);
    write(at(0x200C), 0x99);
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(read(at(0x2104)), 1U);
    write(at(0x200C), keys.lkey_part);
    EXPECT_TRUE(port.runs);
}

TEST_F(slac_board_test, TheUdpEnginesBytesAreSwapped) {
    ASSERT_FALSE(set_up().result);
    write(0x110000, 0xB712);
    write(0x110004, 0x0102'A8C0);
    switch_on();
    ASSERT_TRUE(port.runs);
    EXPECT_EQ(port.starts.back().host_port, 4791U);
    EXPECT_EQ(port.starts.back().host_ip, 0xC0A8'0201U) << "192.168.2.1";
}

TEST_F(slac_board_test, AnotherUdpClientHasItsOwnRegisters) {
    slac_board other(port, {.udp_clients = 2, .udp_client = 1});
    test::program_driver to_other(other);
    auto program = make_setup();
    ASSERT_FALSE(to_other.run(program).result);
    (void)other.write(0x110000, 0x1111);
    (void)other.write(0x110008, 0xB712);
    slac_arm start(config, session, path);
    ASSERT_FALSE(to_other.run(start).result);
    EXPECT_EQ(port.starts.back().host_port, 4791U);
}

TEST_F(slac_board_test, PacketLengthAndTriggerDelayShapeTheStream) {
    ASSERT_FALSE(set_up().result);
    switch_on();
    EXPECT_EQ(port.starts.back().payload_bytes, 4096U);
    EXPECT_EQ(port.starts.back().word_bits, 256U);
    EXPECT_EQ(port.starts.back().rate(), 0.0);
    write(prbs_base + 0x04, 31);
    write(prbs_base + 0x1C, 156'249);
    EXPECT_EQ(port.starts.back().payload_bytes, 1024U);
    EXPECT_DOUBLE_EQ(port.starts.back().rate(), 1000.0);
    EXPECT_EQ(port.starts.size(), port.stops + 1U);
    EXPECT_EQ(read(prbs_base + 0x20), 256U);
}

TEST_F(slac_board_test, FramesLongerThanThePathMtuAreOversize) {
    transport.path_mtu = mtu::b1024;
    ASSERT_FALSE(set_up().result);
    switch_on();
    EXPECT_FALSE(port.runs) << "4096 bytes do not fit";
    EXPECT_EQ(read(at(0x210C)), 1U);
    write(prbs_base + 0x04, 31);
    EXPECT_TRUE(port.runs);
    write(prbs_base + 0x04, 0xFFFF'FFFF);
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(read(at(0x210C)), 2U);
}

TEST_F(slac_board_test, WithoutAPrbsSourceDispatchEnableAloneStarts) {
    slac_board plain(port, {.prbs_present = false, .payload_bytes = 2000});
    test::program_driver to_plain(plain);
    config.prbs_base.reset();
    auto program = make_setup();
    ASSERT_FALSE(to_plain.run(program).result);
    slac_arm start(config, session, path);
    ASSERT_FALSE(to_plain.run(start).result);
    ASSERT_TRUE(port.runs);
    EXPECT_EQ(port.starts.back().payload_bytes, 2000U);
    std::uint32_t value = 0;
    EXPECT_EQ(plain.read(prbs_base, value), bus_response::decode_error);
}

TEST_F(slac_board_test, CountersAreTheOwnersAndAreReset) {
    ASSERT_FALSE(set_up().result);
    switch_on();
    board.count({.frames = 10, .failed = 2, .frames_per_second = 100, .bytes_per_second = 409'600});
    board.count({.frames = 0xFF'FFFF, .failed = 0, .frames_per_second = 50, .bytes_per_second = 1});
    EXPECT_EQ(read(at(0x2100)), 9U) << "24 bits";
    EXPECT_EQ(read(at(0x2104)), 2U);
    EXPECT_EQ(read(at(0x2200)), 0x100'0009U);
    EXPECT_EQ(read(at(0x2208)), 50U);
    EXPECT_EQ(read(at(0x220C)), 100U);
    EXPECT_EQ(read(at(0x2210)), 50U);
    write(at(0x2108), 1);
    write(at(0x2108), 0);
    EXPECT_EQ(read(at(0x2100)), 0U);
    EXPECT_TRUE(port.runs);
    board.count({.frames = 1, .failed = 0, .frames_per_second = 0, .bytes_per_second = 0});
    write(at(0x2000), 0);
    EXPECT_EQ(read(at(0x2100)), 0U);
}

TEST_F(slac_board_test, APowerCycleForgetsEverything) {
    ASSERT_FALSE(set_up().result);
    switch_on();
    board.power_cycle();
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(board.resources_allocated(), 0U);
    EXPECT_EQ(read(at(0x2000)), 0U);
    EXPECT_EQ(read(at(0xF00)), 0U);
}

TEST_F(slac_board_test, AStalePowerCycleLeavesTheEnginesObjects) {
    ASSERT_FALSE(set_up().result);
    switch_on();
    board.power_cycle(true);
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(board.resources_allocated(), 3U);
    EXPECT_FALSE(ok(slac_allocate_pd(1)));
}

TEST_F(slac_board_test, RefusesAConfigurationThatCannotBe) {
    EXPECT_THROW(slac_board(port, {.word_bits = 0}), exception);
    EXPECT_THROW(slac_board(port, {.word_bits = 33}), exception);
    EXPECT_THROW(slac_board(port, {.word_bits = 2048}), exception);
    EXPECT_THROW(slac_board(port, {.udp_clients = 1, .udp_client = 1}), exception);
    EXPECT_NO_THROW(slac_board(port, {.word_bits = 1024}));
}

} // namespace
} // namespace rocio::fpga
