#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace rocio {
namespace {

using test::simulated_pair;

/// Path MTU, first PSN: the same messages arrive whatever these are, with the fewest packets.
class Matrix : public ::testing::TestWithParam<std::tuple<mtu, std::uint32_t>> {
  protected:
    void SetUp() override {
        const auto [path_mtu, first] = GetParam();
        for (test::soft_end* e : {&net.a, &net.b}) {
            e->add_queue_pair();
            e->set_first_psn(psn{first});
        }
        connect(net.a, net.b, path_mtu);
        connect(net.b, net.a, path_mtu);
    }
    static void connect(test::soft_end& one, const test::soft_end& other, mtu path_mtu) {
        auto a = one.towards(other.as_peer());
        a.local.path_mtu = path_mtu;
        one.connect(a);
    }
    static std::uint64_t packets_of(std::uint32_t size, mtu m) {
        return size == 0 ? 1 : (size + bytes(m) - 1) / bytes(m);
    }

    simulated_pair net{std::nullopt, {.slots = 256, .slot_bytes = 9'000}};
};

TEST_P(Matrix, CarriesEverySizeAroundThePacketBoundaries) {
    const mtu path_mtu = std::get<0>(GetParam());
    const std::uint32_t m = bytes(path_mtu);
    const std::vector<std::uint32_t> sizes{0, 1, 3, m - 1, m, m + 1, 2 * m - 1, 2 * m, 2 * m + 1, 9'000};
    std::uint64_t packets = 0;
    net.b.post_receives(0, static_cast<std::uint32_t>(sizes.size()));
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        ASSERT_EQ(net.a.post_send(128 + i, sizes[i], 1'000 + i), errc::success);
        packets += packets_of(sizes[i], path_mtu);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == sizes.size(); }));
    ASSERT_EQ(net.b.received().size(), sizes.size());
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        const auto& c = net.b.received()[i];
        EXPECT_EQ(c.byte_len, sizes[i]);
        EXPECT_EQ(c.immediate, 1'000 + i);
        EXPECT_TRUE(test::holds_message(net.b.slot(c.id.slot).first(sizes[i]), i));
    }
    EXPECT_EQ(net.a.counter("packets_out"), packets);
    EXPECT_EQ(net.a.counters().retransmits, 0U);
}

TEST_P(Matrix, CarriesMessagesBothWaysAtOnce) {
    net.a.post_receives(0, 40);
    net.b.post_receives(0, 40);
    for (std::uint32_t i = 0; i < 40; ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        test::fill_message(net.b.slot(128 + i), 500 + i);
        ASSERT_EQ(net.a.post_send(128 + i, 50 * i, i), errc::success);
        ASSERT_EQ(net.b.post_send(128 + i, 70 * i, i), errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 40 && net.b.sent().size() == 40; }));
    for (std::uint32_t i = 0; i < 40; ++i) {
        EXPECT_TRUE(test::holds_message(net.b.slot(net.b.received()[i].id.slot).first(50 * i), i));
        EXPECT_TRUE(test::holds_message(net.a.slot(net.a.received()[i].id.slot).first(70 * i), 500 + i));
    }
}

INSTANTIATE_TEST_SUITE_P(PathMtuAndPsn, Matrix,
                         ::testing::Combine(::testing::Values(mtu::b256, mtu::b512, mtu::b1024, mtu::b2048,
                                                              mtu::b4096),
                                            ::testing::Values(0U, 0x123456U, 0xFFFFFEU)));

/// Queue pairs with receiver-not-ready timers of their own, all running at once.
TEST(ManyTimers, EachQueuePairWaitsForItsOwn) {
    soft::simulated_network network;
    device::time_point now = device::time_point{} + std::chrono::hours(1);
    const auto left = soft_device::over(network.attach(test::v4(10, 0, 0, 1)));
    const auto right = soft_device::over(network.attach(test::v4(10, 0, 0, 2)));
    std::vector<std::unique_ptr<test::soft_end>> a, b;
    for (std::uint32_t code = 1; code < 24; ++code) {
        a.push_back(std::make_unique<test::soft_end>(left));
        b.push_back(std::make_unique<test::soft_end>(right));
        a.back()->connect(a.back()->towards(b.back()->as_peer()));
        auto responder = b.back()->towards(a.back()->as_peer());
        responder.local.min_rnr_timer = rnr_timer{code};
        b.back()->connect(responder);
        ASSERT_EQ(a.back()->post_send(128, 64), errc::success);
    }
    const auto turn_all = [&] {
        for (int i = 0; i < 4; ++i) {
            for (auto& e : a) e->turn(now);
            for (auto& e : b) e->turn(now);
        }
    };
    turn_all();
    for (auto& e : b) e->post_receives(0, 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(a[i]->sent().empty()) << "code " << i + 1 << " waited too short";
        const auto wait = rnr_timer{static_cast<std::uint32_t>(i + 1)}.duration();
        ASSERT_LE(left->next_deadline(), device::time_point{} + std::chrono::hours(1) + wait)
            << "code " << i + 1;
        now = device::time_point{} + std::chrono::hours(1) + wait;
        turn_all();
        ASSERT_EQ(a[i]->sent().size(), 1U) << "code " << i + 1 << " waited too long";
        EXPECT_EQ(a[i]->sent()[0].status, errc::success);
    }
}

} // namespace
} // namespace rocio
