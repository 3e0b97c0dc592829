#include "simulated_pair.hpp"

#include <rocio/wire/icrc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

// Trains through the whole device, over a link in memory that notes what it was given.

namespace rocio {
namespace {

using test::connect_ends;
using test::holds_message;
using test::soft_end;
using test::v4;

/// Carries trains until told to refuse them, and notes how long each one was.
class train_link final : public soft::link {
  public:
    train_link(std::unique_ptr<soft::link> inner, std::vector<std::size_t>& trains, bool& refuses)
        : inner_(std::move(inner)), trains_(trains), refuses_(refuses) {}

    const gid& address() const noexcept override { return inner_->address(); }
    std::uint16_t port() const noexcept override { return inner_->port(); }
    std::uint32_t receive_buffer() const noexcept override { return 212'992; }
    std::uint8_t longest_train() const noexcept override { return longest_; }
    soft::link_interface interface() const override { return inner_->interface(); }
    void append_counters(std::vector<device_snapshot::counter>& out) const override {
        inner_->append_counters(out);
    }
    std::size_t receive(std::span<soft::received_datagram> out, soft::time_point now) noexcept override {
        return inner_->receive(out, now);
    }
    std::size_t send(std::span<const soft::outgoing_datagram> datagrams,
                     soft::time_point now) noexcept override {
        std::size_t taken = 0;
        while (taken < datagrams.size()) {
            std::size_t n = 1;
            while (taken + n < datagrams.size() && datagrams[taken + n].segment == n) ++n;
            if (n > 1 && refuses_) {
                longest_ = 1;
                return taken;
            }
            trains_.push_back(n);
            for (const auto& d : datagrams.subspan(taken, n)) check_icrc(d);
            taken += inner_->send(datagrams.subspan(taken, n), now);
        }
        return taken;
    }

  private:
    /// No receiver on a socket sees the IP id, but NICs and rxe do.
    void check_icrc(const soft::outgoing_datagram& d) {
        std::vector<std::byte> bytes;
        for (const auto part : {d.header, d.payload, d.trailer})
            bytes.insert(bytes.end(), part.begin(), part.end());
        const wire::icrc_engine icrc({address(), d.to->address, port(), d.to->port});
        EXPECT_TRUE(icrc.check_exact(bytes, d.segment)) << "segment " << +d.segment;
    }

    std::unique_ptr<soft::link> inner_;
    std::vector<std::size_t>& trains_;
    bool& refuses_;
    std::uint8_t longest_ = soft::longest_segment_train;
};

struct SoftTrain : ::testing::Test {
    soft::simulated_network network{};
    std::vector<std::size_t> trains{};
    bool refuses = false;
    device::time_point now = device::time_point{} + std::chrono::hours(1);

    std::shared_ptr<soft_device> sender() {
        return soft_device::over(
            std::make_unique<train_link>(network.attach(v4(10, 0, 0, 1)), trains, refuses));
    }
    std::shared_ptr<soft_device> plain() { return soft_device::over(network.attach(v4(10, 0, 0, 2))); }
    std::shared_ptr<soft_device> agreeing() {
        static std::vector<std::size_t> unused;
        static bool never = false;
        return soft_device::over(
            std::make_unique<train_link>(network.attach(v4(10, 0, 0, 2)), unused, never));
    }

    /// `count` messages of 4 KiB from a to b, all of them right.
    void stream(soft_end& a, soft_end& b, std::uint32_t count) {
        b.post_receives(0, count);
        for (std::uint32_t i = 0; i < count; ++i) {
            test::fill_message(a.slot(128 + i), i);
            ASSERT_EQ(a.post_send(128 + i, 4096, i), errc::success);
        }
        for (int turns = 0; turns < 1'000 && b.received().size() < count; ++turns) {
            a.turn(now);
            b.turn(now);
        }
        ASSERT_EQ(b.received().size(), count);
        for (std::uint32_t i = 0; i < count; ++i) {
            EXPECT_EQ(b.received()[i].immediate, i);
            EXPECT_TRUE(holds_message(b.slot(i), i));
        }
        EXPECT_EQ(a.counters().retransmits, 0U);
    }
};

TEST_F(SoftTrain, SendsThreeTrainsOf13To4KiBFramesIntoADefaultBuffer) {
    soft_end a(sender()), b(agreeing());
    connect_ends(a, b);
    b.post_receives(0, 64);
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(a.post_send(128 + i, 4096, i), errc::success);
    a.turn(now);
    EXPECT_EQ(trains, (std::vector<std::size_t>{13, 13, 13}));
}

TEST_F(SoftTrain, DeliversEveryByteInOrder) {
    soft_end a(sender()), b(agreeing());
    connect_ends(a, b);
    stream(a, b, 100);
    EXPECT_EQ(b.counter("drops.bad_icrc"), 0U);
}

TEST_F(SoftTrain, SendsNoneToAPeerThatDidNotAgree) {
    soft_end a(sender()), b(plain());
    connect_ends(a, b);
    stream(a, b, 40);
    EXPECT_EQ(std::count(trains.begin(), trains.end(), 1U), static_cast<std::ptrdiff_t>(trains.size()));
}

TEST_F(SoftTrain, GoesOnWithSingleDatagramsWhereTheLinkRefusesThem) {
    soft_end a(sender()), b(agreeing());
    connect_ends(a, b);
    refuses = true;
    stream(a, b, 40);
    EXPECT_EQ(std::count(trains.begin(), trains.end(), 1U), static_cast<std::ptrdiff_t>(trains.size()));
}

TEST_F(SoftTrain, TheAcknowledgementLeavesBehindTheAnswerAndNotInItsTrain) {
    soft_end a(sender()), b(agreeing());
    connect_ends(a, b);
    a.post_receives(0, 1);
    b.post_receives(0, 1);
    ASSERT_EQ(b.post_send(128, 64), errc::success);
    b.turn(now);
    ASSERT_TRUE(a.turn(now));
    ASSERT_EQ(a.received().size(), 1U);
    trains.clear();
    ASSERT_EQ(a.post_send(128, 64), errc::success);
    a.turn(now);
    EXPECT_EQ(trains, (std::vector<std::size_t>{1, 1})) << "80 bytes, then 20";
    b.turn(now);
    b.turn(now);
    EXPECT_EQ(b.received().size(), 1U);
    EXPECT_EQ(b.sent().size(), 1U) << "acknowledged";
}

TEST_F(SoftTrain, APeerThatSaidIdZeroAndNoTrainsMayNotSendThem) {
    soft_end a(sender()), b(agreeing());
    b.connect(b.towards([&] {
        auto peer = a.as_peer();
        peer.capabilities.segment_train = 0;
        return peer;
    }()));
    a.connect(a.towards(b.as_peer()));
    b.post_receives(0, 4);
    for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(a.post_send(128 + i, 64, i), errc::success);
    a.turn(now);
    b.turn(now);
    EXPECT_EQ(trains, (std::vector<std::size_t>{3}));
    EXPECT_EQ(b.received().size(), 1U) << "the one with id 0";
    EXPECT_EQ(b.counter("drops.bad_icrc"), 2U);
}

} // namespace
} // namespace rocio
