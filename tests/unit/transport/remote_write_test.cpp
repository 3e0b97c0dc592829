#include "registered_memory.hpp"
#include "test_packet.hpp"
#include "transport/remote_write.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using namespace test;
using verdict = remote_write::verdict;

constexpr std::uint64_t base = 0x4000;
constexpr std::uint32_t mtu_bytes = 256;

class remote_write_test : public testing::Test {
  protected:
    verdict check(const test_packet& p) {
        bytes = encode(p, qpn{1}, psn{0});
        EXPECT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
        return write.check(view, *shape_of(p.op), mtu_bytes, regions);
    }
    void take(const test_packet& p) {
        ASSERT_EQ(check(p), verdict::fits);
        write.write(view.payload());
    }
    test_packet first(std::uint32_t length) const {
        return write_first(0).at(base, memory.key(), length).carrying(1, 0, mtu_bytes);
    }

    memory_region_table regions;
    registered_memory memory{regions, 4096, memory_access::local_write | memory_access::remote_write, base};
    remote_write write;
    std::vector<std::byte> bytes;
    wire::packet_view view;
};

TEST_F(remote_write_test, puts_packet_behind_packet) {
    take(first(600));
    EXPECT_TRUE(write.active());
    EXPECT_EQ(write.total(), 600U);
    take(write_middle(1).carrying(1, 256, 256));
    take(write_last(2).carrying(1, 512, 88));
    EXPECT_FALSE(write.active());
    EXPECT_EQ(write.total(), 600U);
    EXPECT_EQ(first_difference(memory.bytes().first(600), 1), 600U);
    EXPECT_EQ(memory.bytes()[600], std::byte{0});
}

TEST_F(remote_write_test, checks_without_effect) {
    take(first(600));
    EXPECT_EQ(check(write_middle(1).carrying(2, 0, 256)), verdict::fits);
    EXPECT_EQ(check(write_last(1).carrying(2, 0, 300)), verdict::bad_length);
    EXPECT_EQ(memory.bytes()[256], std::byte{0});
    take(write_middle(1).carrying(1, 256, 256));
    take(write_last(2).carrying(1, 512, 88));
    EXPECT_EQ(first_difference(memory.bytes().first(600), 1), 600U);
}

TEST_F(remote_write_test, demands_the_room_for_the_whole_message_at_its_first_packet) {
    EXPECT_EQ(check(first(4096)), verdict::fits);
    EXPECT_EQ(check(first(4097)), verdict::no_access);
    EXPECT_EQ(check(first(1U << 31)), verdict::no_access);
    EXPECT_EQ(check(first((1U << 31) + 1)), verdict::bad_length);
}

TEST_F(remote_write_test, looks_the_region_up_for_every_packet) {
    take(first(600));
    memory.deregister();
    EXPECT_EQ(check(write_middle(1).carrying(1, 256, 256)), verdict::no_access);
}

TEST_F(remote_write_test, begins_anew_after_it_was_abandoned) {
    take(first(600));
    write.abandon();
    take(write_only(1).at(base + 1000, memory.key(), 4).carrying(3, 0, 4));
    EXPECT_EQ(write.total(), 4U);
    EXPECT_EQ(first_difference(memory.bytes().subspan(1000, 4), 3), 4U);
}

} // namespace
} // namespace rocio::transport
