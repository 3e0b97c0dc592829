#include "link_probe.hpp"
#include "roce_capture.hpp"
#include "socket_pair_of_ends.hpp"

#include <rocio/soft/pcap_link.hpp>
#include <rocio/soft/simulated_network.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace rocio::soft {
namespace {

using test::link_probe;
using namespace std::chrono_literals;

const gid left_v4 = gid::from_v4({10, 0, 0, 1}), right_v4 = gid::from_v4({10, 0, 0, 2});

struct PcapLink : ::testing::Test {
    PcapLink()
        : file(std::filesystem::temp_directory_path() / ("pcap_link_test." + std::to_string(::getpid()))) {}
    ~PcapLink() override { std::filesystem::remove(file); }

    std::unique_ptr<link> captured(const gid& address) {
        std::unique_ptr<link> out;
        throw_if(pcap_link::open(network.attach(address), file, out));
        return out;
    }
    std::vector<test::captured_packet> packets() const {
        std::vector<test::captured_packet> out;
        for (const auto& frame : test::read_pcap(file))
            if (auto p = test::roce_in(frame)) out.push_back(*std::move(p));
        return out;
    }

    std::filesystem::path file;
    simulated_network network;
};

/// Two soft devices, one of them watched, exchange messages.
struct watched_pair {
    watched_pair(std::unique_ptr<link> watched, std::unique_ptr<link> other)
        : a(soft_device::over(std::move(watched))), b(soft_device::over(std::move(other))) {
        test::connect_ends(a, b);
        b.post_receives(0, 4);
        for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(a.post_send(128 + i, 100 * i + 1, i), errc::success);
        for (int turn = 0; turn < 100 && a.sent().size() < 4; ++turn) {
            now += 10us;
            a.turn(now);
            b.turn(now);
        }
        EXPECT_EQ(a.sent().size(), 4U);
    }
    time_point now{1h};
    test::soft_end a, b;
};

TEST_F(PcapLink, WritesBothDirectionsWithAGoodIcrc) {
    for (const auto& [left, right] :
         {std::pair{left_v4, right_v4}, {*gid::parse("fd00::1"), *gid::parse("fd00::2")}}) {
        { watched_pair pair(captured(left), network.attach(right)); }
        const auto seen = packets();
        ASSERT_GE(seen.size(), 5U) << "four messages and an acknowledgement";
        std::size_t ours = 0;
        for (const auto& p : seen) {
            ours += p.flow.source == left;
            EXPECT_EQ(p.flow.source == left ? p.flow.destination : p.flow.source, right);
            EXPECT_TRUE(wire::icrc_engine(p.flow).check_exact(p.bytes, p.ip_id.value_or(0))) << p.name();
        }
        EXPECT_EQ(ours, 4U);
        EXPECT_LT(ours, seen.size());
    }
}

TEST_F(PcapLink, FindsTheIpIdOfWhatItReceives) {
    link_probe watched(captured(left_v4));
    auto other = network.attach(right_v4);
    std::vector<std::byte> packet(20);
    packet[0] = std::byte{0x11};
    const wire::icrc_engine icrc({right_v4, left_v4, 4791, 4791});
    for (const std::uint16_t id : {0, 1, 0x1234, 0xFFFF}) {
        const auto crc = icrc.of_packet(packet, id);
        for (std::size_t i = 0; i < 4; ++i) packet[16 + i] = static_cast<std::byte>(crc >> (8 * i));
        const destination to{left_v4, 4791};
        const outgoing_datagram d{&to, packet, {}, {}};
        ASSERT_EQ(other->send({&d, 1}, {}), 1U);
        watched.receive();
    }
    watched.link().progress(time_point{} + 1h);
    std::vector<int> ids;
    for (const auto& p : packets()) ids.push_back(*p.ip_id);
    EXPECT_THAT(ids, ::testing::ElementsAre(0, 1, 0x1234, 0xFFFF));
}

TEST_F(PcapLink, LeavesADamagedPacketDamaged) {
    link_probe watched(captured(left_v4));
    auto other = network.attach(right_v4);
    std::vector<std::byte> noise(40);
    std::minstd_rand random(7);
    const destination to{left_v4, 4791};
    for (int i = 0; i < 50; ++i) {
        for (auto& b : noise) b = static_cast<std::byte>(random());
        const outgoing_datagram d{&to, noise, {}, {}};
        other->send({&d, 1}, {});
        watched.receive();
    }
    watched.link().progress(time_point{} + 1h);
    std::size_t good = 0;
    for (const auto& p : packets()) good += wire::icrc_engine(p.flow).check_exact(p.bytes, *p.ip_id);
    EXPECT_EQ(packets().size(), 50U);
    EXPECT_LE(good, 1U) << "other damage passes once in 65,536";
}

TEST_F(PcapLink, ReachesTheFileWithinItsDeadline) {
    link_probe watched(captured(left_v4));
    const time_point start = time_point{} + 1h;
    EXPECT_EQ(watched.link().next_deadline(), time_point::max());
    watched.send({right_v4, 4791}, {"not a packet"}, start);
    const auto due = watched.link().next_deadline();
    EXPECT_LE(due, start + 100ms);
    watched.link().progress(start);
    watched.link().progress(due);
    EXPECT_EQ(packets().size(), 1U);
    EXPECT_EQ(watched.link().next_deadline(), time_point::max());
    EXPECT_EQ(watched.counter("captured_packets"), 1U);
}

TEST_F(PcapLink, WritesOnlyWhatTheInnerLinkTook) {
    link_probe watched(captured(left_v4));
    network.limit_sends(2);
    EXPECT_EQ(watched.send_many({right_v4, 4791}, 3), 2U);
    EXPECT_EQ(watched.counter("captured_packets"), 2U);
}

TEST_F(PcapLink, NamesAFileThatCannotBeWritten) {
    std::unique_ptr<link> out;
    const auto e = pcap_link::open(network.attach(left_v4), "/no/such/folder/file.pcap", out);
    EXPECT_TRUE(e);
    EXPECT_THAT(e.text, ::testing::HasSubstr("/no/such/folder/file.pcap"));
    EXPECT_EQ(out, nullptr);
}

} // namespace
} // namespace rocio::soft
