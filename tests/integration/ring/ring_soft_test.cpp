#include "hooked_device.hpp"
#include "ring_fixture.hpp"

#include <rocio/connect/cudaq_rendezvous.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/types/slot_ring.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

static_assert(polled_slot_ring<ring_transceiver>);

class RingModes : public RingSoft, public ::testing::WithParamInterface<ring_tx_mode> {};
INSTANTIATE_TEST_SUITE_P(EachWay, RingModes,
                         ::testing::Values(ring_tx_mode::send, ring_tx_mode::write_with_immediate));

TEST_P(RingModes, messages_go_both_ways_through_every_slot_many_laps) {
    auto ca = config_on("soft:127.95.1.1");
    auto cb = config_on("soft:127.95.1.2");
    ca.tx_mode = cb.tx_mode = GetParam();
    ring_transceiver a(context, ca), b(context, cb);
    connect(a, b);
    for (std::uint32_t i = 0; i < 40; ++i) {
        const auto slot = i % 8;
        eventually([&] { return a.tx_free(slot); });
        send(a, slot, "question " + std::to_string(i));
        const auto asked = next(b);
        EXPECT_EQ(asked, (std::pair{slot, "question " + std::to_string(i)}));
        b.release(asked.first);
        eventually([&] { return b.tx_free(slot); });
        send(b, asked.first, "answer " + std::to_string(i));
        const auto answered = next(a);
        EXPECT_EQ(answered.second, "answer " + std::to_string(i));
        a.release(answered.first);
    }
    EXPECT_EQ(a.snapshot().sent, 40U);
    EXPECT_EQ(b.snapshot().received, 40U);
    EXPECT_EQ(b.snapshot().overwritten, 0U);
    EXPECT_EQ(b.snapshot().bad_immediate, 0U);
}

TEST_F(RingSoft, a_writer_may_use_its_slots_in_any_order) {
    auto ca = config_on("soft:127.95.2.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.2.2"));
    connect(a, b);
    for (const std::uint32_t slot : {5U, 2U, 7U, 0U}) {
        send(a, slot, "slot " + std::to_string(slot));
        EXPECT_EQ(next(b), (std::pair{slot, "slot " + std::to_string(slot)}));
    }
}

TEST_F(RingSoft, flags_are_the_address_of_fresh_data_and_0_when_free) {
    auto ca = config_on("soft:127.95.3.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.3.2"));
    connect(a, b);
    write_text(a.tx_slot(3), "by its flag");
    a.tx_flags()[3] = reinterpret_cast<std::uintptr_t>(a.tx_slot(3).data());
    a.notify();
    eventually([&] { return detail::ring_memory::load(b.rx_flags()[3]) != 0; });
    EXPECT_EQ(b.rx_flags()[3], reinterpret_cast<std::uintptr_t>(b.rx_slot(3).data()));
    EXPECT_EQ(text_in(b.rx_slot(3)), "by its flag");
    eventually([&] { return a.tx_free(3); });
    detail::ring_memory::store(b.rx_flags()[3], 0);
    b.notify();
    eventually([&] { return b.snapshot().rx_held == 0 && b.snapshot().receives_posted == 8; });
}

TEST_F(RingSoft, a_flag_that_is_no_address_in_the_ring_is_taken_back_and_counted) {
    ring_transceiver a(context, config_on("soft:127.95.4.1")), b(context, config_on("soft:127.95.4.2"));
    connect(a, b);
    a.tx_flags()[1] = 0x1234;
    a.notify();
    eventually([&] { return a.tx_free(1); });
    EXPECT_EQ(a.snapshot().bad_flag, 1U);
    EXPECT_EQ(a.snapshot().sent, 0U);
    EXPECT_TRUE(a.is_connected());
}

TEST_F(RingSoft, leases_hold_their_slot_until_they_end_and_may_outlive_the_ring) {
    auto ca = config_on("soft:127.95.5.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca);
    std::optional<ring_transceiver> b(std::in_place, context, config_on("soft:127.95.5.2"));
    connect(a, *b);
    std::vector<ring_slot> leases;
    for (int i = 0; i < 2; ++i) {
        b->async_receive([&](const error_code& ec, ring_slot slot) {
            EXPECT_FALSE(ec) << ec.message();
            leases.push_back(std::move(slot));
        });
    }
    send(a, 6, "six");
    send(a, 1, "one");
    eventually([&] { return leases.size() == 2; });
    std::vector<std::string> texts{text_in(leases[0].bytes()), text_in(leases[1].bytes())};
    EXPECT_THAT(texts, ::testing::UnorderedElementsAre("six", "one"));
    leases.erase(leases.begin());
    eventually([&] { return b->snapshot().rx_held == 1; });
    b.reset();
    EXPECT_FALSE(text_in(leases[0].bytes()).empty());
}

TEST_F(RingSoft, a_held_slot_that_is_written_again_says_so_and_is_told_of_again) {
    auto ca = config_on("soft:127.95.6.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.6.2"));
    connect(a, b);
    std::optional<ring_slot> lease;
    b.async_receive([&](const error_code& ec, ring_slot slot) {
        ASSERT_FALSE(ec);
        lease.emplace(std::move(slot));
    });
    send(a, 4, "first");
    eventually([&] { return lease.has_value(); });
    EXPECT_FALSE(lease->overwritten());
    eventually([&] { return a.tx_free(4); });
    send(a, 4, "second");
    eventually([&] { return b.snapshot().overwritten == 1; });
    EXPECT_TRUE(lease->overwritten());
    lease->release();
    EXPECT_EQ(next(b), (std::pair{4U, std::string("second")}));
    b.release(4);
    eventually([&] { return b.snapshot().receives_posted == 8; });
}

TEST_F(RingSoft, a_ring_whose_slots_are_all_held_loses_messages_and_goes_on) {
    auto ca = config_on("soft:127.95.7.1");
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.7.2"));
    connect(a, b);
    std::vector<std::uint32_t> held;
    for (std::uint32_t i = 0; i < 8; ++i) {
        send(a, i, "kept");
        held.push_back(next(b).first);
    }
    eventually([&] { return a.tx_free(0); });
    send(a, 0, "lost");
    eventually([&] { return a.tx_free(0); });
    for (const auto slot : held) EXPECT_EQ(text_in(b.rx_slot(slot)), "kept");
    for (const auto slot : held) b.release(slot);
    eventually([&] { return b.snapshot().receives_posted == 8; });
    send(a, 1, "after");
    EXPECT_EQ(next(b).second, "after");
}

TEST_F(RingSoft, forward_sends_back_what_it_receives) {
    auto ca = config_on("soft:127.95.8.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    auto cb = config_on("soft:127.95.8.2");
    cb.mode = ring_mode::forward;
    ring_transceiver a(context, ca), b(context, cb);
    connect(a, b);
    for (std::uint32_t i = 0; i < 30; ++i) {
        eventually([&] { return a.tx_free(i % 8); });
        send(a, i % 8, "there and back " + std::to_string(i));
        const auto got = next(a);
        EXPECT_EQ(got.second, "there and back " + std::to_string(i));
        a.release(got.first);
    }
    for (std::uint32_t slot = 0; slot < 8; ++slot) EXPECT_EQ(b.rx_flags()[slot], 0U);
}

TEST_F(RingSoft, one_way_rings_do_only_their_half) {
    auto ca = config_on("soft:127.95.9.1");
    ca.mode = ring_mode::tx_only;
    auto cb = config_on("soft:127.95.9.2");
    cb.mode = ring_mode::rx_only;
    ring_transceiver a(context, ca), b(context, cb);
    connect(a, b);
    EXPECT_EQ(a.snapshot().receives_posted, 0U);
    EXPECT_EQ(b.snapshot().receives_posted, 8U);
    send(a, 0, "one way");
    EXPECT_EQ(next(b).second, "one way");
    ASSERT_FALSE(b.publish(2, 8));
    b.release(0);
    eventually([&] { return b.snapshot().receives_posted == 8; });
    EXPECT_FALSE(b.tx_free(2)) << "an rx_only ring sends nothing";
}

/// `b` is unified, on a context that never runs; `a` writes to it.
class UnifiedSoft : public RingSoft {
  protected:
    void join(const std::string& ours, const std::string& theirs, std::uint32_t slot_size = 256) {
        auto ca = config_on(ours, 8, slot_size);
        auto cb = config_on(theirs, 8, slot_size);
        ca.tx_mode = ring_tx_mode::write_with_immediate;
        cb.mode = ring_mode::unified;
        a_.emplace(context, ca);
        b_.emplace(idle_, cb);
        connect(*a_, *b_);
    }
    void TearDown() override {
        b_.reset();
        a_.reset();
        RingSoft::TearDown();
    }

    asio::io_context idle_;
    std::optional<ring_transceiver> a_, b_;
};

TEST_F(UnifiedSoft, polls_and_publishes_on_the_callers_thread) {
    join("soft:127.95.10.1", "soft:127.95.10.2");
    auto &a = *a_, &b = *b_;
    for (std::uint32_t i = 0; i < 40; ++i) {
        eventually([&] { return a.tx_free(i % 8); });
        send(a, i % 8, "question " + std::to_string(i));
        std::uint32_t slot = 99;
        eventually([&] { return b.rx_poll(slot); });
        EXPECT_EQ(slot, i % 8);
        EXPECT_EQ(text_in(b.rx_slot(slot)), "question " + std::to_string(i));
        EXPECT_EQ(b.rx_flags()[slot], 0U);
        write_text(b.tx_slot(slot), "answer " + std::to_string(i));
        ASSERT_TRUE(b.tx_publish(slot));
        const auto got = next(a);
        EXPECT_EQ(got.second, "answer " + std::to_string(i));
        a.release(got.first);
    }
    std::uint32_t slot = 0;
    EXPECT_FALSE(b.rx_poll(slot));
    EXPECT_FALSE(b.tx_publish(8));
    b.stop();
    EXPECT_FALSE(b.rx_poll(slot));
    EXPECT_FALSE(b.tx_publish(0));
}

TEST_F(UnifiedSoft, answers_that_are_not_copied_leave_from_their_slots) {
    join("soft:127.95.20.1", "soft:127.95.20.2", 1024);
    auto &a = *a_, &b = *b_;
    for (std::uint32_t i = 0; i < 40; ++i) {
        eventually([&] { return a.tx_free(i % 8); });
        send(a, i % 8, "question");
        std::uint32_t slot = 99;
        eventually([&] { return b.rx_poll(slot); });
        ASSERT_EQ(slot, i % 8);
        std::ranges::fill(b.tx_slot(slot), std::byte{static_cast<unsigned char>(i)});
        // By turns, so that copies and others follow each other.
        ASSERT_TRUE(b.tx_publish(slot, i % 3 == 0 ? 256 : 1024 - i));
        const auto got = next(a);
        const auto bytes = a.rx_slot(got.first).first(i % 3 == 0 ? 256 : 1024 - i);
        EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte each) { return each == std::byte(i); })) << i;
        a.release(got.first);
    }
    std::uint32_t slot = 0;
    EXPECT_FALSE(b.rx_poll(slot));
    EXPECT_EQ(b.snapshot().sent, 40U);
    EXPECT_EQ(b.snapshot().tx_in_flight, 0U);
}

TEST_F(UnifiedSoft, publishes_any_number_of_answers_without_polling) {
    join("soft:127.95.22.1", "soft:127.95.22.2");
    auto& b = *b_;
    for (std::uint32_t i = 0; i < 10000; ++i) ASSERT_TRUE(b.tx_publish(i % 8, 64)) << i;
    EXPECT_EQ(b.snapshot().sent, 10000U);
    EXPECT_EQ(b.snapshot().bytes_sent, 640000U);
    EXPECT_TRUE(b.is_connected());
    // A completion queue that was overrun says so when it is empty.
    std::uint32_t slot = 0;
    for (std::uint32_t i = 0; i < 10000 / 32; ++i) EXPECT_FALSE(b.rx_poll(slot));
    EXPECT_TRUE(b.is_connected()) << b.last_error().text;
}

TEST_F(UnifiedSoft, may_be_looked_at_and_stopped_while_it_is_polled) {
    join("soft:127.95.21.1", "soft:127.95.21.2");
    auto &a = *a_, &b = *b_;
    std::atomic<std::uint32_t> answered{0};
    std::atomic<bool> over{false};
    std::thread server([&] {
        std::uint32_t slot = 0;
        while (!over)
            if (b.rx_poll(slot) && b.tx_publish(slot)) ++answered;
        while (b.rx_poll(slot) || b.tx_publish(0)) {
        }
    });
    for (std::uint32_t i = 0; i < 200; ++i) {
        eventually([&] { return a.tx_free(i % 8); });
        send(a, i % 8, "question");
        a.release(next(a).first);
        EXPECT_LE(b.snapshot().received, i + 1U);
    }
    eventually([&] { return answered == 200U; });
    for (std::uint32_t slot = 0; slot < 8; ++slot) send(a, slot, "the last ones");
    context.poll();
    b.stop();
    over = true;
    server.join();
    EXPECT_FALSE(b.is_connected());
}

TEST_F(RingSoft, unified_has_no_asynchronous_operations) {
    auto c = config_on("soft:127.95.11.1");
    c.mode = ring_mode::unified;
    ring_transceiver ring(context, c);
    std::optional<error_code> received, waited, connected;
    ring.async_receive([&](const error_code& ec, const ring_slot&) { received = ec; });
    ring.async_wait([&](const error_code& ec) { waited = ec; });
    ring.async_connect(tcp_connector(context, {asio::ip::address_v4::loopback(), 1}),
                       [&](const error_code& ec) { connected = ec; });
    eventually([&] { return received && waited && connected; });
    EXPECT_EQ(*received, errc::unified_mode);
    EXPECT_EQ(*waited, errc::unified_mode);
    EXPECT_EQ(*connected, errc::not_supported);
}

TEST_F(RingSoft, connects_by_the_tcp_rendezvous_and_hears_the_goodbye) {
    std::optional<ring_transceiver> a(std::in_place, context, config_on("soft:127.95.12.1"));
    ring_transceiver b(context, config_on("soft:127.95.12.2"));
    tcp_listener listener(context);
    std::optional<error_code> served, dialled, ended;
    listener.async_accept([&](const error_code& ec, tcp_peer peer) {
        ASSERT_FALSE(ec);
        b.async_connect(std::move(peer), [&](const error_code& e) { served = e; });
    });
    a->async_connect(tcp_connector(context, listener.local_endpoint()),
                     [&](const error_code& e) { dialled = e; });
    eventually([&] { return served && dialled; });
    ASSERT_FALSE(*served) << b.last_error().message();
    ASSERT_FALSE(*dialled) << a->last_error().message();
    send(*a, 0, "hello");
    EXPECT_EQ(next(b).second, "hello");
    b.async_receive([&](const error_code& ec, const ring_slot&) { ended = ec; });
    a.reset();
    eventually([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, errc::peer_closed);
}

TEST_F(RingSoft, stop_ends_an_attempt_that_would_wait_for_ever) {
    ring_transceiver ring(context, config_on("soft:127.95.24.1"));
    std::optional<error_code> ended;
    ring.async_connect(cudaq_service(context, {asio::ip::address_v4::loopback(), 0}),
                       [&](const error_code& ec) { ended = ec; });
    (void)poll();
    EXPECT_FALSE(ended);
    ring.stop();
    eventually([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
    run(); // nothing is left that waits
}

TEST_F(RingSoft, other_slots_than_the_peers_are_refused_on_both_sides) {
    ring_transceiver a(context, config_on("soft:127.95.13.1", 8)),
        b(context, config_on("soft:127.95.13.2", 16));
    a.setup();
    b.setup();
    error_info e;
    a.connect(peer_of(b.local()), e);
    EXPECT_EQ(e.code, errc::geometry_mismatch);
    EXPECT_THAT(e.text, HasSubstr("16 slots"));
    EXPECT_FALSE(a.is_connected());
}

TEST_F(RingSoft, writing_without_the_peers_key_is_refused) {
    auto c = config_on("soft:127.95.14.1");
    c.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, c), b(context, config_on("soft:127.95.14.2"));
    b.setup();
    auto peer = peer_of(b.local());
    peer.region.key = {};
    error_info e;
    a.connect(peer, e);
    EXPECT_EQ(e.code, errc::invalid_peer_parameters);
    EXPECT_THAT(e.text, HasSubstr("rkey"));
}

TEST_F(RingSoft, stop_and_cancel_end_what_waits) {
    ring_transceiver a(context, config_on("soft:127.95.15.1"));
    std::vector<error_code> ended;
    const auto note = [&](const error_code& ec) { ended.push_back(ec); };
    a.async_wait(note);
    a.cancel();
    eventually([&] { return ended.size() == 1; });
    a.async_wait(note);
    a.async_receive([&](const error_code& ec, const ring_slot&) { ended.push_back(ec); });
    a.stop();
    a.async_wait(note);
    eventually([&] { return ended.size() == 4; });
    EXPECT_THAT(ended, ElementsAre(error_code(asio::error::operation_aborted), error_code(errc::stopped),
                                   error_code(errc::stopped), error_code(errc::stopped)));
    error_info e;
    a.setup(e);
    EXPECT_EQ(e.code, errc::stopped);
}

TEST_F(RingSoft, an_event_driven_ring_wakes_for_a_publish_and_a_release_from_another_thread) {
    engine().set_policy(polling_policy::park());
    auto ca = config_on("soft:127.95.16.1");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.16.2"));
    connect(a, b);
    for (int i = 0; i < 20; ++i) {
        (void)poll();
        std::thread other([&] { send(a, 2, "from elsewhere"); });
        EXPECT_EQ(next(b), (std::pair{2U, std::string("from elsewhere")}));
        other.join();
        std::thread reader([&] { b.release(2); });
        eventually([&] { return b.snapshot().receives_posted == 8 && a.tx_free(2); });
        reader.join();
    }
}

TEST_F(RingSoft, a_message_written_over_between_release_and_look_is_counted_and_not_told_of_twice) {
    auto ca = config_on("soft:127.95.22.1"), cb = config_on("soft:127.95.22.2");
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    const auto hooked = std::make_shared<hooked_device>(cb.device);
    cb.device = hooked;
    ring_transceiver a(context, ca), b(context, cb);
    connect(a, b);
    send(a, 4, "first");
    EXPECT_EQ(next(b).second, "first");
    eventually([&] { return a.tx_free(4); });
    send(a, 4, "second");
    eventually([&] { return b.snapshot().overwritten == 1 && a.tx_free(4); });
    // The reader lets go when the third is in the slot and its completion not yet taken.
    bool released = false;
    hooked->after_progress = [&] {
        if (released || text_in(b.rx_slot(4)) != "third") return;
        released = true;
        b.release(4);
    };
    send(a, 4, "third");
    eventually([&] { return b.snapshot().received == 3; });
    EXPECT_TRUE(released);
    EXPECT_EQ(b.snapshot().overwritten, 2U) << "the second was never read";
    EXPECT_EQ(next(b).second, "third");
    b.release(4);
    eventually([&] { return b.snapshot().receives_posted == 8; });
    std::size_t more = 0;
    (void)b.poll([&](std::uint32_t) { ++more; });
    EXPECT_EQ(more, 0U);
}

TEST_F(RingSoft, an_end_in_good_order_counts_no_errors) {
    ring_transceiver a(context, config_on("soft:127.95.23.1")), b(context, config_on("soft:127.95.23.2"));
    connect(a, b);
    send(a, 0, "one");
    EXPECT_EQ(next(b).second, "one");
    a.stop();
    b.stop();
    EXPECT_EQ(a.snapshot().send_errors + a.snapshot().receive_errors, 0U);
    EXPECT_EQ(b.snapshot().send_errors + b.snapshot().receive_errors, 0U);
}

TEST_F(RingSoft, a_lost_packet_costs_its_message_and_shifts_nothing) {
    open_options lossy;
    lossy.faults = fault_plan{};
    lossy.faults->drop = 0.2;
    lossy.faults->seed = 11;
    auto ca = config_on("soft:127.95.21.1", 8, 256, lossy);
    ca.tx_mode = ring_tx_mode::write_with_immediate;
    ring_transceiver a(context, ca), b(context, config_on("soft:127.95.21.2"));
    connect(a, b);
    std::uint64_t got = 0;
    for (std::uint32_t i = 0; i < 200; ++i) {
        eventually([&] { return a.tx_free(i % 8); });
        send(a, i % 8, std::to_string(i));
        eventually([&] { return a.tx_free(i % 8); });
        (void)poll();
        (void)b.poll([&](std::uint32_t slot) {
            EXPECT_EQ(slot, i % 8);
            EXPECT_EQ(text_in(b.rx_slot(slot)), std::to_string(i));
            b.release(slot);
            ++got;
        });
    }
    EXPECT_GT(got, 120U);
    EXPECT_LT(got, 190U);
    EXPECT_EQ(b.snapshot().received, got);
    ASSERT_TRUE(b.snapshot().device_counters);
    EXPECT_GT(b.snapshot().device_counters->psns_missed, 0U);
    EXPECT_EQ(b.snapshot().overwritten, 0U);
}

} // namespace
} // namespace rocio::test
