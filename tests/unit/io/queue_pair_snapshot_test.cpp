// What the status shows of a queue pair.

#include "queue_pair_fixture.hpp"

#include <rocio/io/queue_pair_snapshot.hpp>

namespace rocio::test {
namespace {

class queue_pair_snapshot_test : public queue_pair_fixture {};

TEST_F(queue_pair_snapshot_test, a_fresh_one_is_in_reset_and_knows_no_peer) {
    queue_pair_config config;
    config.type = queue_pair_type::uc;
    config.first_psn = psn{77};
    const queue_pair qp(context, dev, config);
    const auto s = qp.snapshot();
    EXPECT_EQ(s.owner, "");
    EXPECT_EQ(s.device, "scripted");
    EXPECT_EQ(s.type, "uc");
    EXPECT_EQ(s.state, "reset");
    EXPECT_EQ(s.number, qp.number().value());
    EXPECT_EQ(s.send_psn, 77U);
    EXPECT_EQ(s.peer_address, "");
    EXPECT_EQ(s.peer_number, 0U);
}

TEST_F(queue_pair_snapshot_test, a_connected_one_shows_both_sides) {
    queue_pair_config config;
    config.first_psn = psn{5};
    config.rnr_retry = 3;
    config.retry_count = 2;
    config.path_mtu = mtu::b1024;
    config.min_rnr_timer = rnr_timer{20};
    queue_pair qp(context, dev, config);
    auto target = qp.as_connectable();
    local_parameters ours;
    ASSERT_FALSE(target->prepare(ours));
    EXPECT_EQ(qp.snapshot().state, "init");
    peer_parameters theirs;
    theirs.address = gid::parse("10.0.0.2").value();
    theirs.queue_pair = qpn{script_peer};
    theirs.send_psn = psn{99};
    ASSERT_FALSE(target->establish(theirs));

    const auto s = qp.snapshot();
    EXPECT_EQ(s.type, "rc");
    EXPECT_EQ(s.state, "ready to send");
    EXPECT_EQ(s.receive_psn, 99U) << "the first that the peer sends";
    EXPECT_EQ(s.send_psn, 5U);
    EXPECT_EQ(s.peer_address, "10.0.0.2");
    EXPECT_EQ(s.peer_number, script_peer);
    EXPECT_EQ(s.path_mtu, mtu::b1024);
    EXPECT_EQ(s.min_rnr_timer, rnr_timer{20});
    EXPECT_EQ(s.rnr_retry, 3U);
    EXPECT_EQ(s.retry_count, 2U);
    qp.close();
    EXPECT_EQ(qp.snapshot().state, "error");
}

} // namespace
} // namespace rocio::test
