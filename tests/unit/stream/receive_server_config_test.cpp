#include "scripted_device.hpp"

#include <rocio/stream/receive_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;

receive_server_config good() {
    receive_server_config c;
    c.device = std::make_shared<scripted_device>();
    return c;
}

TEST(receive_server_config, defaults_are_those_of_the_original) {
    const receive_server_config c;
    EXPECT_EQ(c.port, 1);
    EXPECT_FALSE(c.gid_index);
    EXPECT_EQ(c.max_payload, 4096U);
    EXPECT_EQ(c.rx_queue_depth, 256U);
    const transport_config t;
    EXPECT_EQ(code(t.path_mtu), 5);
    EXPECT_EQ(t.min_rnr_timer.code(), 12);
    EXPECT_EQ(t.rnr_retry, 7);
    EXPECT_EQ(t.retry_count, 3);
    EXPECT_EQ(t.timeout.code(), 14);
}

TEST(receive_server_config, depth_0_error_names_the_knob_and_the_range) {
    auto c = good();
    c.rx_queue_depth = 0;
    const auto e = validate(c);
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("rx_queue_depth is 0"));
    EXPECT_THAT(e.text, HasSubstr("1 to 65536"));
}

TEST(receive_server_config, payload_0_error) {
    auto c = good();
    c.max_payload = 0;
    EXPECT_EQ(validate(c).code, errc::invalid_argument);
}

TEST(receive_server_config, counter_wrap_is_1_to_2_to_the_24) {
    auto c = good();
    EXPECT_FALSE(c.counter_wrap);
    for (const std::uint32_t fine : {1U, 1U << 24}) {
        c.counter_wrap = fine;
        EXPECT_FALSE(validate(c));
    }
    for (const std::uint32_t bad : {0U, (1U << 24) + 1}) {
        c.counter_wrap = bad;
        EXPECT_EQ(validate(c).code, errc::invalid_argument);
        EXPECT_THAT(validate(c).text, HasSubstr("counter_wrap is " + std::to_string(bad)));
    }
}

TEST(receive_server_config, region_of_32_bits_or_more_error_names_both_knobs) {
    auto c = good();
    c.max_payload = 65536;
    c.rx_queue_depth = 65536;
    auto e = validate(c);
    EXPECT_EQ(e.code, errc::region_too_large);
    EXPECT_THAT(e.text, HasSubstr("max_payload 65536"));
    EXPECT_THAT(e.text, HasSubstr("rx_queue_depth 65536"));
    c.rx_queue_depth = 65535; // 2^32 - 65536
    EXPECT_FALSE(validate(c));
}

TEST(receive_server_config, no_device_error) {
    auto c = good();
    c.device = nullptr;
    EXPECT_EQ(validate(c).code, errc::device_not_found);
}

TEST(receive_server_config, fpga_ip_that_is_no_address_error) {
    auto c = good();
    c.fpga_ip = "not-an-ip";
    const auto e = validate(c);
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("not-an-ip"));
}

TEST(transport_config, retry_counts_above_7_error) {
    transport_config t;
    t.rnr_retry = 8;
    EXPECT_THAT(validate(t).text, HasSubstr("rnr_retry is 8"));
    t = {};
    t.retry_count = 8;
    EXPECT_THAT(validate(t).text, HasSubstr("retry_count is 8"));
}

TEST(transport_config, path_mtu_outside_1_to_5_error_mentions_it) {
    for (const int bad : {0, 6, 7, 100}) {
        transport_config t;
        t.path_mtu = static_cast<mtu>(bad);
        EXPECT_THAT(validate(t).text, HasSubstr("path_mtu"));
    }
    for (const int right : {1, 2, 3, 4, 5}) {
        transport_config t;
        t.path_mtu = static_cast<mtu>(right);
        EXPECT_FALSE(validate(t));
    }
}

TEST(receive_server_construction, thread_pool_is_an_unsupported_context) {
    boost::asio::thread_pool pool(1);
    try {
        receive_server server(pool.get_executor(), good());
        FAIL() << "constructed";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::unsupported_context);
    }
}

TEST(receive_server_construction, gid_outside_the_fpgas_subnet_is_refused_with_the_table) {
    boost::asio::io_context context;
    auto c = good();
    c.fpga_ip = "192.168.77.9";
    try {
        receive_server server(context, c);
        FAIL() << "constructed";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::no_usable_gid);
        EXPECT_THAT(e.what(), HasSubstr("192.168.77"));
    }
}

TEST(receive_server_construction, failing_at_any_call_leaves_nothing_behind) {
    // How many calls a good construction makes:
    std::size_t calls = 0;
    {
        boost::asio::io_context context;
        auto dev = std::make_shared<scripted_device>();
        receive_server_config c;
        c.device = dev;
        receive_server server(context, c);
        calls = dev->calls();
    }
    ASSERT_GT(calls, 3U);
    for (std::size_t k = 1; k <= calls; ++k) {
        boost::asio::io_context context;
        auto dev = std::make_shared<scripted_device>();
        dev->fail_any_call(k, errc::device_fatal);
        receive_server_config c;
        c.device = dev;
        EXPECT_THROW(receive_server(context, c), exception) << "call " << k;
        EXPECT_EQ(dev->live_queue_pairs(), 0U) << "call " << k;
        EXPECT_EQ(dev->live_regions(), 0U) << "call " << k;
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty()) << "call " << k;
    }
}

} // namespace
} // namespace rocio::test
