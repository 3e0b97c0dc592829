#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_rendezvous_config.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(RendezvousConfig, DefaultsAreValid) {
    EXPECT_FALSE(validate(tcp_rendezvous_config{}));
    EXPECT_FALSE(validate(tcp_listener_config{}));
}

TEST(RendezvousConfig, ListensOnLoopbackAndAFreePortByDefault) {
    EXPECT_TRUE(tcp_listener_config{}.endpoint.address().is_loopback());
    EXPECT_EQ(tcp_listener_config{}.endpoint.port(), 0);
}

struct deadline {
    const char* name;
    std::chrono::milliseconds tcp_rendezvous_config::*field;
    std::chrono::milliseconds least;
};

class RendezvousDeadline : public ::testing::TestWithParam<deadline> {};

TEST_P(RendezvousDeadline, HasBoundsThatTheErrorNames) {
    const auto with = [](std::chrono::milliseconds value) {
        tcp_rendezvous_config config;
        config.*GetParam().field = value;
        return validate(config);
    };
    EXPECT_FALSE(with(GetParam().least));
    EXPECT_FALSE(with(1h));
    for (const auto bad : {GetParam().least - 1ms, -5000ms, 1h + 1ms}) {
        const auto error = with(bad);
        EXPECT_EQ(error.code, errc::invalid_argument);
        EXPECT_THAT(error.text, HasSubstr(GetParam().name));
        EXPECT_THAT(error.text, HasSubstr(std::to_string(bad.count())));
        EXPECT_THAT(error.text, HasSubstr("..3600000"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, RendezvousDeadline,
    ::testing::Values(deadline{"connect_deadline", &tcp_rendezvous_config::connect_deadline, 1ms},
                      deadline{"exchange_deadline", &tcp_rendezvous_config::exchange_deadline, 1ms},
                      deadline{"ready_deadline", &tcp_rendezvous_config::ready_deadline, 1ms},
                      deadline{"total_deadline", &tcp_rendezvous_config::total_deadline, 1ms},
                      deadline{"release_deadline", &tcp_rendezvous_config::release_deadline, 1ms},
                      deadline{"liveness_deadline", &tcp_rendezvous_config::liveness_deadline, 0ms}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(ListenerConfig, NeedsRoomForOneUnfinishedHandshake) {
    tcp_listener_config config;
    config.max_unfinished = 0;
    EXPECT_EQ(validate(config).code, errc::invalid_argument);
    EXPECT_THAT(validate(config).text, HasSubstr("max_unfinished"));
}

TEST(ListenerConfig, ChecksTheDeadlinesToo) {
    tcp_listener_config config;
    config.handshake.ready_deadline = 0ms;
    EXPECT_THAT(validate(config).text, HasSubstr("ready_deadline"));
}

} // namespace
} // namespace rocio::test
