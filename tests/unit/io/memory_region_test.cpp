#include "scripted_device.hpp"

#include <rocio/io/memory_region.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <unistd.h>

namespace rocio::test {
namespace {

class registered_memory_region : public ::testing::Test {
  protected:
    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

    static std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
    template <class Make>
    error_info failure_of(Make make) {
        try {
            make();
            return {};
        } catch (const exception& e) {
            return {e.code(), e.what()};
        }
    }
};

TEST_F(registered_memory_region, of_its_own_is_zeroed_and_shares_no_page_with_anything) {
    for (const std::size_t size : {std::size_t{1}, page - 1, page, page + 1, 10 * page + 7}) {
        memory_region region(dev, size);
        ASSERT_EQ(region.size(), size);
        const auto bytes = region.bytes();
        EXPECT_EQ(address(bytes.data()) % page, 0U);
        for (const auto b : bytes) ASSERT_EQ(b, std::byte{0});
        // The rest of the last page is ours too.
        auto* const end = bytes.data() + (size + page - 1) / page * page;
        for (auto* p = bytes.data() + size; p != end; ++p) *p = std::byte{0xAA};
        memory_region next(dev, size);
        const auto first_page = address(bytes.data()) / page, last_page = (address(end) - 1) / page;
        const auto other = address(next.bytes().data()) / page;
        EXPECT_TRUE(other < first_page || other > last_page);
    }
}

TEST_F(registered_memory_region, registers_exactly_what_was_asked_for) {
    memory_region own(dev, 1000);
    alignas(64) std::byte mine[256];
    memory_region foreign(dev, std::span(mine));
    const auto ranges = dev->live_ranges();
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(ranges[0].size(), 1000U);
    EXPECT_EQ(ranges[1].data(), mine);
    EXPECT_EQ(foreign.bytes().data(), mine);
}

TEST_F(registered_memory_region, is_deregistered_with_its_object) {
    {
        memory_region region(dev, 100);
        EXPECT_EQ(dev->live_regions(), 1U);
        memory_region moved(std::move(region));
        EXPECT_EQ(dev->live_regions(), 1U);
        memory_region other(dev, 50);
        other = std::move(moved);
        EXPECT_EQ(dev->live_regions(), 1U);
        EXPECT_EQ(other.size(), 100U);
    }
    EXPECT_EQ(dev->live_regions(), 0U);
}

TEST_F(registered_memory_region, keeps_its_device) {
    std::weak_ptr<scripted_device> watch = dev;
    std::optional<memory_region> region(std::in_place, dev, 100U);
    dev.reset();
    EXPECT_FALSE(watch.expired());
    region.reset();
    EXPECT_TRUE(watch.expired());
}

TEST_F(registered_memory_region, gives_buffers_inside_itself) {
    memory_region region(dev, 100);
    const auto b = region.buffer(10, 20);
    EXPECT_EQ(b.data, region.bytes().data() + 10);
    EXPECT_EQ(b.size, 20U);
    EXPECT_EQ(b.key, region.buffer().key);
    EXPECT_EQ(region.buffer().size, 100U);
    EXPECT_EQ(region.buffer(100, 0).size, 0U);
    EXPECT_EQ(b.first(5).size, 5U);
    EXPECT_EQ(b.first(500).size, 20U);
}

struct outside {
    std::size_t offset, size;
};

class buffer_outside : public registered_memory_region, public ::testing::WithParamInterface<outside> {};

TEST_P(buffer_outside, is_refused_with_both_numbers) {
    memory_region region(dev, 100);
    const auto [offset, size] = GetParam();
    error_code ec;
    EXPECT_EQ(region.buffer(offset, size, ec).data, nullptr);
    EXPECT_EQ(ec, errc::not_in_region);
    const auto e = failure_of([&, from = offset, n = size] { (void)region.buffer(from, n); });
    EXPECT_EQ(e.code, errc::not_in_region);
    EXPECT_THAT(e.text,
                ::testing::AllOf(::testing::HasSubstr(std::to_string(offset)),
                                 ::testing::HasSubstr(std::to_string(size)), ::testing::HasSubstr("100")));
}

INSTANTIATE_TEST_SUITE_P(ranges, buffer_outside,
                         ::testing::Values(outside{0, 101}, outside{100, 1}, outside{101, 0}, outside{50, 51},
                                           outside{std::numeric_limits<std::size_t>::max(), 2},
                                           outside{2, std::numeric_limits<std::size_t>::max()}));

TEST_F(registered_memory_region, clears_the_error_of_a_good_buffer) {
    memory_region region(dev, 100);
    error_code ec = errc::not_in_region;
    EXPECT_NE(region.buffer(0, 100, ec).data, nullptr);
    EXPECT_FALSE(ec);
}

TEST_F(registered_memory_region, tells_a_peer_where_it_is) {
    memory_region region(
        dev, 64, {.access = memory_access::local_write | memory_access::remote_write, .iova = 0x1000});
    const auto r = region.remote();
    EXPECT_EQ(r.address, 0x1000U);
    EXPECT_EQ(r.length, 64U);
    memory_region plain(dev, 64);
    EXPECT_EQ(plain.remote().address, address(plain.bytes().data()));
    EXPECT_NE(r.key, plain.remote().key);
}

TEST_F(registered_memory_region, of_no_bytes_is_refused) {
    EXPECT_EQ(failure_of([&] { memory_region(dev, 0); }).code, errc::invalid_argument);
    EXPECT_EQ(failure_of([&] { memory_region(dev, std::span<std::byte>()); }).code, errc::invalid_argument);
    std::unique_ptr<memory_region> out;
    EXPECT_EQ(memory_region::make(dev, 0, {}, out).code, errc::invalid_argument);
    EXPECT_EQ(out, nullptr);
}

TEST_F(registered_memory_region, without_a_device_is_refused) {
    EXPECT_EQ(failure_of([&] { memory_region(nullptr, 10); }).code, errc::device_not_found);
}

TEST_F(registered_memory_region, larger_than_the_device_allows_is_refused_with_both_numbers) {
    const auto e = failure_of([&] { memory_region(dev, (1U << 30) + 1); });
    EXPECT_EQ(e.code, errc::limit_exceeded);
    EXPECT_THAT(e.text,
                ::testing::AllOf(::testing::HasSubstr("1073741825"), ::testing::HasSubstr("1073741824")));
    const auto absurd = failure_of([&] { memory_region(dev, std::numeric_limits<std::size_t>::max()); });
    EXPECT_TRUE(absurd.code == errc::limit_exceeded || absurd.code == errc::registration_failed)
        << absurd.text;
}

TEST_F(registered_memory_region, names_the_limit_of_locked_memory_when_registration_fails) {
    dev->fail_call(device_call::register_memory, 1, errc::registration_failed);
    std::unique_ptr<memory_region> out;
    const auto e = memory_region::make(dev, 4096, {}, out);
    EXPECT_EQ(e.code, errc::registration_failed);
    EXPECT_THAT(e.text,
                ::testing::AllOf(::testing::HasSubstr("4096"), ::testing::HasSubstr("RLIMIT_MEMLOCK")));
    EXPECT_EQ(out, nullptr);
    EXPECT_FALSE(memory_region::make(dev, 4096, {}, out));
    EXPECT_EQ(out->size(), 4096U);
}

} // namespace
} // namespace rocio::test
