#include "rssi_fixture.hpp"

#include <deque>
#include <map>
#include <random>

namespace rocio::fpga {
namespace {

struct link_faults {
    double drop = 0, duplicate = 0, damage = 0;
    std::chrono::milliseconds least = 1ms, most = 1ms; ///< On the way; a span of times mixes the order.
};

/// A client and a server with a simulated network between them, driven by its events alone.
class simulated_link {
  public:
    using time_point = rssi_connection::time_point;

    simulated_link(std::uint32_t seed, const link_faults& f, const rssi_config& config)
        : draw_(seed), faults(f), client(rssi_role::client, config), server(rssi_role::server, config) {}

    /// Until `done`, or for `limit` of simulated time.
    template <class Done>
    bool run(std::chrono::milliseconds limit, Done done) {
        const auto end = now + limit;
        while (!done()) {
            drain(client, true);
            drain(server, false);
            if (done()) return true;
            const auto next = next_event();
            if (!next || *next > end) return false;
            now = std::max(now, *next);
            deliver();
            for (auto* machine : {&client, &server}) {
                const auto due = machine->next_deadline();
                if (due && *due <= now) machine->on_deadline(now);
            }
        }
        return true;
    }

    time_point now{1000h};

  private:
    struct packet {
        bool to_server;
        byte_string bytes;
    };

    bool happens(double p) { return std::uniform_real_distribution<>(0, 1)(draw_) < p; }

    void drain(rssi_connection& machine, bool to_server) {
        std::array<std::byte, 9216> out{};
        for (auto n = machine.next_segment(out, now); n != 0; n = machine.next_segment(out, now)) {
            byte_string bytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
            if (happens(faults.drop)) continue;
            if (happens(faults.damage)) bytes[draw_() % rssi_header_bytes] ^= std::byte{0x10};
            for (int copies = happens(faults.duplicate) ? 2 : 1; copies > 0; --copies) {
                const auto span = static_cast<std::uint32_t>((faults.most - faults.least).count()) + 1;
                air_.emplace(now + faults.least + std::chrono::milliseconds(draw_() % span),
                             packet{to_server, bytes});
            }
        }
    }
    std::optional<time_point> next_event() const {
        std::optional<time_point> next;
        const auto consider = [&](time_point t) { next = next ? std::min(*next, t) : t; };
        if (!air_.empty()) consider(air_.begin()->first);
        for (const auto* machine : {&client, &server}) {
            if (const auto due = machine->next_deadline()) consider(*due);
        }
        return next;
    }
    void deliver() {
        while (!air_.empty() && air_.begin()->first <= now) {
            const auto p = std::move(air_.begin()->second);
            air_.erase(air_.begin());
            (p.to_server ? server : client).on_segment(p.bytes, now);
        }
    }

    std::mt19937 draw_;
    std::multimap<time_point, packet> air_{};

  public:
    link_faults faults;
    rssi_connection client, server;
};

rssi_config patient() {
    rssi_config c;
    c.parameters.max_retransmits = 60;
    c.parameters.null_timeout = 60'000;
    return c;
}

std::size_t collect(rssi_connection& machine, std::vector<byte_string>& into) {
    for (auto p = machine.receive(); p; p = machine.receive()) into.push_back(*p);
    return into.size();
}

void expect_both_ways(std::uint32_t seed, const link_faults& faults, const rssi_config& config) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    simulated_link link(seed, faults, config);
    link.client.connect(link.now);
    const auto both_open = [&] {
        return link.client.state() == rssi_state::open && link.server.state() == rssi_state::open;
    };
    // A SYN that is late resets what an earlier one made; the client then begins anew, as its driver does.
    for (int i = 0; i < 20 && !both_open(); ++i) {
        if (link.client.state() == rssi_state::lost) link.client.connect(link.now);
        if (link.server.state() == rssi_state::lost) link.server = rssi_connection(rssi_role::server, config);
        link.run(2s, [&] {
            return both_open() || link.client.state() == rssi_state::lost ||
                   link.server.state() == rssi_state::lost;
        });
    }
    ASSERT_TRUE(both_open());

    constexpr std::size_t count = 400;
    std::vector<byte_string> expected, at_server, at_client;
    for (unsigned i = 0; i < count; ++i) {
        expected.push_back(pattern(1 + i % 100, i));
        link.client.send(expected.back());
        link.server.send(expected.back());
    }
    const bool all = link.run(600s, [&] {
        const auto a = collect(link.server, at_server), b = collect(link.client, at_client);
        return a >= count && b >= count;
    });
    EXPECT_TRUE(all) << at_server.size() << " and " << at_client.size() << " of " << count << ", client "
                     << link.client.failure().message() << ", server " << link.server.failure().message();
    EXPECT_EQ(at_server, expected);
    EXPECT_EQ(at_client, expected);
}

TEST(rssi_link, AGoodNetworkNeedsNoRetransmits) {
    simulated_link link(1, {}, {});
    link.client.connect(link.now);
    ASSERT_TRUE(link.run(1s, [&] { return link.server.state() == rssi_state::open; }));
    for (unsigned i = 0; i < 100; ++i) link.client.send(pattern(50, i));
    std::vector<byte_string> got;
    EXPECT_TRUE(link.run(1s, [&] { return collect(link.server, got) == 100; }));
    EXPECT_EQ(link.client.counters().retransmits, 0U);
    EXPECT_EQ(link.server.counters().duplicates, 0U);
}

TEST(rssi_link, EverythingArrivesOnceAndInOrderThroughLossDuplicatesAndDisorder) {
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        expect_both_ways(seed, {.drop = 0.1, .duplicate = 0.1, .damage = 0.05, .least = 1ms, .most = 8ms},
                         patient());
    }
}

TEST(rssi_link, HalfOfEverythingLostIsSlowAndNotWrong) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) expect_both_ways(seed, {.drop = 0.5}, patient());
}

TEST(rssi_link, SmallAndLargestWindowsWork) {
    for (const std::uint8_t window : {1, 2, 127, 128, 255}) {
        auto config = patient();
        config.parameters.max_outstanding = window;
        expect_both_ways(window, {.drop = 0.05, .duplicate = 0.05, .most = 5ms}, config);
    }
}

TEST(rssi_link, AnIdleConnectionLivesForAnHour) {
    simulated_link link(3, {.drop = 0.05}, {});
    link.client.connect(link.now);
    ASSERT_TRUE(link.run(5s, [&] { return link.server.state() == rssi_state::open; }));
    EXPECT_FALSE(link.run(1h, [&] {
        return link.client.state() != rssi_state::open || link.server.state() != rssi_state::open;
    }));
}

TEST(rssi_link, ANetworkThatDiesIsFoundOutByBothSides) {
    simulated_link link(4, {}, {});
    link.client.connect(link.now);
    ASSERT_TRUE(link.run(1s, [&] { return link.server.state() == rssi_state::open; }));
    link.faults.drop = 1;
    EXPECT_TRUE(link.run(10s, [&] {
        return link.client.state() == rssi_state::lost && link.server.state() == rssi_state::lost;
    }));
    EXPECT_THAT(link.client.failure().text, testing::HasSubstr("never acknowledged"));
    EXPECT_THAT(link.server.failure().text, testing::HasSubstr("null timeout"));
    link.client.connect(link.now);
    EXPECT_FALSE(link.run(10s, [&] { return link.client.state() != rssi_state::syn_sent; }));
    EXPECT_GE(link.client.tries(), 99U);
}

/// The bytes of an attacker who may send anything.
TEST(rssi_link, RandomSegmentsNeverBreakTheMachine) {
    std::mt19937 draw(11);
    for (int round = 0; round < 200; ++round) {
        simulated_link link(draw(), {}, {});
        link.client.connect(link.now);
        link.run(1s, [&] { return link.server.state() == rssi_state::open; });
        for (int i = 0; i < 500; ++i) {
            rssi_header h{.syn = draw() % 50 == 0, .ack = draw() % 4 != 0};
            h.rst = !h.syn && draw() % 200 == 0;
            h.nul = !h.syn && !h.rst && draw() % 8 == 0;
            h.busy = draw() % 8 == 0;
            h.sequence = static_cast<std::uint8_t>(draw());
            h.acknowledge = static_cast<std::uint8_t>(draw() % 2 ? 100 : draw());
            h.parameters.max_outstanding = static_cast<std::uint8_t>(draw());
            h.parameters.max_segment = static_cast<std::uint16_t>(draw());
            h.parameters.retransmit_timeout = static_cast<std::uint16_t>(draw() % 3);
            byte_string bytes(h.size());
            encode(bytes, h);
            if (!h.syn && !h.rst && !h.nul) bytes.resize(h.size() + draw() % 1500);
            auto& target = draw() % 2 ? link.server : link.client;
            target.on_segment(bytes, link.now);
            std::array<std::byte, 9216> out{};
            int segments = 0;
            while (target.next_segment(out, link.now) != 0)
                ASSERT_LT(++segments, 300) << "no end of segments";
            link.now += std::chrono::milliseconds(draw() % 30);
            target.on_deadline(link.now);
            ASSERT_TRUE(target.state() != rssi_state::open || target.next_deadline());
        }
        while (link.server.receive()) {
        }
    }
}

} // namespace
} // namespace rocio::fpga
