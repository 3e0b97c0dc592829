#include "slac_fixture.hpp"

#include <random>

namespace rocio::fpga {
namespace {

using namespace std::chrono_literals;
using test::step_fate;

/// Registers that say anything.
class random_registers final : public register_space {
  public:
    explicit random_registers(std::uint64_t seed) : random_(seed) {}
    bus_response read(std::uint64_t, std::uint32_t& value) override {
        value = static_cast<std::uint32_t>(random_());
        return response();
    }
    bus_response write(std::uint64_t, std::uint32_t) override { return response(); }
    unsigned failures = 0; ///< In 256 accesses.

  private:
    bus_response response() {
        return random_() % 256 < failures ? bus_response::slave_error : bus_response::ok;
    }
    std::mt19937_64 random_;
};

TEST(SlacRandom, ProgramsEndWhateverTheRegistersSay) {
    unsigned succeeded = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        random_registers registers(seed);
        registers.failures = seed % 3 == 0 ? 0 : static_cast<unsigned>(seed % 64);
        test::program_driver driver(registers);
        const auto session = std::make_shared<slac_session>();
        slac_engine_config config;
        config.prbs_base = 0x0016'0000;
        slac_setup up(config, session, {.qpn = 2}, {}, {1, 2, 3});
        const auto out = driver.run(up);
        EXPECT_LT(out.elapsed, 60s);
        if (!out.result) ++succeeded;
        slac_arm arm(config, session, {.host_qpn = 2, .region_length = 4096, .max_payload = 0xFFFF'FFFF});
        EXPECT_LT(driver.run(arm).elapsed, 60s);
        slac_disarm disarm(config, session);
        EXPECT_LT(driver.run(disarm).elapsed, 60s);
        slac_teardown down(config, session);
        EXPECT_LT(driver.run(down).elapsed, 60s);
    }
    EXPECT_LT(succeeded, 10U) << "random replies are no connection";
}

TEST(SlacRandom, APlanOfFailuresLeavesNothing) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 300; ++i) {
        recording_port port;
        slac_board board(port);
        if (i % 5 == 0) board.leave_stale_resources();
        if (i % 3 == 0) board.faults().wedge_at = static_cast<unsigned>(random() % 12 + 1);
        board.faults().reply_after_reads = static_cast<unsigned>(random() % 4);
        test::program_driver driver(board);
        const auto session = std::make_shared<slac_session>();
        slac_engine_config config;
        config.prbs_base = 0x0016'0000;
        const auto fate = [&](std::size_t, const register_step& s) {
            if (s.what == register_step::kind::pause) return step_fate::well;
            const auto n = random() % 400;
            return n < 5 ? static_cast<step_fate>(n) : step_fate::well;
        };
        for (int round = 0; round < 2; ++round) {
            driver.fate = fate;
            slac_setup up(config, session, {.qpn = 2, .region_length = 65536}, {}, {1, 2, 3});
            driver.run(up);
            slac_arm arm(config, session, {.host_qpn = 2, .region_length = 65536, .max_payload = 4096});
            driver.run(arm);
            driver.fate = [](std::size_t, const register_step&) { return step_fate::well; };
            if (session->armed) {
                slac_disarm disarm(config, session);
                EXPECT_FALSE(driver.run(disarm).result);
            }
            slac_teardown down(config, session);
            EXPECT_FALSE(driver.run(down).result);
            EXPECT_EQ(board.resources_allocated(), board.soft_resets() == 0 && i % 5 == 0 ? 4U : 0U) << i;
            EXPECT_FALSE(session->holds_anything());
            EXPECT_FALSE(port.runs);
        }
    }
}

TEST(SlacRandom, TheBoardSurvivesAnyAccess) {
    std::mt19937_64 random(11);
    recording_port port;
    slac_board board(port);
    const std::vector<std::uint64_t> bases{0x150000, 0x150F00, 0x152000, 0x152200,
                                           0x110000, 0x160000, 0,        ~0ULL - 64};
    std::size_t taken = 0;
    for (int i = 0; i < 150'000; ++i) {
        const auto address = bases[random() % bases.size()] + 4 * (random() % 32);
        std::uint32_t value = static_cast<std::uint32_t>(random() >> (random() % 33));
        const auto response = random() % 3 == 0 ? board.read(address, value) : board.write(address, value);
        if (response == bus_response::ok) ++taken;
        ASSERT_LE(board.resources_allocated(), 4U);
        ASSERT_EQ(board.stream().has_value(), port.runs);
        if (random() % 5'000 == 0) board.power_cycle(random() % 2 == 0);
        if (random() % 5'000 == 0) board.leave_stale_resources();
        if (random() % 100 == 0) board.faults().reply_after_reads = static_cast<unsigned>(random() % 3);
        if (random() % 1'000 == 0) board.faults().wedge_at = static_cast<unsigned>(random() % 3);
    }
    EXPECT_GT(taken, 15'000U);
    for (const auto& s : port.starts) {
        EXPECT_GE(s.path_mtu, 1U);
        EXPECT_LE(s.path_mtu, 5U);
        EXPECT_LE(s.payload_bytes, 4096U);
        EXPECT_GT(s.payload_bytes, 0U);
    }
}

TEST(SlacRandom, RandomRequestsKeepTheEnginesBounds) {
    std::mt19937_64 random(13);
    recording_port port;
    slac_board board(port);
    const auto ask = [&](const slac_request& r) {
        slac_request_words words;
        ASSERT_FALSE(encode(r, words));
        for (std::uint32_t i = 0; i < words.size(); ++i) (void)board.write(0x150F04 + 4 * i, words[i]);
        (void)board.write(0x150F00, 1);
        (void)board.write(0x150F00, 0);
    };
    (void)board.write(0x152000, 1);
    (void)board.write(0x160000, 3);
    std::size_t most = 0;
    for (int i = 0; i < 30'000; ++i) {
        switch (random() % 4) {
        case 0:
            ask(random() % 2 == 0 ? slac_allocate_pd(5) : slac_free_pd(5));
            break;
        case 1: {
            auto r = slac_free_mr(5, 7, 7);
            r.allocate = random() % 2 == 0;
            r.lkey_part = r.rkey_part = 7;
            ask(r);
            break;
        }
        case 2:
            ask(random() % 2 == 0 ? slac_create_qp(5) : slac_destroy_qp(0x203 + random() % 2));
            break;
        default:
            ask(slac_modify_qp(static_cast<std::uint32_t>(0x203 + random() % 64), random() % 16,
                               static_cast<std::uint32_t>(random() & 0x3FF'FFFF), random() % 8));
        }
        (void)board.write(0x15200C, 7);
        most = std::max(most, board.resources_allocated());
        ASSERT_LE(board.resources_allocated(), 4U);
    }
    EXPECT_EQ(most, 4U);
    EXPECT_GT(board.refusals(), 1000U);
}

} // namespace
} // namespace rocio::fpga
