#include <rocio/ring/sensor_frame.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <utility>

namespace rocio::detail {
namespace {

sensor_arrival of_page(std::uint32_t page, std::uint64_t ordinal = 0) {
    sensor_arrival a;
    a.page = page;
    a.ordinal = ordinal;
    return a;
}

TEST(ArrivalQueue, gives_them_in_order_around_its_end) {
    arrival_queue queue(3);
    for (std::uint32_t round = 0; round < 10; ++round) {
        for (std::uint32_t page = 0; page < 3; ++page) queue.push(of_page(page, round));
        EXPECT_EQ(queue.size(), 3U);
        for (std::uint32_t page = 0; page < 3; ++page) {
            EXPECT_EQ(queue.front().page, page);
            queue.pop();
        }
        EXPECT_TRUE(queue.empty());
        queue.push(of_page(0)); // the next round begins elsewhere
        queue.pop();
    }
}

TEST(ArrivalQueue, takes_out_any_page_and_keeps_the_order_of_the_others) {
    std::mt19937 random(3);
    arrival_queue queue(8);
    std::deque<std::uint32_t> expected;
    for (int step = 0; step < 20'000; ++step) {
        const auto page = static_cast<std::uint32_t>(random() % 8);
        const auto at = std::find(expected.begin(), expected.end(), page);
        EXPECT_EQ(queue.remove(page), at != expected.end());
        if (at != expected.end()) expected.erase(at);
        if (random() % 4 != 0) {
            queue.push(of_page(page));
            expected.push_back(page);
        }
        ASSERT_EQ(queue.size(), expected.size());
        if (!expected.empty()) {
            ASSERT_EQ(queue.front().page, expected.front());
        }
        if (!expected.empty() && random() % 3 == 0) {
            queue.pop();
            expected.pop_front();
        }
    }
    queue.clear();
    EXPECT_TRUE(queue.empty());
}

class SensorPages : public ::testing::Test {
  protected:
    /// A frame of a board of version 0x2606 is in the page.
    sensor_arrival arrive(std::uint32_t page, std::uint32_t psn) {
        frame_metadata m;
        m.psn = psn;
        auto at = pages->all().subspan(page * pages->page_size() + 1024);
        m.encode(at.first<frame_metadata::size>());
        sensor_arrival a = of_page(page);
        a.generation = pages->count_arrival(page);
        a.ordinal = pages->arrivals();
        a.layout = hsb_immediate_layout(0x2606);
        a.immediate = pack(a.layout, {page, psn});
        a.size = 1000;
        return a;
    }
    std::shared_ptr<sensor_pages> pages = std::make_shared<sensor_pages>(4, 1000);
};

TEST_F(SensorPages, a_page_is_data_in_units_of_128_and_metadata) {
    EXPECT_EQ(pages->page_size(), 1152U);
    EXPECT_EQ(pages->all().size(), 4U * 1152);
    EXPECT_EQ(sensor_pages(1, 1).page_size(), 256U);
    EXPECT_EQ(sensor_pages(1, 128).page_size(), 256U);
    EXPECT_EQ(sensor_pages(1, 129).page_size(), 384U);
}

TEST_F(SensorPages, a_frame_knows_that_another_one_came_into_its_page) {
    const sensor_frame frame(pages, arrive(1, 100));
    EXPECT_FALSE(frame.overwritten());
    EXPECT_FALSE(frame.at_risk());
    for (std::uint32_t page = 2; page < 5; ++page) (void)arrive(page % 4, 100 + page);
    EXPECT_TRUE(frame.at_risk());
    EXPECT_FALSE(frame.overwritten());
    (void)arrive(1, 100); // even with the same PSN
    EXPECT_TRUE(frame.overwritten());
}

TEST_F(SensorPages, a_frame_knows_that_its_metadata_are_anothers_before_that_is_told) {
    const sensor_frame frame(pages, arrive(1, 100));
    frame_metadata later;
    later.psn = 108;
    auto at = pages->all().subspan(1152 + 1024);
    later.encode(at.first<frame_metadata::size>());
    EXPECT_TRUE(frame.overwritten());
}

TEST_F(SensorPages, one_page_is_always_at_risk) {
    pages = std::make_shared<sensor_pages>(1, 1000);
    const sensor_frame frame(pages, arrive(0, 1));
    EXPECT_TRUE(frame.at_risk());
}

TEST_F(SensorPages, leases_are_counted_through_moves) {
    sensor_frame a(pages, arrive(0, 1));
    sensor_frame b(pages, arrive(0, 2));
    EXPECT_EQ(pages->held_pages(), 1U);
    sensor_frame c = std::move(a);
    EXPECT_FALSE(a); // NOLINT(bugprone-use-after-move): what is promised
    c = std::move(b);
    EXPECT_TRUE(pages->held(0));
    c.release();
    c.release();
    EXPECT_FALSE(pages->held(0));
    EXPECT_EQ(pages->held_pages(), 0U);
    sensor_frame empty;
    EXPECT_FALSE(empty);
}

TEST_F(SensorPages, a_frame_keeps_the_memory) {
    std::weak_ptr<sensor_pages> watched = pages;
    sensor_frame frame(pages, arrive(0, 1));
    pages.reset();
    EXPECT_EQ(frame.data().size(), 1000U);
    frame.release();
    EXPECT_TRUE(watched.expired());
}

} // namespace
} // namespace rocio::detail
