#include "transport/packet_train.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

packet_train train_of(std::initializer_list<std::uint32_t> sizes, std::uint32_t longest = 15) {
    packet_train train;
    for (const auto size : sizes) train.add(size, longest);
    return train;
}

TEST(packet_train, takes_nothing_before_its_first_packet) {
    EXPECT_FALSE(packet_train{}.takes(100, 15));
    EXPECT_TRUE(packet_train{}.empty());
}

TEST(packet_train, takes_packets_as_long_as_the_first) {
    const auto train = train_of({4116, 4116});
    EXPECT_TRUE(train.takes(4116, 15));
    EXPECT_FALSE(train.takes(4120, 15));
    EXPECT_EQ(train.last_place(), 1);
}

TEST(packet_train, ends_with_a_shorter_one) {
    const auto train = train_of({4116, 4116, 100});
    EXPECT_EQ(train.last_place(), 2);
    EXPECT_FALSE(train.takes(100, 15));
    EXPECT_FALSE(train.takes(4116, 15));
}

TEST(packet_train, ends_at_its_longest) {
    EXPECT_TRUE(train_of({80, 80}, 3).takes(80, 3));
    EXPECT_FALSE(train_of({80, 80, 80}, 3).takes(80, 3));
    EXPECT_FALSE(train_of({80}, 1).takes(80, 1));
}

TEST(packet_train, ends_before_its_bytes_exceed_a_datagram) {
    packet_train train;
    for (int i = 0; i < 7; ++i) train.add(9000, 15);
    EXPECT_EQ(train.last_place(), 6);
    EXPECT_FALSE(train.takes(9000, 15)) << "72,000 bytes";
}

TEST(packet_train, begins_anew_with_what_it_cannot_take) {
    auto train = train_of({80, 80});
    train.add(4116, 15);
    EXPECT_EQ(train.last_place(), 0);
    EXPECT_TRUE(train.takes(4116, 15));
}

} // namespace
} // namespace rocio::transport
