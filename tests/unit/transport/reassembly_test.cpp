#include "registered_memory.hpp"
#include "test_bytes.hpp"
#include "transport/reassembly.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using test::message_bytes;

class reassembly_test : public testing::Test {
  protected:
    receive_request receive(std::uint32_t size) { return {{1, 2, 3}, memory.take(size)}; }

    memory_region_table regions;
    test::registered_memory memory{regions, 4096};
    reassembly message;
};

TEST_F(reassembly_test, joins_packets_and_gives_the_length) {
    const receive_request r = receive(100);
    message.begin(r);
    EXPECT_TRUE(message.active());
    EXPECT_EQ(message.append(message_bytes(5, 0, 60), regions), errc::success);
    EXPECT_EQ(message.append(message_bytes(5, 60, 40), regions), errc::success);
    EXPECT_EQ(message.received(), 100U);
    const work_completion c = message.finish(std::nullopt);
    EXPECT_FALSE(message.active());
    EXPECT_EQ(c.id, r.id);
    EXPECT_EQ(c.op, completion_opcode::receive);
    EXPECT_EQ(c.byte_len, 100U);
    EXPECT_FALSE(c.has_immediate);
    EXPECT_EQ(test::first_difference(r.buffer.bytes(), 5), 100U);
}

TEST_F(reassembly_test, hands_over_an_immediate_of_zero) {
    message.begin(receive(1));
    const work_completion c = message.finish(0U);
    EXPECT_TRUE(c.has_immediate);
    EXPECT_EQ(c.immediate, 0U);
}

TEST_F(reassembly_test, refuses_bytes_beyond_the_receive_and_writes_none_of_them) {
    const registered_buffer all = memory.take(200);
    message.begin({{1, 2, 3}, all.first(100)});
    EXPECT_EQ(message.append(message_bytes(5, 0, 60), regions), errc::success);
    EXPECT_EQ(message.append(message_bytes(5, 60, 41), regions), errc::local_length_error);
    EXPECT_EQ(message.received(), 60U);
    for (std::size_t i = 60; i < 200; ++i) EXPECT_EQ(all.data[i], std::byte{0});
}

TEST_F(reassembly_test, reports_length_before_protection) {
    message.begin({{1, 2, 3}, registered_buffer{nullptr, 4, lkey{0}}});
    EXPECT_EQ(message.append(message_bytes(5, 0, 5), regions), errc::local_length_error);
    EXPECT_EQ(message.append(message_bytes(5, 0, 4), regions), errc::local_protection_error);
}

TEST_F(reassembly_test, looks_the_region_up_for_every_packet) {
    message.begin(receive(100));
    EXPECT_EQ(message.append(message_bytes(5, 0, 60), regions), errc::success);
    memory.deregister();
    EXPECT_EQ(message.append(message_bytes(5, 60, 10), regions), errc::local_protection_error);
}

TEST_F(reassembly_test, begins_anew_after_it_was_abandoned) {
    message.begin(receive(100));
    EXPECT_EQ(message.append(message_bytes(5, 0, 60), regions), errc::success);
    message.abandon();
    EXPECT_FALSE(message.active());
    message.begin(receive(10));
    EXPECT_EQ(message.received(), 0U);
}

} // namespace
} // namespace rocio::transport
