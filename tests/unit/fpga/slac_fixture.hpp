#pragma once

#include "program_driver.hpp"

#include <rocio/fpga/slac_board.hpp>
#include <rocio/fpga/slac_programs.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace rocio::fpga {

/// Notes what the board does to its data half.
struct recording_port final : slac_stream_port {
    void start(const slac_stream& stream) override {
        EXPECT_FALSE(runs) << "started twice without a stop";
        runs = true;
        starts.push_back(stream);
    }
    void stop() override {
        EXPECT_TRUE(runs) << "stopped without a start";
        runs = false;
        ++stops;
    }
    bool runs = false;
    std::vector<slac_stream> starts{};
    unsigned stops = 0;
};

/// A board, a session at it, and the numbers of the vectors.
class slac_fixture : public ::testing::Test {
  protected:
    explicit slac_fixture(bool has_soft_reset = true) : board(port, {.has_soft_reset = has_soft_reset}) {}

    static constexpr slac_host host{.qpn = 0x123456,
                                    .fpga_rq_psn = 0xABCDEF,
                                    .fpga_sq_psn = 0x0F0F0F,
                                    .region_address = 0xDEAD'BEEF'CAFE,
                                    .region_length = 0x4'0000};
    static constexpr slac_keys keys{0xDEAD'BEEF, 0x1234'5678, 0x0765'4321};
    static constexpr slac_data_path path{
        .host_qpn = 0x123456, .region_length = 0x4'0000, .max_payload = 4096};
    static constexpr std::uint32_t prbs_base = 0x0016'0000;

    recording_port port;
    slac_board board;
    slac_engine_config config = with_prbs();
    slac_transport transport{};
    std::shared_ptr<slac_session> session = std::make_shared<slac_session>();
    test::program_driver driver{board};

    static slac_engine_config with_prbs() {
        slac_engine_config c;
        c.prbs_base = prbs_base;
        return c;
    }
    std::uint32_t at(std::uint32_t offset) const { return config.engine_base + offset; }

    slac_setup make_setup() const { return slac_setup(config, session, host, transport, keys); }
    using outcome = test::program_driver::outcome;
    outcome set_up() {
        auto program = make_setup();
        return driver.run(program);
    }
    outcome tear_down() {
        slac_teardown program(config, session);
        return driver.run(program);
    }
    outcome arm() {
        slac_arm program(config, session, path);
        return driver.run(program);
    }
    outcome disarm() {
        slac_disarm program(config, session);
        return driver.run(program);
    }
    /// As async_release() does it.
    void release() {
        driver.fate = [](std::size_t, const register_step&) { return test::step_fate::well; };
        if (session->armed) disarm();
        tear_down();
    }
};

} // namespace rocio::fpga
