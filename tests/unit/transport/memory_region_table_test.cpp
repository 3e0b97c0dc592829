#include <rocio/transport/memory_region_table.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

namespace rocio::transport {
namespace {

constexpr memory_access local_write = memory_access::local_write;
constexpr memory_access remote_write = memory_access::remote_write;
constexpr memory_access remote_read = memory_access::remote_read;
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

class memory_region_table_test : public testing::Test {
  protected:
    std::uint32_t add(memory_access access, std::uint64_t iova = 0x10000) {
        std::uint32_t key = 0;
        EXPECT_EQ(table.add({bytes.data(), bytes.size(), iova, access}, key), errc::success);
        return key;
    }
    registered_buffer buffer(std::ptrdiff_t offset, std::uint32_t size, std::uint32_t key) {
        return {bytes.data() + offset, size, lkey{key}};
    }

    std::array<std::byte, 1024> slab{};
    std::span<std::byte> bytes =
        std::span(slab).subspan(256, 512); // with room around it for addresses outside
    memory_region_table table;
};

TEST_F(memory_region_table_test, grants_exactly_the_bytes_of_the_region_locally) {
    const auto key = add(local_write);
    EXPECT_TRUE(table.check_local(buffer(0, 512, key), local_write));
    EXPECT_TRUE(table.check_local(buffer(511, 1, key), local_write));
    EXPECT_FALSE(table.check_local(buffer(-1, 1, key), local_write));
    EXPECT_FALSE(table.check_local(buffer(-1, 512, key), local_write));
    EXPECT_FALSE(table.check_local(buffer(0, 513, key), local_write));
    EXPECT_FALSE(table.check_local(buffer(512, 1, key), local_write));
    EXPECT_FALSE(table.check_local(buffer(1, 0xFFFFFFFF, key), local_write));
}

TEST_F(memory_region_table_test, always_grants_local_reads_and_asks_for_the_right_to_write) {
    const auto key = add(memory_access::local_read);
    EXPECT_TRUE(table.check_local(buffer(0, 8, key), memory_access::local_read));
    EXPECT_FALSE(table.check_local(buffer(0, 8, key), local_write));
}

TEST_F(memory_region_table_test, needs_no_region_for_an_empty_buffer) {
    EXPECT_TRUE(table.check_local({}, local_write));
    EXPECT_TRUE(table.check_local(buffer(0, 0, 0xDEAD), local_write));
}

TEST_F(memory_region_table_test, knows_no_other_keys) {
    const auto key = add(local_write);
    for (const std::uint32_t other : {0U, 1U, 0xFFU, 0x100U, key + 1, key - 1, key + 0x100, 0xFFFFFFFFU}) {
        EXPECT_FALSE(table.check_local(buffer(0, 8, other), local_write)) << other;
        EXPECT_EQ(table.remove(other), errc::invalid_argument) << other;
    }
}

TEST_F(memory_region_table_test, gives_no_key_of_zero) {
    for (int i = 0; i < 1000; ++i) {
        const auto key = add(local_write);
        EXPECT_NE(key, 0U);
        EXPECT_EQ(table.remove(key), errc::success);
    }
}

TEST_F(memory_region_table_test, never_lets_an_old_key_name_a_new_region) {
    std::set<std::uint32_t> old;
    for (int i = 0; i < 255; ++i) {
        const auto key = add(local_write);
        EXPECT_TRUE(old.insert(key).second);
        EXPECT_EQ(table.remove(key), errc::success);
        EXPECT_EQ(table.remove(key), errc::invalid_argument);
        EXPECT_FALSE(table.check_local(buffer(0, 8, key), local_write));
    }
    add(local_write);
    for (const auto key : old) EXPECT_FALSE(table.check_local(buffer(0, 8, key), local_write));
}

TEST_F(memory_region_table_test, counts_what_lives) {
    EXPECT_EQ(table.size(), 0U);
    const auto a = add(local_write);
    const auto b = add(local_write);
    EXPECT_NE(a, b);
    EXPECT_EQ(table.size(), 2U);
    table.remove(a);
    EXPECT_EQ(table.size(), 1U);
    EXPECT_TRUE(table.check_local(buffer(0, 8, b), local_write));
}

TEST_F(memory_region_table_test, refuses_what_is_no_region) {
    std::uint32_t key = 0;
    const auto refused = [&](const memory_region_table::region& r) {
        return table.add(r, key) == errc::invalid_argument;
    };
    EXPECT_TRUE(refused({nullptr, 512, 0, local_write}));
    EXPECT_TRUE(refused({bytes.data(), 0, 0, local_write}));
    EXPECT_TRUE(refused({bytes.data(), 512, 0, remote_write})) << "remote_write needs local_write";
    EXPECT_TRUE(refused({bytes.data(), 512, 0, remote_write | remote_read}));
    EXPECT_TRUE(refused({bytes.data(), 512, top - 510, local_write}));
    EXPECT_TRUE(refused({bytes.data(), 512, top, local_write}));
    EXPECT_EQ(table.size(), 0U);
    EXPECT_FALSE(refused({bytes.data(), 512, top - 511, local_write})) << "ends exactly at 2^64";
    EXPECT_FALSE(refused({bytes.data(), 512, 0, remote_read}));
}

TEST_F(memory_region_table_test, translates_remote_addresses) {
    const rkey key{add(local_write | remote_write, 0x7000)};
    const auto all = table.check_remote(key, 0x7000, 512, remote_write);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->data(), bytes.data());
    EXPECT_EQ(all->size(), 512U);
    const auto last = table.check_remote(key, 0x71FF, 1, remote_write);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->data(), bytes.data() + 511);
}

TEST_F(memory_region_table_test, refuses_remote_addresses_outside_even_where_sums_wrap) {
    const rkey key{add(local_write | remote_write, 0x7000)};
    const auto refused = [&](std::uint64_t address, std::uint64_t length) {
        return !table.check_remote(key, address, length, remote_write);
    };
    EXPECT_TRUE(refused(0x6FFF, 1));
    EXPECT_TRUE(refused(0x7200, 1));
    EXPECT_TRUE(refused(0x71FF, 2));
    EXPECT_TRUE(refused(0x7000, 513));
    EXPECT_TRUE(refused(top - 7, 16));
    EXPECT_TRUE(refused(0x7001, top));
    EXPECT_TRUE(refused(0, top));
}

TEST_F(memory_region_table_test, reaches_the_last_byte_of_the_address_space) {
    const rkey key{add(local_write | remote_write, top - 511)};
    EXPECT_TRUE(table.check_remote(key, top, 1, remote_write));
    EXPECT_FALSE(table.check_remote(key, top, 2, remote_write));
    EXPECT_FALSE(table.check_remote(key, 0, 1, remote_write));
}

TEST_F(memory_region_table_test, demands_the_right_for_a_remote_access) {
    const rkey writable{add(local_write | remote_write)};
    const rkey readable{add(remote_read)};
    const rkey local{add(local_write)};
    const auto granted = [&](rkey k, memory_access need) {
        return table.check_remote(k, 0x10000, 8, need).has_value();
    };
    EXPECT_TRUE(granted(writable, remote_write));
    EXPECT_FALSE(granted(writable, remote_read));
    EXPECT_TRUE(granted(readable, remote_read));
    EXPECT_FALSE(granted(readable, remote_write));
    EXPECT_FALSE(granted(local, remote_write));
    EXPECT_FALSE(granted(rkey{0}, remote_write));
}

TEST_F(memory_region_table_test, needs_neither_key_nor_address_for_zero_bytes) {
    const auto nothing = table.check_remote(rkey{0xDEAD}, top, 0, remote_write);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
}

TEST_F(memory_region_table_test, holds_many_regions_at_once) {
    std::vector<std::uint32_t> keys;
    for (int i = 0; i < 5000; ++i) keys.push_back(add(local_write));
    EXPECT_EQ(std::set<std::uint32_t>(keys.begin(), keys.end()).size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); i += 2) EXPECT_EQ(table.remove(keys[i]), errc::success);
    for (std::size_t i = 0; i < keys.size(); ++i)
        EXPECT_EQ(table.check_local(buffer(0, 8, keys[i]), local_write), i % 2 == 1);
}

} // namespace
} // namespace rocio::transport
