#include <rocio/types/parameters.hpp>

#include <gmock/gmock.h>

#include <limits>
#include <random>
#include <string>

namespace {

using namespace rocio;
using testing::AllOf;
using testing::HasSubstr;

peer_parameters good_peer() {
    peer_parameters p;
    p.address = gid::from_v4({10, 0, 0, 2});
    p.queue_pair = qpn{0x11};
    p.send_psn = psn{0x123456};
    p.region = {0x20000000, 256 * 4096, rkey{0x2BD}};
    p.depth = 256;
    p.max_payload = 4096;
    return p;
}

/// The sentence by which a good peer with this change is refused; "" if it is not.
template <class Change>
std::string refusal(Change change) {
    auto p = good_peer();
    change(p);
    const auto error = validate(p);
    if (!error) return "";
    EXPECT_EQ(error.code, errc::invalid_peer_parameters);
    EXPECT_EQ(error.code, condition::refused);
    EXPECT_FALSE(error.text.empty());
    return error.text;
}

TEST(validate_peer, a_good_one_passes) {
    EXPECT_FALSE(validate(good_peer()));
}

TEST(validate_peer, one_that_tells_no_geometry_passes) {
    EXPECT_EQ(refusal([](peer_parameters& p) {
                  p.region = {};
                  p.depth = 0;
                  p.max_payload = 0;
              }),
              "");
}

/// CUDA-Q peers tell key and address but no length.
TEST(validate_peer, a_region_without_a_length_passes) {
    EXPECT_EQ(refusal([](peer_parameters& p) { p.region.length = 0; }), "");
}

TEST(validate_peer, the_management_queue_pairs_are_refused) {
    for (const std::uint32_t n : {0U, 1U}) {
        EXPECT_THAT(refusal([&](peer_parameters& p) { p.queue_pair = qpn{n}; }),
                    AllOf(HasSubstr("queue_pair is " + std::to_string(n)), HasSubstr("2..16777215")));
    }
    EXPECT_EQ(refusal([](peer_parameters& p) { p.queue_pair = qpn{2}; }), "");
    EXPECT_EQ(refusal([](peer_parameters& p) { p.queue_pair = qpn{0xFFFFFF}; }), "");
}

TEST(validate_peer, an_address_of_zeros_is_refused_in_both_families) {
    EXPECT_THAT(refusal([](peer_parameters& p) { p.address = gid{}; }), HasSubstr("address is ::"));
    EXPECT_THAT(refusal([](peer_parameters& p) { p.address = gid::from_v4({}); }),
                HasSubstr("address is 0.0.0.0"));
    EXPECT_EQ(refusal([](peer_parameters& p) { p.address = gid::parse("fd00::1").value(); }), "");
}

TEST(validate_peer, udp_port_0_is_refused) {
    EXPECT_THAT(refusal([](peer_parameters& p) { p.udp_port = 0; }),
                AllOf(HasSubstr("udp_port is 0"), HasSubstr("4791")));
    EXPECT_EQ(refusal([](peer_parameters& p) { p.udp_port = 65535; }), "");
}

TEST(validate_peer, path_mtu_codes_outside_1_to_5_are_refused) {
    for (const unsigned code : {0U, 6U, 100U, 255U}) {
        EXPECT_THAT(refusal([&](peer_parameters& p) { p.path_mtu = static_cast<mtu>(code); }),
                    AllOf(HasSubstr("path_mtu has code " + std::to_string(code)), HasSubstr("1..5")));
    }
    for (unsigned code = 1; code <= 5; ++code) {
        EXPECT_EQ(refusal([&](peer_parameters& p) { p.path_mtu = static_cast<mtu>(code); }), "");
    }
}

TEST(validate_peer, a_region_that_wraps_is_refused) {
    const auto top = std::numeric_limits<std::uint64_t>::max();
    const auto with_region = [](std::uint64_t address, std::uint64_t length) {
        return refusal([=](peer_parameters& p) {
            p.region = {address, length, rkey{1}};
            p.depth = 0;
        });
    };
    EXPECT_THAT(with_region(top - 7, 16), AllOf(HasSubstr("region at 0xfffffffffffffff8 of length 16"),
                                                HasSubstr("beyond the 64-bit address space")));
    EXPECT_THAT(with_region(1, top), testing::Not(HasSubstr("beyond")));
    EXPECT_THAT(with_region(2, top), HasSubstr("beyond"));
    EXPECT_EQ(with_region(top - 7, 8), "") << "may end at the last byte of the address space";
    EXPECT_EQ(with_region(0, top), "");
}

TEST(validate_peer, a_region_too_small_for_its_slots_is_refused) {
    EXPECT_THAT(refusal([](peer_parameters& p) { --p.region.length; }),
                AllOf(HasSubstr("region length is 1048575"),
                      HasSubstr("depth 256 x max_payload 4096 needs 1048576")));
    EXPECT_EQ(refusal([](peer_parameters& p) { ++p.region.length; }), "");
}

TEST(validate_peer, depth_times_payload_beyond_32_bits_is_refused) {
    EXPECT_THAT(refusal([](peer_parameters& p) {
                    p.region = {};
                    p.depth = 1U << 20;
                    p.max_payload = 1U << 12;
                }),
                AllOf(HasSubstr("depth 1048576 x max_payload 4096 is 4294967296"), HasSubstr("4294967295")));
    EXPECT_THAT(refusal([](peer_parameters& p) {
                    p.depth = 0xFFFFFFFF;
                    p.max_payload = 0xFFFFFFFF;
                }),
                HasSubstr("depth 4294967295"));
    EXPECT_EQ(refusal([](peer_parameters& p) {
                  p.region = {};
                  p.depth = 0xFFFFFFFF;
                  p.max_payload = 1;
              }),
              "");
}

TEST(validate_peer, an_immediate_layout_beyond_32_bits_is_refused) {
    EXPECT_THAT(refusal([](peer_parameters& p) {
                    p.immediates = {0xFFF, 12, 21};
                }),
                AllOf(HasSubstr("psn_shift 12"), HasSubstr("psn_width 21")));
    EXPECT_THAT(refusal([](peer_parameters& p) {
                    p.immediates = {0xFFF, 255, 255};
                }),
                HasSubstr("psn_shift 255"));
    EXPECT_EQ(refusal([](peer_parameters& p) { p.immediates = {0xFFF, 12, 20}; }), "");
    EXPECT_EQ(refusal([](peer_parameters& p) { p.immediates = {0xFF, 8, 24}; }), "");
}

/// Whatever a peer sends: a refusal with a sentence, or numbers that can be computed with.
TEST(validate_peer, of_random_numbers_only_safe_ones_pass) {
    std::mt19937_64 random{1};
    const auto any64 = [&] { return random() >> random() % 64; };
    const auto any32 = [&] { return static_cast<std::uint32_t>(any64()); };
    int passed = 0;
    for (int round = 0; round < 100000; ++round) {
        peer_parameters p;
        p.address = gid::from_v4({10, 0, 0, static_cast<std::uint8_t>(random())});
        p.queue_pair = qpn{any32() & qpn::max};
        p.path_mtu = static_cast<mtu>(1 + random() % 6);
        p.region = {any64(), any64(), rkey{any32()}};
        p.depth = any32();
        p.max_payload = any32();
        const auto error = validate(p);
        if (error) {
            ASSERT_FALSE(error.text.empty());
            continue;
        }
        ++passed;
        ASSERT_GE(p.queue_pair.value(), 2U);
        ASSERT_LE(bytes(p.path_mtu), 4096U);
        ASSERT_LE(std::uint64_t{p.depth} * p.max_payload, std::numeric_limits<std::uint32_t>::max());
        if (p.region.length > 0) {
            ASSERT_LE(p.region.length - 1, std::numeric_limits<std::uint64_t>::max() - p.region.address);
            ASSERT_GE(p.region.length, std::uint64_t{p.depth} * p.max_payload);
        }
    }
    EXPECT_GT(passed, 1000);
}

TEST(parameters, defaults_are_those_of_the_documentation) {
    const local_parameters local;
    EXPECT_EQ(local.udp_port, 4791);
    EXPECT_EQ(local.path_mtu, mtu::b4096);
    EXPECT_EQ(local.retry_count, 7);
    EXPECT_EQ(local.rnr_retry, 7);
    EXPECT_EQ(local.timeout.code(), 14);
    EXPECT_EQ(local.min_rnr_timer.code(), 12);
    EXPECT_FALSE(local.capabilities.exact_icrc);
}

} // namespace
