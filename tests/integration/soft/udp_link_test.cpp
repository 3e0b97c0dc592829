#include "link_probe.hpp"
#include "raw_udp_socket.hpp"

#include <rocio/soft/udp_link.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <poll.h>

namespace rocio::soft {
namespace {

using test::link_probe;
using test::raw_udp_socket;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::unique_ptr<link> open_link(const char* address, std::uint16_t port = 4791, std::uint32_t buffer = 0) {
    std::unique_ptr<udp_link> out;
    throw_if(udp_link::open({*gid::parse(address), port, buffer}, out));
    return out;
}

destination to(const char* address, std::uint16_t port = 4791) {
    return {*gid::parse(address), port};
}

/// Everything that waits, fetched by batches as a device does it.
std::vector<std::string> read_all(link& l) {
    std::vector<std::string> all;
    std::array<received_datagram, 16> batch;
    for (std::size_t n; (n = l.receive(batch, {})) != 0;)
        for (std::size_t i = 0; i < n; ++i)
            all.emplace_back(reinterpret_cast<const char*>(batch[i].bytes.data()), batch[i].bytes.size());
    return all;
}

/// Loopback delivers within the send, so what was sent is there.
void wait_readable(link& l) {
    pollfd p{l.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&p, 1, 5'000), 1);
}

TEST(UdpLink, CarriesDatagramsWithTheirSource) {
    link_probe a(open_link("127.30.1.1")), b(open_link("127.30.1.2", 0));
    ASSERT_NE(b.link().port(), 0) << "any free port";
    EXPECT_EQ(a.send(to("127.30.1.2", b.link().port()), {"head", "payload", "tail"}), 1U);
    EXPECT_EQ(b.receive(), "headpayloadtail");
    EXPECT_EQ(b.last_source(), *gid::parse("127.30.1.1"));
    EXPECT_EQ(b.last_source_port(), 4791);
    EXPECT_EQ(b.receive(), "");
}

TEST(UdpLink, CarriesBatchesShortAndLongInOrder) {
    link_probe a(open_link("127.30.1.3")), b(open_link("127.30.1.4"));
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(a.send_many(to("127.30.1.4"), 45), 45U);
        std::vector<std::string> arrived;
        std::array<received_datagram, 16> batch;
        while (arrived.size() < 45) {
            const std::size_t n = b.link().receive(batch, {});
            ASSERT_NE(n, 0U);
            for (std::size_t i = 0; i < n; ++i)
                arrived.emplace_back(reinterpret_cast<const char*>(batch[i].bytes.data()),
                                     batch[i].bytes.size());
        }
        for (std::size_t i = 0; i < 45; ++i) ASSERT_EQ(arrived[i], std::to_string(i)) << "round " << round;
        ASSERT_EQ(b.link().receive(batch, {}), 0U);
    }
}

TEST(UdpLink, FetchesWhatWaitsBehindALongDatagramInOneCall) {
    link_probe a(open_link("127.30.1.5")), b(open_link("127.30.1.6"));
    const std::string text(4'096, 'x');
    for (int i = 0; i < 10; ++i) a.send(to("127.30.1.6"), {text});
    std::array<received_datagram, 16> batch;
    EXPECT_EQ(b.link().receive(batch, {}), 10U) << "so that the kernel gives the memory of all ten back";
    for (int i = 0; i < 10; ++i) EXPECT_EQ(batch[static_cast<std::size_t>(i)].bytes.size(), 4'096U);
}

TEST(UdpLink, SaysWhenADatagramWasCutAndGoesOn) {
    link_probe b(open_link("127.30.1.7"));
    raw_udp_socket stranger("127.30.1.8");
    for (int round = 0; round < 12; ++round) { // single and batched receives
        const std::vector<std::byte> jumbo(9'000), longest(longest_packet), empty;
        stranger.send(jumbo, "127.30.1.7");
        stranger.send(empty, "127.30.1.7");
        stranger.send(longest, "127.30.1.7");
        std::vector<std::pair<std::size_t, bool>> seen;
        std::array<received_datagram, 16> batch;
        while (seen.size() < 3) {
            const std::size_t n = b.link().receive(batch, {});
            ASSERT_NE(n, 0U);
            for (std::size_t i = 0; i < n; ++i) seen.emplace_back(batch[i].bytes.size(), batch[i].truncated);
        }
        EXPECT_TRUE(seen[0].second);
        EXPECT_EQ(seen[1], std::pair(std::size_t{0}, false));
        EXPECT_EQ(seen[2], std::pair(longest_packet, false));
    }
}

TEST(UdpLink, SurvivesAClosedPeerPort) {
    link_probe a(open_link("127.30.1.9"));
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(a.send(to("127.30.1.10"), {"nobody listens"}), 1U);
        ASSERT_EQ(a.send_many(to("127.30.1.10"), 5), 5U);
        ASSERT_EQ(a.receive(), "");
    }
    link_probe b(open_link("127.30.1.10"));
    b.send(to("127.30.1.9"), {"now somebody does"});
    EXPECT_EQ(a.receive(), "now somebody does");
}

TEST(UdpLink, CountsADatagramThatCannotBeSentAsTakenAndLost) {
    link_probe a(open_link("127.30.1.11")), b(open_link("127.30.1.12"));
    EXPECT_EQ(a.send(to("255.255.255.255"), {"broadcast is forbidden"}), 1U);
    EXPECT_EQ(a.counter("send_errors"), 1U);

    const destination good = to("127.30.1.12"), bad = to("255.255.255.255");
    const std::vector<std::byte> bytes(8);
    const std::array<outgoing_datagram, 4> mixed{
        {{&good, bytes}, {&bad, bytes}, {&good, bytes}, {&bad, bytes}}};
    EXPECT_EQ(a.link().send(mixed, {}), 4U);
    EXPECT_EQ(a.counter("send_errors"), 3U);
    EXPECT_THAT(b.receive_all(), SizeIs(2));
}

TEST(UdpLink, SetsHopLimitAndTrafficClassPerDatagram) {
    link_probe a(open_link("127.30.1.13"));
    raw_udp_socket b("127.30.1.14");
    b.ask_for_ip_fields();
    const destination plain = to("127.30.1.14", b.port());
    destination marked = plain;
    marked.hop_limit = 7;
    marked.traffic_class = 104;
    const std::vector<std::byte> bytes(8);
    const std::array<outgoing_datagram, 2> both{{{&marked, bytes}, {&plain, bytes}}};
    ASSERT_EQ(a.link().send(both, {}), 2U);
    ASSERT_EQ(a.link().send({&both[0], 1}, {}), 1U);

    const auto fields = [&] {
        EXPECT_EQ(b.receive().size(), bytes.size());
        return std::pair(b.last_ttl(), b.last_tos());
    };
    EXPECT_EQ(fields(), std::pair(7, 104));
    EXPECT_EQ(fields(), std::pair(64, 0));
    EXPECT_EQ(fields(), std::pair(7, 104));
}

TEST(UdpLink, CountsWhatTheKernelDroppedEvenWhenNothingMoreArrives) {
    link_probe b(open_link("127.30.1.15"));
    raw_udp_socket stranger("127.30.1.16");
    const std::vector<std::byte> bytes(4'096);
    const std::uint32_t fit = b.link().receive_buffer() / 8'448;
    for (std::uint32_t i = 0; i < fit + 10; ++i) stranger.send(bytes, "127.30.1.15");
    EXPECT_GE(b.counter("drops.socket_overflow"), 1U);
    std::array<received_datagram, 16> batch;
    std::uint64_t arrived = 0;
    for (std::size_t n; (n = b.link().receive(batch, {})) != 0;) arrived += n;
    EXPECT_EQ(arrived + b.counter("drops.socket_overflow"), fit + 10);
}

TEST(UdpLink, HasTheReceiveBufferItIsAskedForOrSaysWhatTheSystemGrants) {
    EXPECT_GE(open_link("127.30.1.17")->receive_buffer(), 1U);
    EXPECT_GE(open_link("127.30.1.17", 4791, 300'000)->receive_buffer(), 300'000U);
    std::unique_ptr<udp_link> out;
    const error_info error = udp_link::open({*gid::parse("127.30.1.17"), 4791, (1U << 30) + 1}, out);
    EXPECT_EQ(error.code, errc::limit_exceeded);
    EXPECT_THAT(error.text, ::testing::HasSubstr("receive_buffer"));
    EXPECT_EQ(out, nullptr);
}

TEST(UdpLink, ReadsBatchesWhileTheyComeAndSinglesAfterwards) {
    link_probe a(open_link("127.30.1.20")), b(open_link("127.30.1.21"));
    std::array<received_datagram, 16> batch;
    const auto rounds = [&](int n, std::size_t datagrams) {
        std::size_t calls = 0;
        for (int i = 0; i < n; ++i) {
            a.send_many(to("127.30.1.21"), datagrams);
            for (std::size_t left = datagrams; left != 0; ++calls) left -= b.link().receive(batch, {});
        }
        return calls;
    };
    EXPECT_EQ(rounds(1, 1), 1U);
    rounds(2, 10); // learns
    EXPECT_EQ(rounds(10, 10), 10U) << "one call for ten";
    rounds(8, 1); // learns again
    for (int i = 0; i < 8; ++i) EXPECT_EQ(b.link().receive(batch, {}), 0U);
    EXPECT_EQ(rounds(1, 3), 3U) << "short datagrams singly";
}

TEST(UdpLink, ReadsAnAnswerAndItsAcknowledgementSingly) {
    link_probe a(open_link("127.30.1.36")), b(open_link("127.30.1.37"));
    std::array<received_datagram, 16> batch;
    for (int round = 0; round < 50; ++round) {
        a.send_many(to("127.30.1.37"), 2);
        EXPECT_EQ(b.link().receive(batch, {}), 1U) << round;
        EXPECT_EQ(b.link().receive(batch, {}), 1U) << round;
        EXPECT_EQ(b.link().receive(batch, {}), 0U) << round;
    }
}

TEST(UdpLink, CarriesTrainsAsTheDatagramsTheyAreMadeOf) {
    link_probe a(open_link("127.30.1.22")), b(open_link("127.30.1.23"));
    destination there = to("127.30.1.23");
    there.trains = true;
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(a.send_train(there, 15, 4'116, 100), 15U);
        ASSERT_EQ(a.send(there, {"between"}), 1U);
        ASSERT_EQ(a.send_train(there, 2, 80, 20), 2U);
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < 15; ++i) expected.push_back(link_probe::letters(i, i < 14 ? 4'116 : 100));
        expected.insert(expected.end(), {"between", link_probe::letters(0, 80), link_probe::letters(1, 20)});
        ASSERT_EQ(read_all(b.link()), expected) << "round " << round;
    }
    EXPECT_EQ(a.counter("send_trains"), 40U);
    EXPECT_GE(b.counter("receive_trains"), 20U) << "joined as soon as they come often";
    EXPECT_EQ(a.link().longest_train(), longest_segment_train);
}

TEST(UdpLink, ATrainEndsABatch) {
    link_probe a(open_link("127.30.1.24")), b(open_link("127.30.1.25"));
    const destination there = to("127.30.1.25");
    std::array<received_datagram, 16> batch;
    const auto send_three = [&] {
        for (int i = 0; i < 3; ++i) ASSERT_EQ(a.send_train(there, 5, 4'116, 4'116), 5U);
    };
    const auto sizes = [&] {
        std::vector<std::size_t> all;
        for (std::size_t n; (n = b.link().receive(batch, {})) != 0;) all.push_back(n);
        return all;
    };
    for (int i = 0; i < 4; ++i) {
        send_three();
        sizes(); // learns
    }
    send_three();
    EXPECT_THAT(sizes(), ElementsAre(5, 5, 5));
}

/// Trains that wait while the receiver changes over to single datagrams would lose their bounds.
TEST(UdpLink, LosesNothingOfTrainsHoweverTheyMixWithSingleDatagrams) {
    link_probe a(open_link("127.30.1.26")), b(open_link("127.30.1.27"));
    destination there = to("127.30.1.27");
    there.trains = true;
    std::minstd_rand dice(7);
    for (int round = 0; round < 3'000; ++round) {
        std::vector<std::string> expected;
        const auto sends = 1 + dice() % 3;
        for (unsigned i = 0; i < sends; ++i) {
            if (dice() % 4 != 0) {
                ASSERT_EQ(a.send(there, {"single"}), 1U);
                expected.emplace_back("single");
                continue;
            }
            const std::size_t count = 2 + dice() % 4, last = 1 + dice() % 1'000;
            ASSERT_EQ(a.send_train(there, count, 1'000, last), count);
            for (std::size_t k = 0; k < count; ++k)
                expected.push_back(link_probe::letters(k, k + 1 < count ? 1'000 : last));
        }
        // By one now and then, as a busy application does, so that some of it waits longer.
        std::vector<std::string> got;
        for (unsigned i = dice() % 4; i != 0 && got.size() < expected.size(); --i) got.push_back(b.receive());
        while (got.size() < expected.size()) {
            auto more = read_all(b.link());
            ASSERT_FALSE(more.empty()) << "round " << round;
            got.insert(got.end(), more.begin(), more.end());
        }
        ASSERT_EQ(got, expected) << "round " << round;
        if (dice() % 3 == 0) {
            ASSERT_EQ(b.receive(), "");
        }
    }
}

TEST(UdpLink, SendsNoUdpChecksumToWhoDidNotAgreeToTrains) {
    link_probe a(open_link("127.30.1.28")), b(open_link("127.30.1.29")), c(open_link("127.30.1.30"));
    destination there = to("127.30.1.29");
    there.trains = true;
    ASSERT_EQ(a.send_train(there, 2, 100, 100), 2U);
    ASSERT_EQ(a.send(there, {"with"}), 1U);
    const auto checksums_off = [&] {
        int value = -1;
        socklen_t size = sizeof value;
        EXPECT_EQ(::getsockopt(a.link().fd(), SOL_SOCKET, SO_NO_CHECK, &value, &size), 0);
        return value;
    };
    EXPECT_EQ(checksums_off(), 0);
    ASSERT_EQ(a.send(to("127.30.1.30"), {"without"}), 1U);
    EXPECT_EQ(checksums_off(), 1);
    EXPECT_EQ(c.receive(), "without");
}

TEST(UdpLink, CountsATrainToNowhereAsLostAndGoesOnSendingTrains) {
    link_probe a(open_link("127.30.1.31"));
    EXPECT_EQ(a.send_train(to("255.255.255.255"), 3, 100, 100), 3U);
    EXPECT_EQ(a.counter("send_errors"), 3U);
    EXPECT_EQ(a.link().longest_train(), longest_segment_train);
}

TEST(UdpLink, IsReadableWhenSomethingWaits) {
    link_probe a(open_link("127.30.1.18")), b(open_link("127.30.1.19"));
    pollfd p{b.link().fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&p, 1, 0), 0);
    a.send(to("127.30.1.19"), {"x"});
    wait_readable(b.link());
    b.receive();
    EXPECT_EQ(::poll(&p, 1, 0), 0);
}

} // namespace
} // namespace rocio::soft
