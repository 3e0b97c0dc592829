#include "registered_memory.hpp"
#include "test_packet.hpp"
#include "transport/read_responder.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

constexpr std::uint64_t base = 0x9000;

class read_responder_test : public testing::Test {
  protected:
    read_responder_test() {
        reads.connect(qpn{7}, 256);
        test::fill_message(memory.bytes(), 5);
    }
    wire::reth at(std::uint64_t offset, std::uint32_t length) const {
        return {base + offset, rkey{memory.key()}, length};
    }
    /// Gives the opcodes of what leaves, at most `n` packets.
    std::vector<wire::opcode> leave(std::size_t n = 64) {
        packet_out out[64];
        const std::size_t given = reads.fill(std::span(out).first(n), regions);
        std::vector<wire::opcode> all;
        for (std::size_t i = 0; i < given; ++i)
            all.push_back(wire::opcode(std::to_integer<std::uint8_t>(out[i].header.bytes()[0])));
        bytes += reads.commit(given);
        return all;
    }

    memory_region_table regions;
    test::registered_memory memory{regions, 8192, memory_access::remote_read, base};
    read_responder reads{2};
    std::uint64_t bytes = 0;
    const wire::opcode first = wire::rc::read_response_first, middle = wire::rc::read_response_middle,
                       last = wire::rc::read_response_last, only = wire::rc::read_response_only;
};

using opcodes = std::vector<wire::opcode>;

TEST_F(read_responder_test, owes_one_packet_for_every_part_of_the_path_mtu) {
    EXPECT_EQ(reads.packets_of(0), 1U);
    EXPECT_EQ(reads.packets_of(1), 1U);
    EXPECT_EQ(reads.packets_of(256), 1U);
    EXPECT_EQ(reads.packets_of(257), 2U);
    EXPECT_EQ(reads.packets_of(1U << 31), 1U << 23);
    reads.add(psn{10}, at(0, 600), 1);
    EXPECT_EQ(reads.owed(), 3U);
    EXPECT_EQ(leave(), (opcodes{first, middle, last}));
    EXPECT_EQ(bytes, 600U);
    EXPECT_EQ(reads.owed(), 0U);
}

TEST_F(read_responder_test, goes_on_after_a_pause_and_over_the_bound_of_two_reads) {
    reads.add(psn{0xFFFFFF}, at(0, 600), 1);
    reads.add(psn{2}, at(0, 300), 2);
    EXPECT_EQ(leave(2), (opcodes{first, middle}));
    EXPECT_EQ(leave(2), (opcodes{last, first}));
    EXPECT_EQ(leave(2), (opcodes{last}));
    EXPECT_EQ(bytes, 900U);
}

TEST_F(read_responder_test, has_room_while_the_oldest_is_answered) {
    reads.add(psn{0}, at(0, 10), 1);
    reads.add(psn{1}, at(0, 10), 2);
    EXPECT_FALSE(reads.has_room());
    leave(1);
    EXPECT_TRUE(reads.has_room());
    reads.add(psn{2}, at(0, 10), 3);
    EXPECT_FALSE(reads.repeat(psn{0}, at(0, 10))) << "forgotten";
    EXPECT_TRUE(reads.repeat(psn{1}, at(0, 10)));
    EXPECT_FALSE(read_responder{0}.has_room());
}

// The request for the oldest was late on its way, and comes together with a new one: the peer has the
// responses.
TEST_F(read_responder_test, has_room_when_the_oldest_was_answered_and_is_asked_for_again) {
    reads.add(psn{0}, at(0, 600), 1);
    reads.add(psn{3}, at(0, 10), 2);
    leave();
    EXPECT_TRUE(reads.repeat(psn{0}, at(0, 600)));
    EXPECT_TRUE(reads.has_room());
    reads.add(psn{4}, at(0, 10), 3);
    EXPECT_EQ(leave(), opcodes{only}) << "nobody waits for the repetition";
}

TEST_F(read_responder_test, has_no_room_while_a_first_answer_is_under_way_though_it_is_asked_for_again) {
    reads.add(psn{0}, at(0, 600), 1);
    reads.add(psn{3}, at(0, 10), 2);
    leave(2);
    EXPECT_TRUE(reads.repeat(psn{0}, at(0, 600)));
    EXPECT_FALSE(reads.has_room());
}

TEST_F(read_responder_test, repeats_what_lies_within_a_read) {
    reads.add(psn{0xFFFFFE}, at(100, 1000), 1);
    leave();
    EXPECT_TRUE(reads.repeat(psn{0}, at(100 + 512, 488)));
    EXPECT_EQ(leave(), (opcodes{first, last}));
    EXPECT_TRUE(reads.repeat(psn{0}, at(100 + 512, 256)));
    EXPECT_EQ(leave(), (opcodes{only}));
    EXPECT_FALSE(reads.repeat(psn{0}, at(100 + 512, 489)));
    EXPECT_FALSE(reads.repeat(psn{0}, at(100 + 511, 488)));
    EXPECT_FALSE(reads.repeat(psn{2}, at(100, 10)));
    EXPECT_EQ(reads.owed(), 0U);
}

TEST_F(read_responder_test, starts_again_when_it_is_already_past_what_is_asked) {
    reads.add(psn{0}, at(0, 1000), 1);
    leave(2);
    EXPECT_TRUE(reads.repeat(psn{3}, at(768, 232)));
    EXPECT_EQ(reads.owed(), 2U) << "on its way there";
    EXPECT_TRUE(reads.repeat(psn{1}, at(256, 744)));
    EXPECT_EQ(leave(), (opcodes{first, middle, last}));
}

TEST_F(read_responder_test, stops_where_memory_is_gone_and_tells_when_nothing_can_go_before) {
    test::registered_memory other(regions, 512, memory_access::remote_read, base);
    reads.add(psn{0}, at(0, 10), 1);
    reads.add(psn{1}, {base, rkey{other.key()}, 10}, 2);
    other.deregister();
    EXPECT_EQ(leave(), opcodes{only});
    EXPECT_FALSE(reads.refused());
    EXPECT_TRUE(leave().empty());
    EXPECT_EQ(reads.refused(), psn{1});
    reads.drop_owed();
    EXPECT_EQ(reads.owed(), 0U);
}

} // namespace
} // namespace rocio::transport
