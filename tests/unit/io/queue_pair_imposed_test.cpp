// Numbers of our own side that a handshake settled with the peer, as rdma_cm does.

#include "queue_pair_fixture.hpp"

namespace rocio::test {
namespace {

gid_table_entry entry(std::uint32_t index, const char* address, gid_type type = gid_type::roce_v2) {
    gid_table_entry e;
    e.index = index;
    e.value = gid::parse(address).value();
    e.type = type;
    e.netdev = "script0";
    e.prefix = 24;
    return e;
}

class queue_pair_imposed : public queue_pair_fixture {
  protected:
    static peer_parameters peer() {
        peer_parameters p;
        p.address = gid::parse("10.0.0.2").value();
        p.queue_pair = qpn{script_peer};
        p.send_psn = psn{0x111111};
        p.path_mtu = mtu::b1024;
        p.imposed = imposed_parameters{gid::parse("10.0.0.1").value(), psn{0x777777}, mtu::b1024, 3, 5};
        return p;
    }
    error_info establish(queue_pair& qp, const peer_parameters& with) {
        const auto target = qp.as_connectable();
        if (auto e = target->prepare(ours)) return e;
        auto e = target->establish(with);
        if (!e) target->connected(nullptr);
        return e;
    }

    local_parameters ours;
};

TEST_F(queue_pair_imposed, replace_our_own) {
    queue_pair qp(context, dev);
    ASSERT_FALSE(establish(qp, peer()));
    const auto used = dev->connection(0).value();
    EXPECT_NE(ours.send_psn, psn{0x777777}) << "what was told at first was our own";
    EXPECT_EQ(used.local.send_psn, psn{0x777777});
    EXPECT_EQ(used.local.path_mtu, mtu::b1024);
    EXPECT_EQ(used.local.address, gid::parse("10.0.0.1").value());
    EXPECT_EQ(used.peer.send_psn, psn{0x111111});
    ASSERT_TRUE(used.peer.imposed);
    EXPECT_EQ(used.peer.imposed->reads_in, 3);
    EXPECT_EQ(used.peer.imposed->reads_out, 5);
    EXPECT_EQ(used.gid_index, 0U);
    EXPECT_EQ(used.local.min_rnr_timer.code(), 12) << "rdma_cm would leave 0, which is 655 ms";
}

TEST_F(queue_pair_imposed, a_first_psn_that_was_asked_for_is_not_replaced_in_silence) {
    queue_pair_config config;
    config.first_psn = psn{5};
    queue_pair other(context, dev, config);
    EXPECT_EQ(establish(other, peer()).code, errc::invalid_argument);
    config.first_psn = psn{0x777777};
    queue_pair same(context, dev, config);
    EXPECT_FALSE(establish(same, peer()));
}

TEST_F(queue_pair_imposed, a_local_address_that_was_asked_for_is_not_replaced_in_silence) {
    dev->set_gid_table(1, {entry(0, "10.0.0.1"), entry(4, "10.0.0.7")});
    queue_pair_config config;
    config.local_address = gid::parse("10.0.0.7").value();
    queue_pair other(context, dev, config);
    EXPECT_EQ(establish(other, peer()).code, errc::no_usable_gid);
    config.local_address = gid::parse("10.0.0.1").value();
    queue_pair same(context, dev, config);
    EXPECT_FALSE(establish(same, peer()));
}

TEST_F(queue_pair_imposed, nothing_is_replaced_without_them) {
    queue_pair qp(context, dev);
    auto plain = peer();
    plain.imposed.reset();
    ASSERT_FALSE(establish(qp, plain));
    const auto used = dev->connection(0).value();
    EXPECT_EQ(used.local.send_psn, ours.send_psn);
    EXPECT_EQ(used.local.path_mtu, mtu::b4096);
    EXPECT_FALSE(used.gid_index) << "the one of INIT stays";
}

TEST_F(queue_pair_imposed, path_mtu_that_was_asked_for_is_not_given_up) {
    queue_pair qp(context, dev, {.path_mtu = mtu::b2048});
    const auto e = establish(qp, peer());
    EXPECT_EQ(e.code, errc::path_mtu_mismatch);
    EXPECT_THAT(e.text, ::testing::HasSubstr("2048 asked"));
    EXPECT_THAT(e.text, ::testing::HasSubstr("agreed on 1024"));
    EXPECT_EQ(dev->calls(device_call::to_ready_to_receive), 0U);
}

TEST_F(queue_pair_imposed, path_mtu_that_was_asked_for_and_imposed_is_used) {
    queue_pair qp(context, dev, {.path_mtu = mtu::b1024});
    ASSERT_FALSE(establish(qp, peer()));
    EXPECT_EQ(dev->connection(0)->local.path_mtu, mtu::b1024);
}

TEST_F(queue_pair_imposed, another_address_of_the_port_is_taken_with_its_index) {
    dev->set_gid_table(1,
                       {entry(0, "10.0.0.1"), entry(4, "10.0.7.1", gid_type::roce_v1), entry(5, "10.0.7.1")});
    queue_pair qp(context, dev);
    auto with = peer();
    with.imposed->address = gid::parse("10.0.7.1").value();
    ASSERT_FALSE(establish(qp, with));
    EXPECT_EQ(dev->initialisation(0)->gid_index, 0U);
    EXPECT_EQ(dev->connection(0)->gid_index, 5U) << "RoCE v2, not the v1 entry of the same address";
    EXPECT_EQ(dev->connection(0)->local.address, gid::parse("10.0.7.1").value());
}

TEST_F(queue_pair_imposed, address_outside_the_table_is_an_error) {
    queue_pair qp(context, dev);
    auto with = peer();
    with.imposed->address = gid::parse("10.0.9.9").value();
    const auto e = establish(qp, with);
    EXPECT_EQ(e.code, errc::no_usable_gid);
    EXPECT_THAT(e.text, ::testing::HasSubstr("knows us by 10.0.9.9"));
    EXPECT_THAT(e.text, ::testing::HasSubstr("10.0.0.1 of scripted"));
    EXPECT_EQ(dev->calls(device_call::to_ready_to_receive), 0U);
}

TEST_F(queue_pair_imposed, an_index_that_was_asked_for_is_not_given_up) {
    dev->set_gid_table(1, {entry(0, "10.0.0.1"), entry(5, "10.0.7.1")});
    auto with = peer();
    with.imposed->address = gid::parse("10.0.7.1").value();
    queue_pair other(context, dev, {.gid_index = 0});
    EXPECT_EQ(establish(other, with).code, errc::no_usable_gid);
    queue_pair same(context, dev, {.gid_index = 5});
    ASSERT_FALSE(establish(same, with));
    EXPECT_EQ(dev->connection(1)->gid_index, 5U);
}

TEST_F(queue_pair_imposed, table_that_cannot_be_read_is_an_error) {
    queue_pair qp(context, dev);
    auto with = peer();
    with.imposed->address = gid::parse("10.0.7.1").value();
    dev->fail_call(device_call::gid_table, 2, errc::device_fatal);
    EXPECT_EQ(establish(qp, with).code, errc::device_fatal);
}

TEST_F(queue_pair_imposed, the_next_connection_begins_with_our_own_again) {
    dev->set_gid_table(1, {entry(0, "10.0.0.1"), entry(5, "10.0.7.1")});
    queue_pair qp(context, dev);
    auto with = peer();
    with.imposed->address = gid::parse("10.0.7.1").value();
    ASSERT_FALSE(establish(qp, with));
    qp.close();
    run();
    auto plain = peer();
    plain.imposed.reset();
    ASSERT_FALSE(establish(qp, plain));
    const auto used = dev->connection(1).value();
    EXPECT_EQ(used.local.address, gid::parse("10.0.0.1").value());
    EXPECT_EQ(used.local.path_mtu, mtu::b4096);
    EXPECT_NE(used.local.send_psn, psn{0x777777});
    EXPECT_FALSE(used.gid_index);
}

} // namespace
} // namespace rocio::test
