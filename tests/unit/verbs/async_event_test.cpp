#include "verbs/async_event.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rocio::verbs {
namespace {

ibv_async_event event_with_port(ibv_event_type type, int port) {
    ibv_async_event out{};
    out.event_type = type;
    out.element.port_num = port;
    return out;
}

TEST(AsyncEvent, PortEventsNameTheirPort) {
    struct row {
        ibv_event_type from;
        device_event_kind to;
    };
    for (const auto& r : {row{IBV_EVENT_PORT_ACTIVE, device_event_kind::port_active},
                          row{IBV_EVENT_PORT_ERR, device_event_kind::port_error},
                          row{IBV_EVENT_GID_CHANGE, device_event_kind::gid_change}}) {
        for (const int port : {1, 2}) {
            const auto out = event_of(event_with_port(r.from, port));
            ASSERT_TRUE(out) << ibv_event_type_str(r.from);
            EXPECT_EQ(out->kind, r.to);
            EXPECT_EQ(out->port, port);
            EXPECT_EQ(out->queue_pair, qpn{});
        }
    }
}

TEST(AsyncEvent, QueuePairEventsCopyTheNumberBeforeTheAcknowledgement) {
    struct row {
        ibv_event_type from;
        device_event_kind to;
    };
    for (const auto& r : {row{IBV_EVENT_QP_FATAL, device_event_kind::queue_pair_fatal},
                          row{IBV_EVENT_QP_REQ_ERR, device_event_kind::queue_pair_fatal},
                          row{IBV_EVENT_QP_ACCESS_ERR, device_event_kind::queue_pair_access_error},
                          row{IBV_EVENT_COMM_EST, device_event_kind::communication_established}}) {
        ibv_qp pair{};
        pair.qp_num = 0x1234;
        ibv_async_event event{};
        event.event_type = r.from;
        event.element.qp = &pair;
        const auto out = event_of(event);
        pair.qp_num = 0;
        ASSERT_TRUE(out) << ibv_event_type_str(r.from);
        EXPECT_EQ(out->kind, r.to);
        EXPECT_EQ(out->queue_pair, qpn{0x1234});
        EXPECT_EQ(out->port, 0U);
    }
}

TEST(AsyncEvent, BrokenQueuesAndDevicesAreTold) {
    EXPECT_EQ(event_of(event_with_port(IBV_EVENT_CQ_ERR, 0))->kind,
              device_event_kind::completion_queue_error);
    EXPECT_EQ(event_of(event_with_port(IBV_EVENT_DEVICE_FATAL, 0))->kind, device_event_kind::device_fatal);
}

TEST(AsyncEvent, AllOthersAreNotOurs) {
    const std::set<ibv_event_type> ours{IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,   IBV_EVENT_GID_CHANGE,
                                        IBV_EVENT_QP_FATAL,    IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
                                        IBV_EVENT_COMM_EST,    IBV_EVENT_CQ_ERR,     IBV_EVENT_DEVICE_FATAL};
    // Up to 31: a newer kernel's events, as far as the C enumeration has bits for them.
    for (int i = 0; i < 32; ++i) {
        const auto type = static_cast<ibv_event_type>(i);
        // The element of most is a pointer that must not be followed.
        if (ours.contains(type)) continue;
        EXPECT_FALSE(event_of(event_with_port(type, 0))) << i;
    }
}

} // namespace
} // namespace rocio::verbs
