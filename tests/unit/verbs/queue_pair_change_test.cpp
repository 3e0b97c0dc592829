#include "verbs/queue_pair_change.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace rocio::verbs {
namespace {

using enum queue_pair_type;

/// ibv_modify_qp(3): what each step needs of an RC and of a UC queue pair.
constexpr int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int uc_rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int rc_rtr_mask = uc_rtr_mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int uc_rts_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
constexpr int rc_rts_mask =
    uc_rts_mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

connect_attributes both_sides() {
    connect_attributes out;
    out.local.send_psn = psn{0xABCDEF};
    out.local.receive_psn = psn{0x111111};
    out.local.path_mtu = mtu::b2048;
    out.local.min_rnr_timer = rnr_timer{13};
    out.local.timeout = ack_timeout{17};
    out.local.retry_count = 5;
    out.local.rnr_retry = 6;
    out.peer.address = gid::from_v4({10, 1, 2, 3});
    out.peer.queue_pair = qpn{0xFEDCBA};
    out.peer.send_psn = psn{0x000042};
    out.peer.path_mtu = mtu::b4096;
    out.hop_limit = 7;
    out.traffic_class = 0x6A;
    return out;
}

TEST(ChangeToInit, AsksExactlyForWhatInitNeeds) {
    for (const auto type : {rc, uc}) {
        const auto change = change_to_init(type, {2, 5, memory_access::remote_write});
        EXPECT_EQ(change.mask, init_mask);
        EXPECT_EQ(change.attributes.qp_state, IBV_QPS_INIT);
        EXPECT_EQ(change.attributes.port_num, 2);
        EXPECT_EQ(change.attributes.pkey_index, 0);
        EXPECT_EQ(change.attributes.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_WRITE});
    }
}

TEST(ChangeToRtr, MasksDifferByTypeOnlyInWhatUcDoesNotHave) {
    const auto of_rc = change_to_rtr(rc, both_sides(), 1, 3, {8, 16});
    const auto of_uc = change_to_rtr(uc, both_sides(), 1, 3, {8, 16});
    EXPECT_EQ(of_rc.mask, rc_rtr_mask);
    EXPECT_EQ(of_uc.mask, uc_rtr_mask);
    EXPECT_EQ(of_rc.attributes.min_rnr_timer, 13);
    EXPECT_EQ(of_rc.attributes.max_dest_rd_atomic, 16);
    EXPECT_EQ(of_uc.attributes.min_rnr_timer, 0);
    EXPECT_EQ(of_uc.attributes.max_dest_rd_atomic, 0);
}

TEST(ChangeToRtr, PathAndNumbersAreThePeersAsSeenFromHere) {
    for (const auto type : {rc, uc}) {
        const auto a = change_to_rtr(type, both_sides(), 2, 200, {}).attributes;
        EXPECT_EQ(a.qp_state, IBV_QPS_RTR);
        EXPECT_EQ(a.path_mtu, IBV_MTU_2048) << "ours: the smaller of both was agreed on before";
        EXPECT_EQ(a.dest_qp_num, 0xFEDCBAU);
        EXPECT_EQ(a.rq_psn, 0x42U) << "the first the peer sends";
        EXPECT_EQ(a.ah_attr.is_global, 1) << "RoCE without a GRH is EINVAL";
        EXPECT_EQ(a.ah_attr.port_num, 2);
        EXPECT_EQ(a.ah_attr.grh.sgid_index, 200);
        EXPECT_EQ(a.ah_attr.grh.hop_limit, 7);
        EXPECT_EQ(a.ah_attr.grh.traffic_class, 0x6A);
        EXPECT_EQ(a.ah_attr.grh.flow_label, 0U);
        EXPECT_EQ(a.ah_attr.dlid, 0);
        EXPECT_EQ(a.ah_attr.static_rate, 0);
        EXPECT_EQ(std::memcmp(a.ah_attr.grh.dgid.raw, both_sides().peer.address.bytes().data(), 16), 0);
    }
}

TEST(ChangeToRtr, AHopLimitOfZeroIsTheDefaultAndNeverOne) {
    auto attributes = both_sides();
    attributes.hop_limit = 0;
    EXPECT_EQ(change_to_rtr(rc, attributes, 1, 0, {}).attributes.ah_attr.grh.hop_limit, 64);
    EXPECT_EQ(change_to_rtr(rc, {}, 1, 0, {}).attributes.ah_attr.grh.hop_limit, 64);
}

TEST(ChangeToRts, RetriesBelongToRcAlone) {
    const auto of_rc = change_to_rts(rc, both_sides(), {8, 16});
    const auto of_uc = change_to_rts(uc, both_sides(), {8, 16});
    EXPECT_EQ(of_rc.mask, rc_rts_mask);
    EXPECT_EQ(of_uc.mask, uc_rts_mask);
    for (const auto& change : {of_rc, of_uc}) {
        EXPECT_EQ(change.attributes.qp_state, IBV_QPS_RTS);
        EXPECT_EQ(change.attributes.sq_psn, 0xABCDEFU);
    }
    EXPECT_EQ(of_rc.attributes.timeout, 17);
    EXPECT_EQ(of_rc.attributes.retry_cnt, 5);
    EXPECT_EQ(of_rc.attributes.rnr_retry, 6);
    EXPECT_EQ(of_rc.attributes.max_rd_atomic, 8);
    EXPECT_EQ(of_uc.attributes.timeout, 0);
}

TEST(ChangeToRts, AnEndlessTimeoutReachesTheDevice) {
    auto attributes = both_sides();
    attributes.local.timeout = ack_timeout{0};
    const auto change = change_to_rts(rc, attributes, {});
    EXPECT_EQ(change.attributes.timeout, 0);
    EXPECT_NE(change.mask & IBV_QP_TIMEOUT, 0);
}

// ---- With what rdma_cm imposed

connect_attributes imposed(std::uint8_t reads_in, std::uint8_t reads_out) {
    auto out = both_sides();
    out.local.min_rnr_timer = rnr_timer{};
    out.peer.imposed =
        imposed_parameters{gid::from_v4({10, 1, 2, 1}), psn{0x42}, mtu::b1024, reads_in, reads_out};
    return out;
}

TEST(ChangeWithImposed, ReadsAreTheLesserOfAgreedAndPossible) {
    struct {
        std::uint8_t in, out;
        read_depths device, expected; // initiator, responder
    } const cases[]{
        {3, 5, {8, 16}, {5, 3}}, {20, 20, {8, 16}, {8, 16}}, {0, 0, {8, 16}, {0, 0}}, {3, 5, {0, 0}, {0, 0}}};
    for (const auto& c : cases) {
        const auto attributes = imposed(c.in, c.out);
        EXPECT_EQ(change_to_rtr(rc, attributes, 1, 0, c.device).attributes.max_dest_rd_atomic,
                  c.expected.responder);
        EXPECT_EQ(change_to_rts(rc, attributes, c.device).attributes.max_rd_atomic, c.expected.initiator);
        EXPECT_EQ(change_to_rtr(uc, attributes, 1, 0, c.device).attributes.max_dest_rd_atomic, 0);
        EXPECT_EQ(change_to_rts(uc, attributes, c.device).attributes.max_rd_atomic, 0);
    }
}

TEST(ChangeWithImposed, MinRnrTimerIsSetWhichRdmaCmLeavesAtTheLongest) {
    const auto change = change_to_rtr(rc, imposed(3, 5), 1, 0, {8, 16});
    EXPECT_EQ(change.attributes.min_rnr_timer, 12);
    EXPECT_NE(change.mask & IBV_QP_MIN_RNR_TIMER, 0);
}

TEST(ChangeWithImposed, TimeoutIsGivenOnTheWayToRtsAndNeverLater) {
    auto attributes = imposed(3, 5);
    for (const std::uint8_t code : {0, 14}) {
        attributes.local.timeout = ack_timeout{code};
        EXPECT_EQ(change_to_rtr(rc, attributes, 1, 0, {8, 16}).mask & IBV_QP_TIMEOUT, 0);
        const auto change = change_to_rts(rc, attributes, {8, 16});
        EXPECT_NE(change.mask & IBV_QP_TIMEOUT, 0);
        EXPECT_EQ(change.attributes.timeout, code);
    }
}

TEST(ChangeToError, IsTheStateAlone) {
    const auto change = change_to_error();
    EXPECT_EQ(change.mask, IBV_QP_STATE);
    EXPECT_EQ(change.attributes.qp_state, IBV_QPS_ERR);
}

TEST(ReadDepths, AreTheDevicesButAtMostSixteen) {
    ibv_device_attr device{};
    device.max_qp_init_rd_atom = 128;
    device.max_qp_rd_atom = 4;
    EXPECT_EQ(read_depths_of(device).initiator, 16);
    EXPECT_EQ(read_depths_of(device).responder, 4);
    device.max_qp_init_rd_atom = -1;
    EXPECT_EQ(read_depths_of(device).initiator, 0);
}

TEST(Access, OfARegion) {
    EXPECT_EQ(access_of_region(memory_access::local_read), 0);
    EXPECT_EQ(access_of_region(memory_access::local_write), IBV_ACCESS_LOCAL_WRITE);
    EXPECT_EQ(access_of_region(memory_access::remote_read), IBV_ACCESS_REMOTE_READ);
    EXPECT_EQ(access_of_region(memory_access::local_write | memory_access::remote_write |
                               memory_access::remote_read),
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

TEST(Access, OfAQueuePairIsRemoteOnlyAndUcHasNoRead) {
    const auto all = memory_access::local_write | memory_access::remote_write | memory_access::remote_read;
    EXPECT_EQ(access_of_queue_pair(rc, all), unsigned{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ});
    EXPECT_EQ(access_of_queue_pair(uc, all), unsigned{IBV_ACCESS_REMOTE_WRITE});
    EXPECT_EQ(access_of_queue_pair(rc, memory_access::local_write), 0U);
}

} // namespace
} // namespace rocio::verbs
