#include "fake_slot_ring.hpp"

#include <rocio/rpc/client.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>
#include <rocio/types/slot_ring.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace rocio {
namespace {

struct whole {
    std::uint32_t slot_count() const { return 1; }
    std::span<const std::byte> rx_slot(std::uint32_t) { return {}; }
    std::span<std::byte> tx_slot(std::uint32_t) { return {}; }
    bool tx_free(std::uint32_t) { return true; }
    error_code publish(std::uint32_t, std::size_t) { return {}; }
    void release(std::uint32_t) {}
};
struct polled : whole {
    template <class Callback>
    int poll(Callback) {
        return 0;
    }
};
struct without_rx : whole {
    void rx_slot(std::uint32_t) = delete;
};
struct read_only_tx : whole {
    std::span<const std::byte> tx_slot(std::uint32_t) { return {}; }
};
struct without_tx_free : whole {
    void tx_free(std::uint32_t) = delete;
};
struct publish_tells_nothing : whole {
    void publish(std::uint32_t, std::size_t) {}
};
struct publish_takes_no_length : whole {
    error_code publish(std::uint32_t) { return {}; }
};
struct without_release : whole {
    void release(std::uint32_t) = delete;
};
struct count_not_const : whole {
    std::uint32_t slot_count() { return 1; }
};
struct poll_tells_nothing : whole {
    template <class Callback>
    void poll(Callback) {}
};

TEST(slot_ring_test, is_what_has_all_parts) {
    static_assert(slot_ring<whole>);
    static_assert(slot_ring<polled>);
    static_assert(slot_ring<test::fake_slot_ring>);
    SUCCEED();
}

TEST(slot_ring_test, is_nothing_that_lacks_a_part) {
    static_assert(!slot_ring<int>);
    static_assert(!slot_ring<without_rx>);
    static_assert(!slot_ring<read_only_tx>);
    static_assert(!slot_ring<without_tx_free>);
    static_assert(!slot_ring<publish_tells_nothing>);
    static_assert(!slot_ring<publish_takes_no_length>);
    static_assert(!slot_ring<without_release>);
    static_assert(!slot_ring<count_not_const>);
    SUCCEED();
}

TEST(slot_ring_test, is_polled_with_a_callback) {
    static_assert(polled_slot_ring<polled>);
    static_assert(!polled_slot_ring<whole>);
    static_assert(!polled_slot_ring<poll_tells_nothing>);
    SUCCEED();
}

template <class T>
concept can_poll = requires(T& t) {
    t.poll();
};

TEST(slot_ring_test, lets_rpc_poll_only_rings_that_can_be) {
    static_assert(can_poll<rpc::ring_dispatcher<polled>>);
    static_assert(!can_poll<rpc::ring_dispatcher<whole>>);
    static_assert(can_poll<rpc::client<polled>>);
    static_assert(!can_poll<rpc::client<whole>>);
    SUCCEED();
}

TEST(fake_slot_ring_test, reports_each_filled_slot_once_in_order) {
    test::fake_slot_ring ring(3, 8);
    const std::vector<std::byte> bytes(8, std::byte{1});
    ring.receive(2, bytes);
    ring.receive(0, bytes);
    std::vector<std::uint32_t> seen;
    EXPECT_EQ(ring.poll([&](std::uint32_t slot) { seen.push_back(slot); }), 2U);
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{2, 0}));
    EXPECT_EQ(ring.poll([&](std::uint32_t) { FAIL(); }), 0U);
}

TEST(fake_slot_ring_test, finds_breaches_of_the_contract) {
    test::fake_slot_ring ring(2, 8);
    EXPECT_THROW(ring.release(0), std::logic_error);
    EXPECT_THROW((void)ring.rx_slot(2), std::out_of_range);
    ring.keep_tx = true;
    EXPECT_FALSE(ring.publish(0, 8));
    EXPECT_THROW((void)ring.publish(0, 8), std::logic_error);
    ring.let_leave(0);
    EXPECT_FALSE(ring.publish(0, 8));
}

} // namespace
} // namespace rocio
