// What rdma_cm's events and attributes say in the seam's words.

#include "verbs/cm_event_translation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

namespace rocio::verbs {
namespace {

rdma_cm_event event_of(rdma_cm_event_type type, int status = 0) {
    rdma_cm_event event{};
    event.event = type;
    event.status = status;
    return event;
}

struct meaning {
    rdma_cm_event_type type;
    cm_event_kind kind;
};

constexpr std::array meanings{
    meaning{RDMA_CM_EVENT_ADDR_RESOLVED, cm_event_kind::address_resolved},
    meaning{RDMA_CM_EVENT_ADDR_ERROR, cm_event_kind::address_error},
    meaning{RDMA_CM_EVENT_ROUTE_RESOLVED, cm_event_kind::route_resolved},
    meaning{RDMA_CM_EVENT_ROUTE_ERROR, cm_event_kind::route_error},
    meaning{RDMA_CM_EVENT_CONNECT_REQUEST, cm_event_kind::connect_request},
    meaning{RDMA_CM_EVENT_CONNECT_RESPONSE, cm_event_kind::connect_response},
    meaning{RDMA_CM_EVENT_CONNECT_ERROR, cm_event_kind::connect_error},
    meaning{RDMA_CM_EVENT_UNREACHABLE, cm_event_kind::unreachable},
    meaning{RDMA_CM_EVENT_REJECTED, cm_event_kind::rejected},
    meaning{RDMA_CM_EVENT_ESTABLISHED, cm_event_kind::established},
    meaning{RDMA_CM_EVENT_DISCONNECTED, cm_event_kind::disconnected},
    meaning{RDMA_CM_EVENT_DEVICE_REMOVAL, cm_event_kind::device_removal},
    meaning{RDMA_CM_EVENT_ADDR_CHANGE, cm_event_kind::address_change},
    meaning{RDMA_CM_EVENT_TIMEWAIT_EXIT, cm_event_kind::time_wait_exit},
};

TEST(CmEventTranslation, EveryKindOfTheSeamComesFromOneEvent) {
    std::set<cm_event_kind> kinds;
    for (const auto& m : meanings) {
        const auto got = translate(event_of(m.type));
        ASSERT_TRUE(got) << rdma_event_str(m.type);
        EXPECT_EQ(got->kind, m.kind) << rdma_event_str(m.type);
        EXPECT_EQ(got->id, cm_id::none);
        EXPECT_EQ(got->connection, cm_id::none);
        kinds.insert(got->kind);
    }
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(cm_event_kind::time_wait_exit) + 1);
}

TEST(CmEventTranslation, WhatIsNotOurs) {
    for (const auto type : {RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR})
        EXPECT_FALSE(translate(event_of(type)));
}

TEST(CmEventTranslation, OnlyFailuresHaveAReason) {
    for (const auto& m : meanings) {
        const bool fails = m.kind == cm_event_kind::address_error || m.kind == cm_event_kind::route_error ||
                           m.kind == cm_event_kind::connect_error || m.kind == cm_event_kind::unreachable ||
                           m.kind == cm_event_kind::device_removal;
        for (const int status : {0, -ETIMEDOUT, ETIMEDOUT, 28})
            EXPECT_EQ(static_cast<bool>(translate(event_of(m.type, status))->reason), fails)
                << rdma_event_str(m.type) << " " << status;
    }
}

TEST(CmReason, HasNoSign) {
    for (const auto kind : {cm_event_kind::address_error, cm_event_kind::route_error,
                            cm_event_kind::connect_error, cm_event_kind::unreachable}) {
        for (const int sign : {-1, 1}) {
            EXPECT_EQ(reason_of(kind, sign * ETIMEDOUT), boost::system::errc::timed_out);
            EXPECT_EQ(reason_of(kind, sign * ENETUNREACH), boost::system::errc::network_unreachable);
            EXPECT_EQ(reason_of(kind, sign * ENODEV), errc::address_not_available)
                << "no RDMA device leads there; none has gone";
        }
    }
}

TEST(CmReason, WithoutANumberIsWhatTheEventMeans) {
    EXPECT_EQ(reason_of(cm_event_kind::unreachable, 0), boost::system::errc::timed_out);
    EXPECT_EQ(reason_of(cm_event_kind::address_error, 0), boost::system::errc::host_unreachable);
    EXPECT_EQ(reason_of(cm_event_kind::connect_error, 0), boost::system::errc::host_unreachable);
    EXPECT_EQ(reason_of(cm_event_kind::device_removal, 0), errc::device_fatal);
    EXPECT_EQ(reason_of(cm_event_kind::device_removal, -ENODEV), errc::device_fatal);
    EXPECT_FALSE(reason_of(cm_event_kind::established, -ETIMEDOUT));
    EXPECT_FALSE(reason_of(cm_event_kind::rejected, 28));
}

TEST(CmEventTranslation, RejectReasonIsKeptApart) {
    for (const int status : {28, 8, 10, -28}) {
        const auto got = translate(event_of(RDMA_CM_EVENT_REJECTED, status)).value();
        EXPECT_EQ(got.reject_reason, static_cast<std::uint32_t>(std::abs(status)));
        EXPECT_FALSE(got.reason);
    }
    EXPECT_EQ(translate(event_of(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT))->reject_reason, 0U);
}

TEST(CmEventTranslation, PrivateDataAreCopiedWhereTheyAre) {
    std::array<std::uint8_t, 255> sent{};
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i + 1);
    for (const auto& m : meanings) {
        const bool has = m.kind == cm_event_kind::connect_request ||
                         m.kind == cm_event_kind::connect_response || m.kind == cm_event_kind::established ||
                         m.kind == cm_event_kind::rejected;
        for (const std::uint8_t size : {0, 56, 148, 196, 255}) {
            auto event = event_of(m.type);
            event.param.conn.private_data = sent.data();
            event.param.conn.private_data_len = size;
            const auto got = translate(event).value();
            ASSERT_EQ(got.data.size, has ? size : 0U) << rdma_event_str(m.type);
            EXPECT_EQ(std::memcmp(got.data.bytes.data(), sent.data(), got.data.size), 0);
            EXPECT_EQ(got.data.view().size(), got.data.size);
        }
    }
}

TEST(CmEventTranslation, LengthWithoutDataIsNone) {
    auto event = event_of(RDMA_CM_EVENT_CONNECT_REQUEST);
    event.param.conn.private_data_len = 56;
    EXPECT_EQ(translate(event)->data.size, 0U);
}

TEST(CmNumbers, ComeFromTheAttributes) {
    ibv_qp_attr rtr{}, rts{};
    const auto peer = gid::from_v4({10, 1, 2, 3});
    std::memcpy(rtr.ah_attr.grh.dgid.raw, peer.bytes().data(), 16);
    rtr.ah_attr.port_num = 2;
    rtr.dest_qp_num = 0xABCDEF;
    rtr.rq_psn = 0x123456;
    rtr.path_mtu = IBV_MTU_2048;
    rtr.max_dest_rd_atomic = 3;
    rts.sq_psn = 0x654321;
    rts.max_rd_atomic = 5;
    const auto n = numbers_of(rtr, rts);
    EXPECT_EQ(n.peer_address, peer);
    EXPECT_EQ(n.local_address, gid());
    EXPECT_EQ(n.port, 2);
    EXPECT_EQ(n.peer_queue_pair, qpn(0xABCDEF));
    EXPECT_EQ(n.receive_psn, psn(0x123456));
    EXPECT_EQ(n.send_psn, psn(0x654321));
    EXPECT_EQ(n.path_mtu, mtu::b2048);
    EXPECT_EQ(n.reads_in, 3);
    EXPECT_EQ(n.reads_out, 5);
}

TEST(CmNumbers, BitsAboveTwentyFourAreNotOurs) {
    ibv_qp_attr rtr{}, rts{};
    rtr.dest_qp_num = 0xFF000012;
    rtr.rq_psn = 0xFF000034;
    rts.sq_psn = 0xFF000056;
    rtr.path_mtu = static_cast<ibv_mtu>(0);
    const auto n = numbers_of(rtr, rts);
    EXPECT_EQ(n.peer_queue_pair, qpn(0x12));
    EXPECT_EQ(n.receive_psn, psn(0x34));
    EXPECT_EQ(n.send_psn, psn(0x56));
    EXPECT_EQ(n.path_mtu, mtu::b256) << "the smallest where none is told";
}

} // namespace
} // namespace rocio::verbs
