#include <rocio/types/remote_buffer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace rocio::test {
namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();
constexpr remote_region region{0x1000, 4096, rkey{7}};

TEST(remote_region, gives_buffers_inside_itself) {
    const auto b = region.buffer(96, 4000);
    EXPECT_EQ(b.address, 0x1060U);
    EXPECT_EQ(b.size, 4000U);
    EXPECT_EQ(b.key, rkey{7});
    EXPECT_EQ(region.buffer().size, 4096U);
    EXPECT_EQ(region.buffer(4096, 0).size, 0U);
}

TEST(remote_region, reaches_to_the_end_of_the_addresses) {
    const remote_region last{most - 9, 10, rkey{1}};
    EXPECT_EQ(last.buffer(9, 1).address, most);
}

struct outside {
    std::uint64_t offset, size;
};
class remote_buffer_outside : public ::testing::TestWithParam<outside> {};

TEST_P(remote_buffer_outside, is_refused_with_all_numbers) {
    const auto [offset, size] = GetParam();
    error_code ec;
    const auto b = region.buffer(offset, size, ec);
    EXPECT_EQ(ec, errc::not_in_region);
    EXPECT_EQ(b.size, 0U);
    try {
        (void)region.buffer(offset, size);
        FAIL() << "not refused";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::not_in_region);
        for (const auto n : {offset, size, region.length})
            EXPECT_THAT(std::string(e.what()), ::testing::HasSubstr(std::to_string(n)));
    }
}

INSTANTIATE_TEST_SUITE_P(cases, remote_buffer_outside,
                         ::testing::Values(outside{0, 4097}, outside{4096, 1}, outside{4097, 0},
                                           outside{most, 1}, outside{1, most}, outside{most, most}));

} // namespace
} // namespace rocio::test
