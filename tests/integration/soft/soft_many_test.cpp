#include "socket_pair_of_ends.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace rocio {
namespace {

using test::drive;
using test::open_soft;
using test::soft_end;

constexpr ack_timeout patient{20};

/// Several "hosts" in one process, each with a queue pair to every other one.
TEST(ManyDevices, EveryoneTalksToEveryone) {
    constexpr std::uint32_t hosts = 5;
    constexpr std::uint32_t messages = 60;
    std::vector<std::shared_ptr<soft_device>> devices;
    for (std::uint32_t h = 0; h < hosts; ++h)
        devices.push_back(open_soft("127.30.5." + std::to_string(h + 1)));
    std::vector<std::vector<std::unique_ptr<soft_end>>> ends(hosts);
    for (auto& row : ends) row.resize(hosts);
    for (std::uint32_t i = 0; i < hosts; ++i) {
        for (std::uint32_t j = i + 1; j < hosts; ++j) {
            ends[i][j] = std::make_unique<soft_end>(devices[i]);
            ends[j][i] = std::make_unique<soft_end>(devices[j]);
            test::connect_ends(*ends[i][j], *ends[j][i]);
        }
    }
    std::vector<soft_end*> all;
    for (std::uint32_t i = 0; i < hosts; ++i) {
        for (std::uint32_t j = 0; j < hosts; ++j) {
            if (i == j) continue;
            soft_end& e = *ends[i][j];
            all.push_back(&e);
            e.post_receives(0, messages);
            for (std::uint32_t m = 0; m < messages; ++m) {
                test::fill_message(e.slot(128 + m), i * 100'000 + j * 1'000 + m);
                ASSERT_EQ(e.post_send(128 + m, 2'000, m), errc::success);
            }
        }
    }
    const auto finished = [&] {
        return std::all_of(all.begin(), all.end(), [](soft_end* e) {
            return e->received().size() == messages && e->sent().size() == messages;
        });
    };
    ASSERT_TRUE(drive(all, finished));
    for (std::uint32_t i = 0; i < hosts; ++i) {
        for (std::uint32_t j = 0; j < hosts; ++j) {
            if (i == j) continue;
            soft_end& e = *ends[i][j];
            for (std::uint32_t m = 0; m < messages; ++m) {
                ASSERT_EQ(e.received()[m].status, errc::success);
                ASSERT_EQ(e.received()[m].immediate, m);
                ASSERT_TRUE(test::holds_message(e.slot(e.received()[m].id.slot).first(2'000),
                                                j * 100'000 + i * 1'000 + m));
            }
        }
    }
}

/// Two streams into one socket know nothing of each other and overrun it; go-back-N repairs that.
TEST(ManyStreams, IntoOneSocketAllArriveInTheEnd) {
    constexpr std::uint32_t streams = 6;
    constexpr std::uint32_t messages = 400;
    const auto left = open_soft("127.30.5.20"), right = open_soft("127.30.5.21");
    std::vector<std::unique_ptr<soft_end>> a, b;
    std::vector<soft_end*> all;
    for (std::uint32_t i = 0; i < streams; ++i) {
        a.push_back(std::make_unique<soft_end>(left));
        b.push_back(std::make_unique<soft_end>(right));
        test::connect_ends(*a[i], *b[i]);
        b[i]->post_receives(0, 128);
        all.insert(all.end(), {a[i].get(), b[i].get()});
    }
    std::vector<std::uint32_t> posted(streams), checked(streams);
    ASSERT_TRUE(drive(all, [&] {
        std::uint32_t done = 0;
        for (std::uint32_t i = 0; i < streams; ++i) {
            for (; posted[i] < messages && posted[i] < a[i]->sent().size() + 64; ++posted[i])
                EXPECT_EQ(a[i]->post_send(128 + posted[i] % 64, 4'096, posted[i]), errc::success);
            for (; checked[i] < b[i]->received().size(); ++checked[i]) {
                EXPECT_EQ(b[i]->received()[checked[i]].immediate, checked[i]);
                EXPECT_EQ(b[i]->post_receive(b[i]->received()[checked[i]].id.slot), errc::success);
            }
            done += checked[i] == messages && a[i]->sent().size() == messages;
        }
        return HasFailure() || done == streams;
    }));
}

TEST(Snapshots, MayBeTakenByAnyThreadWhileTheOwnerWorks) {
    soft_end a(open_soft("127.30.5.30"), {.timeout = patient}),
        b(open_soft("127.30.5.31"), {.timeout = patient});
    test::connect_ends(a, b);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> taken{0};
    std::thread reader([&] {
        std::uint64_t last = 0;
        while (!stop.load()) {
            for (const auto& c : b.device().snapshot().counters) {
                if (c.name != "packets_in") continue;
                EXPECT_GE(c.value, last);
                last = c.value;
            }
            ++taken;
        }
    });
    constexpr std::uint32_t messages = 2'000;
    b.post_receives(0, 128);
    std::uint32_t posted = 0, checked = 0;
    const bool done = drive({&a, &b}, [&] {
        for (; posted < messages && posted < a.sent().size() + 64; ++posted)
            EXPECT_EQ(a.post_send(128 + posted % 64, 100, posted), errc::success);
        for (; checked < b.received().size(); ++checked)
            EXPECT_EQ(b.post_receive(b.received()[checked].id.slot), errc::success);
        return checked == messages && taken.load() >= 20;
    });
    stop = true;
    reader.join();
    EXPECT_TRUE(done);
    EXPECT_GE(b.counter("packets_in"), messages);
}

/// A program that sleeps on the descriptor and the deadline alone: nothing may need a call in between.
TEST(Sleeping, HeldDatagramsAndTimersWakeTheLoopByTheirDeadline) {
    const fault_plan plan{
        .drop = 0.1, .reorder = 0.2, .delay = 0.2, .delay_time = std::chrono::microseconds(500), .seed = 8};
    soft_end a(open_soft("127.30.5.40", plan)), b(open_soft("127.30.5.41", plan));
    test::connect_ends(a, b);
    b.post_receives(0, 100);
    for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(a.post_send(128 + i, 500, i), errc::success);
    const auto everything = [&] { return a.sent().size() == 100 && b.received().size() == 100; };
    ASSERT_TRUE(drive({&a, &b}, everything, std::chrono::seconds(30), std::chrono::hours(1)));
    EXPECT_GT(a.counter("faults.delayed"), 0U);
}

} // namespace
} // namespace rocio
