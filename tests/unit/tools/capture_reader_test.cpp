#include "lib/capture_reader.hpp"

#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::tools;
using ::testing::HasSubstr;

// RC SEND_ONLY with 3 bytes as the kernel sent it (rc_send_mtu1024, frame 5), and one over IPv6.
const char* const kernel_v4 = "020000000002020000000001080045000030d6e0400040114fda0a0000010a000002c2a412b700"
                              "1c00000410ffff0000001a8000010203"
                              "0a1100643d4f8a";
const char* const kernel_v6 = "02000000000202000000000186dd60000000001c1140fd000000000000000000000000000001fd"
                              "000000000000000000000000000002c121"
                              "12b7001c00000430ffff00000011800001010200000089c82caf";

std::vector<std::byte> bytes_of_hex(const char* text) {
    std::vector<std::byte> out;
    for (const char* p = text; *p != 0; p += 2)
        out.push_back(static_cast<std::byte>(std::stoul(std::string(p, 2), nullptr, 16)));
    return out;
}

bool icrc_fits(const captured_datagram& d) {
    return wire::icrc_engine(d.flow).check_exact(d.bytes, d.ip_id.value_or(0));
}

TEST(datagram_in_ethernet, finds_the_kernels_packets) {
    for (const char* text : {kernel_v4, kernel_v6}) {
        const auto frame = bytes_of_hex(text);
        const auto found = datagram_in_ethernet(frame);
        ASSERT_TRUE(found);
        EXPECT_FALSE(found->cut);
        EXPECT_EQ(found->flow.destination_port, 4791);
        EXPECT_TRUE(icrc_fits(*found));
    }
}

TEST(datagram_in_ethernet, looks_behind_vlan_tags) {
    auto frame = bytes_of_hex(kernel_v4);
    const auto tag = bytes_of_hex("8100002a88a80001");
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    const auto found = datagram_in_ethernet(frame);
    ASSERT_TRUE(found);
    EXPECT_TRUE(icrc_fits(*found));
}

TEST(datagram_in_ethernet, looks_behind_ip_options) {
    auto frame = bytes_of_hex(kernel_v4);
    frame[14] = std::byte{0x46};
    frame.insert(frame.begin() + 34, 4, std::byte{1});
    const auto found = datagram_in_ethernet(frame);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes.size(), 20U);
}

TEST(datagram_in_ethernet, passes_over_other_traffic) {
    auto other_port = bytes_of_hex(kernel_v4), tcp = other_port, fragment = other_port, arp = other_port;
    other_port[37] = std::byte{0x35};
    tcp[23] = std::byte{6};
    fragment[21] = std::byte{1};
    arp[13] = std::byte{6};
    for (const auto& frame : {other_port, tcp, fragment, arp}) EXPECT_FALSE(datagram_in_ethernet(frame));
}

TEST(datagram_in_ethernet, marks_what_is_cut_at_any_length) {
    for (const char* text : {kernel_v4, kernel_v6}) {
        const auto whole = bytes_of_hex(text);
        for (std::size_t n = 0; n < whole.size(); ++n) {
            const std::vector<std::byte> frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
            const auto found =
                datagram_in_ethernet(frame); // a copy of that size: ASan sees every byte too far
            EXPECT_TRUE(!found || found->cut) << n;
        }
    }
}

TEST(datagram_in_ip, tells_the_versions_apart) {
    for (const char* text : {kernel_v4, kernel_v6}) {
        const auto frame = bytes_of_hex(text);
        const auto found = datagram_in_ip(std::span(frame).subspan(14));
        ASSERT_TRUE(found);
        EXPECT_TRUE(icrc_fits(*found));
    }
    EXPECT_FALSE(datagram_in_ip({}));
    EXPECT_FALSE(datagram_in_ip(bytes_of_hex("55")));
}

std::filesystem::path vector_file(const char* name) {
    return std::filesystem::path(ROCIO_TEST_DATA) / "vectors" / name;
}

TEST(capture_reader, reads_the_kernels_captures) {
    std::unique_ptr<capture_reader> reader;
    ASSERT_FALSE(capture_reader::open(vector_file("peer_rc_rnr.pcap"), reader));
    captured_frame frame;
    error_info damaged;
    std::size_t packets = 0, good = 0;
    std::chrono::nanoseconds last{};
    while (reader->next(frame, damaged)) {
        EXPECT_GE(frame.time, last);
        last = frame.time;
        const auto d = reader->datagram_in(frame);
        packets += d.has_value();
        good += d && icrc_fits(*d);
    }
    EXPECT_FALSE(damaged);
    EXPECT_GT(packets, 3U);
    EXPECT_EQ(good, packets);
}

TEST(capture_reader, says_what_is_wrong_with_a_file) {
    std::unique_ptr<capture_reader> reader;
    for (const auto& file : {vector_file("README.md"), vector_file("no_such.pcap")}) {
        const auto e = capture_reader::open(file, reader);
        ASSERT_TRUE(e);
        EXPECT_THAT(e.text, HasSubstr(file.filename().string()));
    }
}

} // namespace
