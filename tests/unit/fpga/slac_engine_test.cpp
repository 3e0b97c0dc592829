#include "slac_engine_fixture.hpp"

#include <rocio/types/handshake.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>

namespace rocio::fpga {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
static_assert(handshake<slac_engine>);
static_assert(register_bus<test::memory_register_bus>);

using slac_engine_test = slac_engine_fixture;

TEST_F(slac_engine_test, IsAHandshakeFromExchangeToRelease) {
    slac_engine engine(context, bus, fpga, config);
    EXPECT_EQ(engine.snapshot().state, "idle");
    const auto [ec, peer] = exchange(engine);
    ASSERT_FALSE(ec) << engine.last_error().text;
    EXPECT_EQ(peer.address, fpga);
    EXPECT_EQ(peer.udp_port, 4791U);
    EXPECT_EQ(peer.queue_pair, qpn(0x203));
    EXPECT_EQ(peer.path_mtu, mtu::b4096);
    EXPECT_EQ(peer.region.key.value, engine.snapshot().lkey);
    EXPECT_EQ(engine.snapshot().state, "set up");
    EXPECT_FALSE(port.runs) << "nobody is told to start before async_ready()";
    ASSERT_FALSE(ready(engine)) << engine.last_error().text;
    EXPECT_TRUE(port.runs);
    EXPECT_EQ(port.starts[0].host_qpn, 0x123456U);
    EXPECT_EQ(port.starts[0].counter_wrap, 64U);
    EXPECT_EQ(engine.snapshot().state, "armed");
    EXPECT_FALSE(release(engine));
    EXPECT_FALSE(port.runs);
    EXPECT_EQ(board.resources_allocated(), 0U);
    EXPECT_EQ(engine.snapshot().state, "released");
    EXPECT_EQ(engine.snapshot().requests, 10U);
    EXPECT_EQ(board.refusals(), 0U);
}

TEST_F(slac_engine_test, TheFpgaSendsFromThePsnThatTheHostExpects) {
    auto ours = local();
    ours.receive_psn = psn(0x111111);
    ours.send_psn = psn(0x222222);
    slac_engine engine(context, bus, fpga, config);
    const auto [ec, peer] = exchange(engine, ours);
    ASSERT_FALSE(ec);
    EXPECT_EQ(peer.send_psn, ours.receive_psn);
    EXPECT_EQ(peer.receive_psn, ours.send_psn);
    ASSERT_FALSE(ready(engine));
    EXPECT_EQ(port.starts[0].sq_psn, 0x111111U);
    EXPECT_EQ(port.starts[0].rq_psn, 0x222222U);
    release(engine);
}

TEST_F(slac_engine_test, TransportGoesToTheFpga) {
    auto ours = local();
    ours.path_mtu = mtu::b1024;
    ours.max_payload = 4096;
    slac_engine engine(
        context, bus, fpga, config,
        {.path_mtu = mtu::b1024, .min_rnr_timer = rnr_timer(20), .rnr_retry = 5, .retry_count = 2});
    ASSERT_EQ(board.write(prbs_base + 4, 31), bus_response::ok);
    ASSERT_FALSE(exchange(engine, ours).ec);
    ASSERT_FALSE(ready(engine)) << engine.last_error().text;
    ASSERT_TRUE(port.runs);
    EXPECT_EQ(port.starts[0].path_mtu, 3U);
    EXPECT_EQ(port.starts[0].min_rnr_timer, 20U);
    EXPECT_EQ(port.starts[0].rnr_retry, 5U);
    EXPECT_EQ(port.starts[0].retry_count, 2U);
    release(engine);
}

TEST_F(slac_engine_test, AnEmulatedBoardMayTakeFramesAtAnotherPort) {
    config.roce_port = 14791;
    slac_engine engine(context, bus, fpga, config);
    EXPECT_EQ(exchange(engine).peer.udp_port, 14791U);
    release(engine);
}

TEST_F(slac_engine_test, DifferentPathMtusAreRefusedBeforeAnythingIsSent) {
    slac_engine engine(context, bus, fpga, config, {.path_mtu = mtu::b1024});
    EXPECT_EQ(exchange(engine).ec, errc::path_mtu_mismatch);
    EXPECT_THAT(engine.last_error().text, HasSubstr("1024"));
    EXPECT_FALSE(release(engine));
    EXPECT_TRUE(wire->accesses.empty());
}

TEST_F(slac_engine_test, ARegionThatDoesNotFitIsRefusedBeforeAnythingIsSent) {
    slac_engine engine(context, bus, fpga, config);
    auto ours = local();
    ours.region.length = std::uint64_t{1} << 32;
    EXPECT_EQ(exchange(engine, ours).ec, errc::invalid_argument);
    EXPECT_THAT(engine.last_error().text, HasSubstr("region length"));
    ours = local();
    ours.max_payload = 0;
    EXPECT_EQ(exchange(engine, ours).ec, errc::invalid_argument);
    EXPECT_TRUE(wire->accesses.empty());
}

/// Writes one register.
class one_write final : public register_program {
  public:
    one_write(std::uint32_t address, error_info outcome = {})
        : address_(address), outcome_(std::move(outcome)) {}
    register_step next(time_point) override {
        return std::exchange(done_, true) ? register_step::end() : register_step::write(address_, 0xB712);
    }
    void on_result(const error_info&, std::uint32_t, time_point) override {}
    error_info result() const override { return outcome_; }

  private:
    std::uint32_t address_;
    error_info outcome_;
    bool done_ = false;
};

TEST_F(slac_engine_test, ProgramsThatWereGivenRunFirstAndOnce) {
    slac_engine engine(context, bus, fpga, config);
    engine.before(std::make_shared<one_write>(0x110000));
    engine.before(std::make_shared<one_write>(0x110008));
    ASSERT_FALSE(exchange(engine).ec);
    ASSERT_GE(wire->accesses.size(), 3U);
    EXPECT_EQ(wire->accesses[0].address, 0x110000U);
    EXPECT_EQ(wire->accesses[1].address, 0x110008U);
    EXPECT_EQ(wire->accesses[2].address, at(0x2000));
    release(engine);
    wire->accesses.clear();
    ASSERT_FALSE(exchange(engine).ec) << "the object can be used again";
    EXPECT_EQ(wire->accesses[0].address, at(0x2000));
    release(engine);
}

TEST_F(slac_engine_test, AProgramThatFailsEndsTheExchange) {
    slac_engine engine(context, bus, fpga, config);
    engine.before(
        std::make_shared<one_write>(0x110000, error_info{errc::invalid_argument, "no host address"}));
    EXPECT_EQ(exchange(engine).ec, errc::invalid_argument);
    EXPECT_EQ(engine.last_error().text, "no host address");
    EXPECT_EQ(board.requests(), 0U);
    EXPECT_FALSE(release(engine));
}

// ---- Liveness

TEST_F(slac_engine_test, LooksAtTheBoardWhileItStands) {
    slac_engine engine(context, bus, fpga, config);
    connect(engine);
    std::optional<error_code> lost;
    engine.async_wait_lost([&](const error_code& ec) { lost = ec; });
    run_until([&] { return engine.snapshot().looks >= 5; });
    EXPECT_FALSE(lost);
    EXPECT_FALSE(release(engine));
    EXPECT_EQ(lost, asio::error::operation_aborted);
}

TEST_F(slac_engine_test, ABoardThatRestartedIsLost) {
    for (const bool stale : {false, true}) {
        slac_engine engine(context, bus, fpga, config);
        connect(engine);
        board.power_cycle(stale);
        EXPECT_EQ(wait([&](auto h) { engine.async_wait_lost(h); }), errc::peer_lost);
        EXPECT_THAT(engine.last_error().text, HasSubstr("restarted"));
        EXPECT_EQ(engine.snapshot().state, "lost");
        EXPECT_EQ(engine.snapshot().last_error.code, errc::peer_lost);
        EXPECT_FALSE(release(engine));
        EXPECT_EQ(board.resources_allocated(), 0U);
    }
}

TEST_F(slac_engine_test, ABoardWhoseRegistersAreSilentIsLostAfterAFewTries) {
    slac_engine engine(context, bus, fpga, config);
    connect(engine);
    unsigned reads = 0;
    wire->judge = [&](const access&) {
        ++reads;
        return fate::lost;
    };
    EXPECT_EQ(wait([&](auto h) { engine.async_wait_lost(h); }), errc::peer_lost);
    EXPECT_EQ(reads, config.register_link_tries);
    EXPECT_THAT(engine.last_error().text, HasSubstr("no answer on the bus"));
    reads = 0;
    EXPECT_TRUE(release(engine)) << "it keeps what it has";
    EXPECT_LT(reads, 5U) << "no patience with a link that is known to be dead";
    wire->judge = [](const access&) { return fate::well; };
    EXPECT_FALSE(release(engine));
    EXPECT_EQ(board.resources_allocated(), 0U);
}

TEST_F(slac_engine_test, SingleReadsThatFailAreForgiven) {
    slac_engine engine(context, bus, fpga, config);
    connect(engine);
    wire->judge = [n = 0U](const access&) mutable { return ++n % 3 == 0 ? fate::well : fate::lost; };
    std::optional<error_code> lost;
    engine.async_wait_lost([&](const error_code& ec) { lost = ec; });
    run_until([&] { return engine.snapshot().looks >= 12; });
    EXPECT_FALSE(lost);
    wire->judge = [](const access&) { return fate::well; };
    release(engine);
}

TEST_F(slac_engine_test, WaitingCanBeCancelledAndBegunAgain) {
    slac_engine engine(context, bus, fpga, config);
    connect(engine);
    for (int i = 0; i < 3; ++i) {
        asio::cancellation_signal signal;
        std::optional<error_code> lost;
        engine.async_wait_lost(
            asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { lost = ec; }));
        run_until([&, from = engine.snapshot().looks] { return engine.snapshot().looks > from; });
        signal.emit(asio::cancellation_type::total);
        run_until([&] { return lost.has_value(); });
        EXPECT_EQ(lost, asio::error::operation_aborted);
    }
    release(engine);
}

// ---- Order of calls

TEST_F(slac_engine_test, StepsOutOfOrderAreRefused) {
    slac_engine engine(context, bus, fpga, config);
    EXPECT_EQ(ready(engine), errc::invalid_state);
    EXPECT_EQ(wait([&](auto h) { engine.async_wait_lost(h); }), errc::invalid_state);
    EXPECT_EQ(board.requests(), 0U);
    connect(engine);
    EXPECT_EQ(exchange(engine).ec, errc::invalid_state) << "a connection stands";
    EXPECT_TRUE(port.runs);
    release(engine);
}

TEST_F(slac_engine_test, ASecondOperationIsRefusedAndTheFirstGoesOn) {
    slac_engine engine(context, bus, fpga, config);
    std::optional<exchanged> first;
    engine.async_exchange(local(), [&](const error_code& ec, const peer_parameters& p) {
        first = exchanged{ec, p};
    });
    EXPECT_EQ(exchange(engine).ec, errc::invalid_state);
    EXPECT_EQ(wait([&](auto h) { engine.async_disarm(h); }), errc::invalid_state);
    run_until([&] { return first.has_value(); });
    EXPECT_FALSE(first->ec);
    release(engine);
}

TEST_F(slac_engine_test, ReleaseWithoutAConnectionSendsNothing) {
    slac_engine engine(context, bus, fpga, config);
    EXPECT_FALSE(release(engine));
    EXPECT_FALSE(release(engine));
    EXPECT_TRUE(wire->accesses.empty());
}

TEST_F(slac_engine_test, TheProceduresAloneDoTheSame) {
    slac_engine engine(context, bus, fpga, config);
    std::optional<std::pair<error_code, slac_connection>> made;
    engine.async_setup_connection(
        {.qpn = 5, .region_length = 8192},
        [&](const error_code& ec, const slac_connection& c) { made.emplace(ec, c); });
    run_until([&] { return made.has_value(); });
    ASSERT_FALSE(made->first);
    EXPECT_EQ(made->second.fpga_qpn, 0x203U);
    EXPECT_NE(made->second.pd_handler, 0U);
    EXPECT_EQ(made->second.lkey, engine.snapshot().lkey);
    EXPECT_FALSE(wait(
        [&](auto h) { engine.async_arm({.host_qpn = 5, .region_length = 8192, .max_payload = 4096}, h); }));
    EXPECT_TRUE(port.runs);
    EXPECT_FALSE(wait([&](auto h) { engine.async_disarm(h); }));
    EXPECT_FALSE(port.runs);
    EXPECT_FALSE(wait([&](auto h) { engine.async_teardown_connection(h); }));
    EXPECT_EQ(board.resources_allocated(), 0U);
    EXPECT_EQ(board.requests(), 10U);
}

// ---- Counters

TEST_F(slac_engine_test, CountersAreReadBesideTheWatch) {
    slac_engine engine(context, bus, fpga, config);
    connect(engine);
    board.count({.frames = 77, .failed = 1, .frames_per_second = 5, .bytes_per_second = 20'480});
    std::optional<error_code> lost;
    engine.async_wait_lost([&](const error_code& ec) { lost = ec; });
    for (int i = 0; i < 10; ++i) {
        std::optional<slac_engine_counters> counters;
        engine.async_read_counters([&](const error_code& ec, const slac_engine_counters& c) {
            EXPECT_FALSE(ec);
            counters = c;
        });
        run_until([&] { return counters.has_value(); });
        EXPECT_EQ(counters->success, 77U);
        EXPECT_EQ(counters->frame_bytes, 4096U);
    }
    EXPECT_FALSE(lost);
    release(engine);
}

TEST_F(slac_engine_test, CountersThatWaitForTheBusCanBeCancelled) {
    slac_engine engine(context, bus, fpga, config);
    wire->judge = [](const access&) { return fate::held; };
    std::optional<error_code> exchanged_with, read_with;
    engine.async_exchange(local(),
                          [&](const error_code& ec, const peer_parameters&) { exchanged_with = ec; });
    run_until([&] { return wire->held != nullptr; });
    asio::cancellation_signal signal;
    engine.async_read_counters(asio::bind_cancellation_slot(
        signal.slot(), [&](const error_code& ec, const slac_engine_counters&) { read_with = ec; }));
    context.poll();
    signal.emit(asio::cancellation_type::terminal);
    run_until([&] { return read_with.has_value(); });
    EXPECT_EQ(read_with, asio::error::operation_aborted);
    EXPECT_FALSE(exchanged_with);
    wire->judge = [](const access&) { return fate::well; };
    wire->held({});
    run_until([&] { return exchanged_with.has_value(); });
    EXPECT_FALSE(*exchanged_with);
    release(engine);
}

// ---- Cancellation at every step

class slac_engine_cancel : public slac_engine_fixture, public testing::WithParamInterface<bool> {
  protected:
    /// Cancels when the `n`-th access is with the bus, which the board has seen or not. False: it was over
    /// before.
    template <class Begin>
    bool cancel_at(std::size_t n, Begin begin) {
        asio::cancellation_signal signal;
        std::optional<error_code> result;
        std::size_t seen = 0;
        wire->judge = [&](const access& a) {
            if (seen++ != n) return fate::well;
            std::uint32_t value = 0;
            const bool board_sees_it = GetParam();
            if (board_sees_it && a.writes) (void)board.write(a.address, a.value);
            if (board_sees_it && !a.writes) (void)board.read(a.address, value);
            return fate::held;
        };
        begin(
            asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec, auto...) { result = ec; }));
        run_until([&] { return result || wire->held; });
        const bool hit = wire->held != nullptr;
        if (hit) signal.emit(asio::cancellation_type::terminal);
        run_until([&] { return result.has_value(); });
        EXPECT_EQ(result == asio::error::operation_aborted, hit) << n;
        wire->judge = [](const access&) { return fate::well; };
        return hit;
    }
};

TEST_P(slac_engine_cancel, AnExchangeLeavesNothingAfterTheRelease) {
    slac_engine engine(context, bus, fpga, config);
    std::size_t n = 0;
    while (cancel_at(n, [&](auto h) { engine.async_exchange(local(), std::move(h)); })) {
        EXPECT_FALSE(release(engine)) << n << ": " << engine.last_error().text;
        ASSERT_EQ(board.resources_allocated(), 0U) << "cancelled at access " << n;
        ++n;
    }
    EXPECT_GT(n, 100U);
    EXPECT_EQ(board.resources_allocated(), 3U) << "the last one came through";
    release(engine);
}

TEST_P(slac_engine_cancel, ArmingLeavesNothingAfterTheRelease) {
    slac_engine engine(context, bus, fpga, config);
    for (std::size_t n = 0;; ++n) {
        ASSERT_FALSE(exchange(engine).ec);
        const bool hit = cancel_at(n, [&](auto h) { engine.async_ready(std::move(h)); });
        EXPECT_FALSE(release(engine));
        ASSERT_EQ(board.resources_allocated(), 0U) << "cancelled at access " << n;
        ASSERT_FALSE(port.runs);
        if (hit) continue;
        EXPECT_GT(n, 7U);
        break;
    }
}

TEST_P(slac_engine_cancel, ATearDownIsFinishedByTheRelease) {
    slac_engine engine(context, bus, fpga, config);
    for (std::size_t n = 0;; ++n) {
        ASSERT_FALSE(exchange(engine).ec) << engine.last_error().text;
        const bool hit = cancel_at(n, [&](auto h) { engine.async_teardown_connection(std::move(h)); });
        EXPECT_FALSE(release(engine));
        ASSERT_EQ(board.resources_allocated(), 0U) << "cancelled at access " << n;
        if (hit) continue;
        EXPECT_GT(n, 80U);
        break;
    }
}

INSTANTIATE_TEST_SUITE_P(WhetherTheBoardSawIt, slac_engine_cancel, testing::Bool());

TEST_F(slac_engine_test, ReleaseEndsAnExchangeThatIsUnderWay) {
    slac_engine engine(context, bus, fpga, config);
    std::optional<error_code> result;
    engine.async_exchange(local(), [&](const error_code& ec, const peer_parameters&) { result = ec; });
    run_until([&] { return board.requests() == 3; });
    EXPECT_FALSE(release(engine));
    EXPECT_EQ(result, asio::error::operation_aborted);
    EXPECT_EQ(board.resources_allocated(), 0U);
}

TEST_F(slac_engine_test, DestructionEndsWhatIsOutstanding) {
    std::optional<error_code> result;
    {
        slac_engine engine(context, bus, fpga, config);
        wire->judge = [](const access&) { return fate::held; };
        engine.async_exchange(local(), [&](const error_code& ec, const peer_parameters&) { result = ec; });
        run_until([&] { return wire->held != nullptr; });
    }
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, asio::error::operation_aborted);
}

TEST_F(slac_engine_test, ASilentEngineEndsByItsDeadlineAndIsRolledBack) {
    config.request_deadline = std::chrono::milliseconds(50);
    board.faults().wedge_at = 3;
    slac_engine engine(context, bus, fpga, config);
    EXPECT_EQ(exchange(engine).ec, errc::handshake_timed_out);
    EXPECT_THAT(engine.last_error().text, HasSubstr("QP create"));
    EXPECT_EQ(engine.snapshot().timeouts, 1U);
    EXPECT_EQ(engine.snapshot().roll_backs, 1U);
    EXPECT_EQ(board.resources_allocated(), 0U);
    wire->accesses.clear();
    EXPECT_FALSE(release(engine));
    EXPECT_TRUE(wire->accesses.empty()) << "the roll-back left nothing to do";
}

TEST_F(slac_engine_test, ABusErrorKeepsItsCodeAndNamesTheStage) {
    slac_engine engine(context, bus, fpga, config);
    wire->judge = [this](const access& a) { return a.address == at(0xF00) ? fate::lost : fate::well; };
    EXPECT_EQ(exchange(engine).ec, errc::handshake_timed_out);
    EXPECT_THAT(engine.last_error().text, HasSubstr("engine check"));
    EXPECT_THAT(engine.last_error().text, HasSubstr("0x00150f00"));
    EXPECT_THAT(engine.last_error().text, HasSubstr("no answer on the bus"));
    wire->judge = [](const access&) { return fate::well; };
    EXPECT_FALSE(release(engine));
}

TEST_F(slac_engine_test, IsNotMadeOfWhatCannotBe) {
    EXPECT_THROW(slac_engine(context, bus, gid(), config), exception);
    EXPECT_THROW(slac_engine(context, bus, gid::from_v4({}), config), exception);
    config.udp_client = 16;
    EXPECT_THROW(slac_engine(context, bus, fpga, config), exception);
    EXPECT_THROW(slac_engine(context, bus, fpga, quick(), {.rnr_retry = 8}), exception);
    EXPECT_TRUE(wire->accesses.empty());
}

} // namespace
} // namespace rocio::fpga
