#include "verbs/queue_pair_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rocio::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ibv_device_attr a_device() {
    ibv_device_attr out{};
    out.max_qp_wr = 1000;
    return out;
}

TEST(QueuePairConfig, DepthsAndInlineWithinTheLimitsPass) {
    device_queue_pair_config config;
    config.send_depth = 1;
    config.receive_depth = 1000;
    config.max_inline = 64;
    EXPECT_FALSE(check_config(config, a_device(), 64, "rxe0"));
}

TEST(QueuePairConfig, EachLimitIsNamedWithBothNumbers) {
    struct row {
        std::uint32_t device_queue_pair_config::*field;
        std::uint32_t value;
        const char* name;
        const char* allowed;
    };
    for (const auto& r : {row{&device_queue_pair_config::send_depth, 1001, "send_depth", "1 to 1000"},
                          row{&device_queue_pair_config::send_depth, 0, "send_depth", "1 to 1000"},
                          row{&device_queue_pair_config::receive_depth, 5000, "receive_depth", "1 to 1000"},
                          row{&device_queue_pair_config::receive_depth, 0, "receive_depth", "1 to 1000"},
                          row{&device_queue_pair_config::max_inline, 65, "max_inline", "0 to 64"}}) {
        device_queue_pair_config config;
        config.*r.field = r.value;
        const error_info bad = check_config(config, a_device(), 64, "rxe0");
        EXPECT_EQ(bad.code, errc::limit_exceeded) << r.name;
        EXPECT_THAT(bad.text, AllOf(HasSubstr(r.name), HasSubstr(std::to_string(r.value) + " asked"),
                                    HasSubstr(r.allowed), HasSubstr("rxe0")));
    }
}

TEST(QueuePairConfig, BecomesOneScatterElementAndSignallingByRequest) {
    device_queue_pair_config config;
    config.type = queue_pair_type::uc;
    config.send_depth = 3;
    config.receive_depth = 4;
    config.max_inline = 5;
    ibv_cq queue{};
    const auto out = wanted_queue_pair(config, &queue);
    EXPECT_EQ(out.qp_type, IBV_QPT_UC);
    EXPECT_EQ(out.send_cq, &queue);
    EXPECT_EQ(out.recv_cq, &queue);
    EXPECT_EQ(out.srq, nullptr);
    EXPECT_EQ(out.sq_sig_all, 0);
    EXPECT_EQ(out.cap.max_send_wr, 3U);
    EXPECT_EQ(out.cap.max_recv_wr, 4U);
    EXPECT_EQ(out.cap.max_send_sge, 1U);
    EXPECT_EQ(out.cap.max_recv_sge, 1U);
    EXPECT_EQ(out.cap.max_inline_data, 5U);
    EXPECT_EQ(wanted_queue_pair({}, &queue).qp_type, IBV_QPT_RC);
}

peer_parameters a_peer() {
    peer_parameters out;
    out.address = gid::from_v4({10, 0, 0, 2});
    out.queue_pair = qpn{17};
    return out;
}

TEST(CheckPeer, RefusesWhatVerbsCannotReach) {
    EXPECT_FALSE(check_peer(a_peer()));
    auto peer = a_peer();
    peer.address = {};
    EXPECT_EQ(check_peer(peer).code, errc::invalid_peer_parameters);
    peer = a_peer();
    peer.udp_port = 4792;
    EXPECT_THAT(check_peer(peer).text, AllOf(HasSubstr("4792 asked"), HasSubstr("4791 allowed")));
    for (const std::uint32_t special : {0U, 1U}) {
        peer = a_peer();
        peer.queue_pair = qpn{special};
        EXPECT_THAT(check_peer(peer).text, HasSubstr("2 to 16777215"));
    }
}

ibv_port_attr a_port(ibv_port_state state, ibv_mtu active) {
    ibv_port_attr out{};
    out.state = state;
    out.active_mtu = active;
    return out;
}

TEST(CheckPath, UpToTheActiveMtuPasses) {
    const auto port = a_port(IBV_PORT_ACTIVE, IBV_MTU_1024);
    for (const mtu fits : {mtu::b256, mtu::b512, mtu::b1024})
        EXPECT_FALSE(check_path(fits, port, {"rxe0", "eth0", 1500}));
}

TEST(CheckPath, AboveItBothNumbersTheInterfaceAndTheWayOutAreNamed) {
    const error_info bad =
        check_path(mtu::b4096, a_port(IBV_PORT_ACTIVE, IBV_MTU_1024), {"rxe0", "eth0", 1500});
    EXPECT_EQ(bad.code, errc::path_mtu_too_large);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("4096 asked"), HasSubstr("at most 1024"), HasSubstr("rxe0 (eth0)"),
                                HasSubstr("MTU 1500"), HasSubstr("4176")));
    const error_info nameless =
        check_path(mtu::b2048, a_port(IBV_PORT_ACTIVE, IBV_MTU_1024), {"rxe0", "", 0});
    EXPECT_THAT(nameless.text, Not(HasSubstr("(")));
}

TEST(CheckPath, ADownPortIsNoMtuProblem) {
    for (const auto state : {IBV_PORT_DOWN, IBV_PORT_NOP, IBV_PORT_INIT, IBV_PORT_ARMED}) {
        const error_info bad = check_path(mtu::b256, a_port(state, IBV_MTU_4096), {"rxe0", "eth0", 9000});
        EXPECT_EQ(bad.code, errc::port_down) << state;
        EXPECT_THAT(bad.text, HasSubstr("rxe0 (eth0)"));
    }
}

TEST(CheckRetries, SevenIsTheMost) {
    local_parameters local;
    local.retry_count = local.rnr_retry = 7;
    EXPECT_FALSE(check_retries(local));
    local.retry_count = 8;
    EXPECT_THAT(check_retries(local).text, AllOf(HasSubstr("retry_count 8"), HasSubstr("0 to 7")));
    local.retry_count = 0;
    local.rnr_retry = 200;
    EXPECT_EQ(check_retries(local).code, errc::invalid_argument);
}

TEST(AskedText, NamesEveryAttributeOfTheStep) {
    device_queue_pair_config config;
    config.type = queue_pair_type::uc;
    EXPECT_THAT(asked_text(config),
                AllOf(HasSubstr("UC"), HasSubstr("send_depth 128"), HasSubstr("max_inline 0")));
    EXPECT_THAT(asked_text(init_attributes{2, 9, {}}), AllOf(HasSubstr("port 2"), HasSubstr("GID index 9")));
    EXPECT_THAT(asked_text(local_parameters{}),
                AllOf(HasSubstr("timeout 14"), HasSubstr("retry_count 7"), HasSubstr("rnr_retry 7")));
}

TEST(StateNames, AreThoseOfTheStandard) {
    std::set<std::string_view> names;
    for (int i = 0; i < 5; ++i) names.insert(name_of(static_cast<queue_pair_state>(i)));
    EXPECT_EQ(names, (std::set<std::string_view>{"RESET", "INIT", "RTR", "RTS", "ERROR"}));
}

} // namespace
} // namespace rocio::verbs
