#include "slac_fixture.hpp"

#include <algorithm>

namespace rocio::fpga {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using kind = register_step::kind;

class slac_programs : public slac_fixture {
  protected:
    std::vector<slac_request> seen;

    /// Decodes each request that a rising edge of SendMetaData starts.
    void watch_requests() {
        driver.on_step = [this, tx = slac_request_words{}, send = 0U](const register_step& s) mutable {
            if (s.what != kind::write) return;
            const auto offset = s.address - config.engine_base;
            if (offset >= 0xF04 && offset < 0xF2C) tx[(offset - 0xF04) / 4] = s.value;
            if (offset != 0xF00) return;
            if (send == 0 && s.value == 1) {
                slac_request r;
                EXPECT_FALSE(decode(tx, r));
                seen.push_back(r);
            }
            send = s.value;
        };
    }
    std::uint32_t reg(std::uint32_t offset) {
        std::uint32_t value = 0;
        EXPECT_EQ(board.read(at(offset), value), bus_response::ok);
        return value;
    }
};

TEST_F(slac_programs, SetUpTakesSixRequestsAndOneReset) {
    const auto out = set_up();
    EXPECT_FALSE(out.result) << out.result.text;
    EXPECT_EQ(board.requests(), 6U);
    EXPECT_EQ(board.soft_resets(), 1U);
    EXPECT_EQ(board.refusals(), 0U);
    EXPECT_EQ(board.resources_allocated(), 3U);
    EXPECT_EQ(session->pd_handler, keys.pd_key);
    EXPECT_EQ(session->qpn, 0x203U);
    ASSERT_TRUE(session->region);
    EXPECT_EQ(session->region->lkey, keys.lkey_part);
    EXPECT_EQ(session->region->rkey, keys.rkey_part);
    const auto s = session->snapshot();
    EXPECT_EQ(s.state, "set up");
    EXPECT_EQ(s.fpga_qpn, 0x203U);
    EXPECT_EQ(s.lkey, keys.lkey_part);
    EXPECT_EQ(s.requests, 6U);
    EXPECT_EQ(s.warnings, 0U);
}

TEST_F(slac_programs, SetUpSendsWhatTheVectorsSay) {
    transport.path_mtu = mtu::b2048;
    transport.min_rnr_timer = rnr_timer(1);
    watch_requests();
    ASSERT_FALSE(set_up().result);
    ASSERT_EQ(seen.size(), 6U);
    EXPECT_TRUE(seen[0] == slac_request(slac_allocate_pd(keys.pd_key)));
    const auto& mr = std::get<slac_mr_request>(seen[1]);
    EXPECT_EQ(mr.address, host.region_address);
    EXPECT_EQ(mr.length, host.region_length);
    EXPECT_EQ(mr.access, 0x0FU);
    EXPECT_TRUE(seen[2] == slac_request(slac_create_qp(keys.pd_key)));
    EXPECT_TRUE(seen[3] == slac_request(slac_modify_qp(0x203, slac_qp_state::init, 0x19, 4)));
    auto rtr = slac_modify_qp(0x203, slac_qp_state::rtr, 0x129101, 4);
    rtr.attributes.dqpn = host.qpn;
    rtr.attributes.rq_psn = host.fpga_rq_psn;
    EXPECT_TRUE(seen[4] == slac_request(rtr));
    auto rts = slac_modify_qp(0x203, slac_qp_state::rts, 0x12E01, 4);
    rts.attributes.sq_psn = host.fpga_sq_psn;
    rts.attributes.rnr_retry = 7;
    EXPECT_TRUE(seen[5] == slac_request(rts));
}

TEST_F(slac_programs, TheDataPathIsSwitchedOffBeforeTheEngineIsReset) {
    ASSERT_FALSE(set_up().result);
    ASSERT_GE(driver.trace.size(), 6U);
    EXPECT_EQ(driver.trace[0], register_step::write(at(0x2000), 0));
    EXPECT_EQ(driver.trace[1], register_step::write(at(0xF50), 1));
    EXPECT_EQ(driver.trace[2], register_step::write(at(0xF50), 0));
    EXPECT_EQ(driver.trace[3], register_step::pause(50ms));
    EXPECT_EQ(driver.trace[4], register_step::write(at(0xF00), 0));
    EXPECT_EQ(driver.trace[5], register_step::pause(100ms));
}

TEST_F(slac_programs, ARequestStaysUpUntilItsReplyIsRead) {
    ASSERT_FALSE(set_up().result);
    const auto up = std::ranges::find(driver.trace, register_step::write(at(0xF00), 1));
    ASSERT_NE(up, driver.trace.end());
    const auto down = std::find(up, driver.trace.end(), register_step::write(at(0xF00), 0));
    EXPECT_NE(std::find(up, down, register_step::read(at(0xF4C))), down) << "MetaDataRx is read in between";
    EXPECT_EQ(std::count(up - 20, up, register_step::write(at(0xF04), 0)), 1)
        << "MetaDataTx is written before";
}

TEST_F(slac_programs, MaximaAreTaken) {
    auto h = host;
    h.region_length = 0xFFFF'FFFF;
    h.qpn = h.fpga_rq_psn = h.fpga_sq_psn = 0xFF'FFFF;
    h.region_address = ~std::uint64_t{0};
    slac_setup program(config, session, h, transport, keys);
    const auto out = driver.run(program);
    EXPECT_FALSE(out.result) << out.result.text;
}

TEST_F(slac_programs, WhatDoesNotFitIsRefusedBeforeAnythingIsSent) {
    const auto refused = [this](slac_host h, const char* what) {
        slac_setup program(config, session, h, transport, keys);
        const auto out = driver.run(program);
        EXPECT_EQ(out.result.code, errc::invalid_argument) << what;
        EXPECT_THAT(out.result.text, HasSubstr(what));
        EXPECT_EQ(out.steps, 0U) << what;
    };
    auto h = host;
    h.region_length = std::uint64_t{1} << 32;
    refused(h, "region length is 4294967296");
    h.region_length = static_cast<std::uint64_t>(-1);
    refused(h, "region length");
    h = host;
    h.qpn = 1 << 24;
    refused(h, "queue pair number is 16777216");
    h = host;
    h.fpga_rq_psn = 1 << 24;
    refused(h, "receiver");
    h = host;
    h.fpga_sq_psn = 1 << 24;
    refused(h, "sender");
    EXPECT_EQ(board.requests() + board.soft_resets(), 0U);
}

TEST_F(slac_programs, APathMtuOutsideTheCodesIsRefusedBeforeAnythingIsSent) {
    for (const unsigned code : {0U, 6U, 255U}) {
        transport.path_mtu = static_cast<mtu>(code);
        const auto out = set_up();
        EXPECT_EQ(out.result.code, errc::invalid_argument);
        EXPECT_THAT(out.result.text, HasSubstr("path_mtu"));
        EXPECT_EQ(out.steps, 0U);
    }
}

TEST_F(slac_programs, ASessionHoldsOneConnection) {
    ASSERT_FALSE(set_up().result);
    const auto out = set_up();
    EXPECT_EQ(out.result.code, errc::invalid_state);
    EXPECT_EQ(out.steps, 0U);
    EXPECT_EQ(board.resources_allocated(), 3U);
}

TEST_F(slac_programs, TearDownWithoutAConnectionSendsNothing) {
    EXPECT_EQ(tear_down().steps, 0U);
}

TEST_F(slac_programs, TearDownTakesFourRequestsInReverse) {
    ASSERT_FALSE(set_up().result);
    watch_requests();
    const auto out = tear_down();
    EXPECT_FALSE(out.result) << out.result.text;
    ASSERT_EQ(seen.size(), 4U);
    EXPECT_TRUE(seen[0] == slac_request(slac_modify_qp(0x203, slac_qp_state::error, 1, 1)));
    EXPECT_TRUE(seen[1] == slac_request(slac_destroy_qp(0x203)));
    EXPECT_TRUE(seen[2] == slac_request(slac_free_mr(keys.pd_key, keys.lkey_part, keys.rkey_part)));
    EXPECT_TRUE(seen[3] == slac_request(slac_free_pd(keys.pd_key)));
    EXPECT_EQ(board.resources_allocated(), 0U);
    EXPECT_EQ(board.refusals(), 0U) << "all of it was freed before SoftReset";
    EXPECT_EQ(board.soft_resets(), 2U);
    EXPECT_EQ(session->snapshot().state, "released");
    EXPECT_EQ(session->snapshot().fpga_qpn, 0U);
    EXPECT_EQ(tear_down().steps, 0U);
}

TEST_F(slac_programs, AConnectionCanBeMadeAgainAndAgain) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_FALSE(set_up().result);
        ASSERT_FALSE(arm().result);
        EXPECT_TRUE(port.runs);
        ASSERT_FALSE(disarm().result);
        ASSERT_FALSE(tear_down().result);
        EXPECT_EQ(board.resources_allocated(), 0U);
    }
    EXPECT_EQ(board.refusals(), 0U);
}

TEST_F(slac_programs, FirmwareWithoutSoftResetOnlyGivesAWarning) {
    slac_board old(port, {.has_soft_reset = false});
    test::program_driver to_old(old);
    auto program = make_setup();
    const auto out = to_old.run(program);
    EXPECT_FALSE(out.result) << out.result.text;
    EXPECT_EQ(session->snapshot().warnings, 1U);
    EXPECT_THAT(session->snapshot().last_warning, HasSubstr("soft reset"));
    slac_teardown end(config, session);
    EXPECT_FALSE(to_old.run(end).result);
    EXPECT_EQ(old.resources_allocated(), 0U);
}

TEST_F(slac_programs, SoftResetCanBeLeftOut) {
    config.soft_reset = false;
    EXPECT_FALSE(set_up().result);
    EXPECT_FALSE(tear_down().result);
    config.soft_reset = true;
    config.map.soft_reset.reset();
    EXPECT_FALSE(set_up().result);
    EXPECT_FALSE(tear_down().result);
    EXPECT_EQ(board.soft_resets(), 0U);
    EXPECT_EQ(board.resources_allocated(), 0U);
}

TEST_F(slac_programs, AnotherRegisterMapIsAnotherValue) {
    slac_register_map other;
    other.send_metadata = other.receive_metadata = 0x0F10;
    other.metadata_tx = 0x0A00;
    other.metadata_rx = 0x0A80;
    other.soft_reset = 0x0AF0;
    slac_board moved(port, {.map = other});
    test::program_driver to_moved(moved);
    config.map = other;
    auto program = make_setup();
    const auto out = to_moved.run(program);
    EXPECT_FALSE(out.result) << out.result.text;
    EXPECT_EQ(moved.resources_allocated(), 3U);
    EXPECT_EQ(moved.soft_resets(), 1U);
}

// ---- The data path

TEST_F(slac_programs, ArmingTellsTheCoreWhatItNeeds) {
    ASSERT_FALSE(set_up().result);
    ASSERT_FALSE(arm().result);
    EXPECT_EQ(reg(0x2000), 1U);
    EXPECT_EQ(reg(0x200C), keys.lkey_part);
    EXPECT_EQ(reg(0x2010), 0x123456U) << "SQpn is the host's, as the original's scripts write it";
    EXPECT_EQ(reg(0x2014), 0U);
    EXPECT_EQ(reg(0x2020), host.region_length / path.max_payload);
    ASSERT_EQ(port.starts.size(), 1U);
    const auto& s = port.starts[0];
    EXPECT_EQ(s.host_qpn, host.qpn);
    EXPECT_EQ(s.fpga_qpn, 0x203U);
    EXPECT_EQ(s.sq_psn, host.fpga_sq_psn);
    EXPECT_EQ(s.rq_psn, host.fpga_rq_psn);
    EXPECT_EQ(s.counter_wrap, 64U);
    EXPECT_EQ(s.path_mtu, 5U);
    EXPECT_EQ(s.min_rnr_timer, 12U);
    EXPECT_EQ(s.rnr_retry, 7U);
    EXPECT_EQ(s.retry_count, 3U);
    EXPECT_EQ(s.timeout, 14U);
    EXPECT_EQ(session->snapshot().state, "armed");
}

TEST_F(slac_programs, SqpnAndTheCountersWrapAreOptions) {
    config.sqpn = slac_sqpn::fpga;
    config.counter_wrap = 0;
    ASSERT_FALSE(set_up().result);
    ASSERT_FALSE(arm().result);
    EXPECT_EQ(reg(0x2010), 0x203U);
    EXPECT_EQ(reg(0x2020), 0U);
}

TEST_F(slac_programs, SlotsShorterThanTheFpgasFramesAreRefused) {
    ASSERT_FALSE(set_up().result);
    slac_arm program(config, session, {.host_qpn = 1, .region_length = 65536, .max_payload = 4095});
    const auto out = driver.run(program);
    EXPECT_EQ(out.result.code, errc::geometry_mismatch);
    EXPECT_THAT(out.result.text, HasSubstr("4096"));
    EXPECT_THAT(out.result.text, HasSubstr("4095"));
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(reg(0x2000), 0U);
}

TEST_F(slac_programs, ArmingNeedsAConnection) {
    EXPECT_EQ(arm().result.code, errc::invalid_state);
    EXPECT_EQ(reg(0x2000), 0U);
    EXPECT_FALSE(session->armed);
}

TEST_F(slac_programs, AnUnreachableSourceDisarmsTheCoreAgain) {
    config.prbs_base = 0x0500'0000;
    ASSERT_FALSE(set_up().result);
    const auto out = arm();
    EXPECT_THAT(out.result.text, HasSubstr("0x05000000"));
    EXPECT_EQ(reg(0x2000), 0U);
}

TEST_F(slac_programs, WithoutAPrbsBaseTheSourceIsNotTouched) {
    config.prbs_base.reset();
    ASSERT_FALSE(set_up().result);
    ASSERT_FALSE(arm().result);
    EXPECT_FALSE(port.runs) << "the source waits for its own TxEn";
    EXPECT_EQ(board.write(prbs_base, slac_prbs::tx_enable), bus_response::ok);
    EXPECT_TRUE(port.runs);
    driver.trace.clear();
    ASSERT_FALSE(disarm().result);
    EXPECT_TRUE(std::ranges::all_of(driver.trace, [](const auto& s) { return s.address != prbs_base; }));
}

TEST_F(slac_programs, DisarmingStopsTheCoreThenTheSourceThenWaits) {
    ASSERT_FALSE(set_up().result);
    ASSERT_FALSE(arm().result);
    driver.trace.clear();
    ASSERT_FALSE(disarm().result);
    ASSERT_EQ(driver.trace.size(), 4U);
    EXPECT_EQ(driver.trace[0], register_step::write(at(0x2000), 0));
    EXPECT_EQ(driver.trace[1], register_step::read(prbs_base));
    EXPECT_EQ(driver.trace[2], register_step::write(prbs_base, slac_prbs::axi_enable));
    EXPECT_EQ(driver.trace[3], register_step::pause(100ms));
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(session->snapshot().state, "set up");
}

TEST_F(slac_programs, CountersAreRead) {
    board.count(
        {.frames = 0x1'0000'0007, .failed = 3, .frames_per_second = 25'000, .bytes_per_second = 1ULL << 33});
    auto values = std::make_shared<slac_engine_counters>();
    slac_read_counters program(config, values);
    ASSERT_FALSE(driver.run(program).result);
    EXPECT_EQ(values->success, 7U) << "24 bits";
    EXPECT_EQ(values->unsuccess, 3U);
    EXPECT_EQ(values->oversize, 0U);
    EXPECT_EQ(values->frames, 0x1'0000'0007U);
    EXPECT_EQ(values->frames_per_second, 25'000U);
    EXPECT_EQ(values->bytes_per_second, 1ULL << 33);
}

TEST_F(slac_programs, AnOldWriteThatComesLateIsWrittenOver) {
    // Each word of each request is spoiled once, before it is read back.
    driver.on_step = [this, last = 0U](const register_step& s) mutable {
        const bool is_tx = s.address >= at(0xF04) && s.address < at(0xF2C);
        if (s.what == kind::read && is_tx && last != s.address) (void)board.write(s.address, ~s.value);
        if (is_tx) last = s.what == kind::read ? s.address : last;
    };
    const auto out = set_up();
    EXPECT_FALSE(out.result) << out.result.text;
    driver.on_step = nullptr;
    ASSERT_FALSE(arm().result);
    EXPECT_EQ(port.starts[0].sq_psn, host.fpga_sq_psn);
}

TEST_F(slac_programs, ARegisterThatDoesNotKeepItsValueIsAnError) {
    driver.on_step = [this](const register_step& s) {
        if (s == register_step::read(at(0xF10))) (void)board.write(s.address, 0x77);
    };
    const auto out = set_up();
    EXPECT_EQ(out.result.code, errc::bad_response);
    EXPECT_THAT(out.result.text, HasSubstr("PD allocate"));
    EXPECT_THAT(out.result.text, HasSubstr("0x00000077"));
    EXPECT_EQ(board.requests(), 0U);
}

TEST_F(slac_programs, ReadingBackCanBeLeftOut) {
    config.verify = false;
    ASSERT_FALSE(set_up().result);
    EXPECT_EQ(std::ranges::count(driver.trace, register_step::read(at(0xF04))), 0);
}

// ---- Refusals and silence

TEST_F(slac_programs, StaleResourcesAreClearedBySoftReset) {
    board.leave_stale_resources();
    EXPECT_FALSE(set_up().result);
    EXPECT_EQ(board.resources_allocated(), 3U);
}

TEST_F(slac_programs, StaleResourcesWithoutSoftResetNameStageAndCure) {
    slac_board old(port, {.has_soft_reset = false});
    old.leave_stale_resources();
    test::program_driver to_old(old);
    auto program = make_setup();
    const auto out = to_old.run(program);
    EXPECT_EQ(out.result.code, errc::refused_by_peer);
    EXPECT_THAT(out.result.text, HasSubstr("PD allocate"));
    EXPECT_THAT(out.result.text, HasSubstr("reload"));
    EXPECT_EQ(session->snapshot().state, "failed");
    EXPECT_EQ(session->snapshot().last_error.text, out.result.text);
    EXPECT_NE(session->snapshot().last_error_time, std::chrono::system_clock::time_point());
}

class slac_wedge : public slac_programs, public testing::WithParamInterface<unsigned> {};
class slac_teardown_wedge : public slac_wedge {};

TEST_P(slac_wedge, ASetUpEndsInTimeNamesTheStageAndLeavesNothing) {
    constexpr std::array stages{"PD allocate", "MR allocate", "QP create", "QP INIT", "QP RTR", "QP RTS"};
    for (const bool executes : {false, true}) {
        board.faults() = {.wedge_at = GetParam(), .wedge_executes = executes};
        const auto out = set_up();
        EXPECT_EQ(out.result.code, errc::handshake_timed_out);
        EXPECT_THAT(out.result.text, HasSubstr(stages.at(GetParam() - 1)));
        EXPECT_THAT(out.result.text, HasSubstr("5000 ms"));
        EXPECT_LT(out.elapsed, 7s);
        EXPECT_EQ(board.resources_allocated(), 0U);
        EXPECT_FALSE(session->holds_anything());
        ASSERT_FALSE(set_up().result) << "SoftReset has freed the engine";
        release();
    }
    EXPECT_EQ(session->snapshot().timeouts, 2U);
    EXPECT_EQ(session->snapshot().roll_backs, 2U);
}

TEST_P(slac_wedge, WithoutSoftResetItEndsInTimeAllTheSame) {
    slac_board old(port, {.has_soft_reset = false});
    old.faults().wedge_at = GetParam();
    test::program_driver to_old(old);
    auto program = make_setup();
    const auto out = to_old.run(program);
    EXPECT_EQ(out.result.code, errc::handshake_timed_out);
    EXPECT_LT(out.elapsed, 25s) << "5 s and a roll-back of 3 + 5 + 3 + 3 s";
}

TEST_P(slac_teardown_wedge, ATearDownEndsInTimeAndLeavesNothing) {
    ASSERT_FALSE(set_up().result);
    board.faults().wedge_at = GetParam();
    const auto out = tear_down();
    EXPECT_FALSE(out.result) << out.result.text;
    EXPECT_LT(out.elapsed, 7s);
    EXPECT_GE(session->snapshot().warnings, 1U);
    EXPECT_EQ(board.resources_allocated(), 0U);
}

INSTANTIATE_TEST_SUITE_P(AtEachRequest, slac_wedge, testing::Range(1U, 7U));
INSTANTIATE_TEST_SUITE_P(AtEachRequest, slac_teardown_wedge, testing::Range(1U, 5U));

TEST_F(slac_programs, RepliesThatTakeTheirTimeAreAwaited) {
    for (const unsigned reads : {1U, 7U, 40U, 60U}) {
        board.faults().reply_after_reads = reads;
        const auto out = set_up();
        EXPECT_FALSE(out.result) << out.result.text;
        EXPECT_FALSE(tear_down().result);
        EXPECT_EQ(board.resources_allocated(), 0U);
    }
    EXPECT_EQ(session->snapshot().timeouts, 0U);
}

TEST_F(slac_programs, RepliesAreAskedForOftenFirstThenSeldom) {
    board.faults().reply_after_reads = 40;
    ASSERT_FALSE(set_up().result);
    const auto quick = std::ranges::count(driver.trace, register_step::pause(1ms));
    const auto slow = std::ranges::count(driver.trace, register_step::pause(50ms));
    EXPECT_GT(quick, 6 * 10);
    EXPECT_LT(quick, 6 * 22);
    EXPECT_GT(slow, 6 * 15);
}

TEST_F(slac_programs, ATransitionThatTheFpgaRefusesShowsItsState) {
    // The queue pair falls into ERR under our feet, before RTS.
    driver.on_step = [this, requests = 0](const register_step& s) mutable {
        if (s != register_step::write(at(0xF00), 1) || ++requests != 6) return;
        driver.on_step = nullptr;
        slac_request_words tx;
        std::array<std::uint32_t, 10> kept{};
        for (std::uint32_t i = 0; i < 10; ++i) (void)board.read(at(0xF04 + 4 * i), kept[i]);
        ASSERT_FALSE(encode(slac_request(slac_modify_qp(0x203, slac_qp_state::error, 1, 1)), tx));
        for (std::uint32_t i = 0; i < 10; ++i) (void)board.write(at(0xF04 + 4 * i), tx[i]);
        (void)board.write(at(0xF00), 1);
        (void)board.write(at(0xF00), 0);
        for (std::uint32_t i = 0; i < 10; ++i) (void)board.write(at(0xF04 + 4 * i), kept[i]);
    };
    const auto out = set_up();
    EXPECT_EQ(out.result.code, errc::refused_by_peer);
    EXPECT_THAT(out.result.text, HasSubstr("QP RTS"));
    EXPECT_THAT(out.result.text, HasSubstr("ERR (6)"));
    EXPECT_EQ(board.resources_allocated(), 0U);
}

} // namespace
} // namespace rocio::fpga
