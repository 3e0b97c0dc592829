#include <rocio/fpga/udp_engine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::fpga {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class udp_engine : public ::testing::Test {
  protected:
    using clock = std::chrono::steady_clock;

    udp_engine_target target;
    udp_engine() { target.host = boost::asio::ip::make_address_v4("192.168.2.1"); }

    static register_step step(udp_engine_program& p, std::uint32_t answer = 0,
                              const error_info& failure = {}) {
        const auto s = p.next(clock::time_point());
        if (s.what != register_step::kind::end) p.on_result(failure, answer, clock::time_point());
        return s;
    }
};

TEST_F(udp_engine, PortAndAddressAreWrittenByteSwappedAndReadBack) {
    udp_engine_program p(target);
    EXPECT_EQ(step(p), register_step::write(0x0011'0000, 0xB712)); // 4791
    EXPECT_EQ(step(p), register_step::write(0x0011'0004, 0x0102'A8C0));
    EXPECT_EQ(step(p, 0xB712), register_step::read(0x0011'0000));
    EXPECT_EQ(step(p, 0x0102'A8C0), register_step::read(0x0011'0004));
    EXPECT_EQ(step(p), register_step::end());
    EXPECT_FALSE(p.result());
}

TEST_F(udp_engine, EachClientHasEightBytes) {
    target.base = 0x8000'0000;
    target.client = 3;
    target.port = 0x1234;
    udp_engine_program p(target);
    EXPECT_EQ(step(p), register_step::write(0x8000'0018, 0x3412));
    EXPECT_EQ(step(p), register_step::write(0x8000'001C, 0x0102'A8C0));
}

TEST_F(udp_engine, WhatDoesNotReadBackIsNamed) {
    udp_engine_program p(target);
    step(p);
    step(p);
    step(p, 0xB712);
    step(p, 0);
    EXPECT_EQ(step(p), register_step::end());
    EXPECT_EQ(p.result().code, errc::bad_response);
    EXPECT_THAT(p.result().text,
                AllOf(HasSubstr("client 0, remote address"), HasSubstr("wrote 0x102a8c0 to 0x110004"),
                      HasSubstr("read back 0x0"), HasSubstr("base address")));
}

TEST_F(udp_engine, AFailedStepEndsTheProgramWithTheBussError) {
    for (int failing = 0; failing < 4; ++failing) {
        udp_engine_program p(target);
        for (int i = 0; i < failing; ++i) step(p, i == 2 ? 0xB712 : 0);
        step(p, 0, {errc::not_connected, "no connection"});
        EXPECT_EQ(step(p), register_step::end()) << failing;
        EXPECT_EQ(p.result().code, errc::not_connected);
        EXPECT_THAT(p.result().text, AllOf(HasSubstr("UDP engine, client 0"), HasSubstr("no connection")));
    }
}

TEST_F(udp_engine, TargetsOutsideTheirLimitsAreRefused) {
    EXPECT_FALSE(validate(target));
    const auto refused = [this](auto change, const char* said) {
        auto t = target;
        change(t);
        EXPECT_EQ(validate(t).code, errc::invalid_argument) << said;
        EXPECT_THAT(validate(t).text, HasSubstr(said));
        EXPECT_THROW(udp_engine_program{t}, exception);
    };
    refused([](auto& t) { t.client = 16; }, "client 16, allowed are 0 to 15");
    refused([](auto& t) { t.base = 2; }, "base address 0x2");
    refused([](auto& t) { t.base = 0xFFFF'FF80; }, "base address");
    refused([](auto& t) { t.host = {}; }, "0.0.0.0");
    refused([](auto& t) { t.host = boost::asio::ip::make_address_v4("239.0.0.1"); }, "239.0.0.1");
    refused([](auto& t) { t.port = 0; }, "port 0");
}

} // namespace
} // namespace rocio::fpga
