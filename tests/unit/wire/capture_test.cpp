#include "hex.hpp"
#include "roce_capture.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

/// Every packet that the Linux kernel's rdma_rxe and its peers exchanged, against what an independent decoder
/// read in it (vectors.golden).
namespace {

using namespace rocio;
using test::captured_packet;

const std::vector<captured_packet>& captures() {
    static const auto packets = test::load_captures(ROCIO_TEST_DATA "/vectors");
    return packets;
}

/// "file frame" to the rest of its line.
const std::map<std::string, std::string>& golden() {
    static const auto lines = [] {
        std::map<std::string, std::string> all;
        std::ifstream in(ROCIO_TEST_DATA "/vectors.golden");
        for (std::string line; std::getline(in, line);) {
            if (line.empty() || line[0] == '#') continue;
            const auto second_blank = line.find(' ', line.find(' ') + 1);
            all.emplace(line.substr(0, second_blank), line.substr(second_blank + 1));
        }
        return all;
    }();
    return lines;
}

std::string golden_of(const captured_packet& packet) {
    const auto found = golden().find(packet.name());
    return found == golden().end() ? "no such packet" : found->second;
}

bool marked(const captured_packet& packet, std::string_view mark) {
    return golden_of(packet).find(mark) != std::string::npos;
}

template <class... Values>
std::string print(const char* format, Values... values) {
    char text[160];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

std::string extension_fields(const wire::packet_view& p) {
    std::string text;
    const auto op = p.op();
    if (op.has_deth()) text += print(" qkey=%08x srcqp=%06x", p.deth().qkey, p.deth().source.value());
    if (op.has_reth()) {
        const auto h = p.reth();
        text += print(" va=%llx rkey=%08x len=%u", static_cast<unsigned long long>(h.address), h.key.value,
                      h.length);
    }
    if (op.has_aeth()) text += print(" syndrome=%02x msn=%u", unsigned{p.aeth().syndrome}, p.aeth().msn);
    if (op.has_atomic_eth()) {
        const auto h = p.atomic_eth();
        text += print(" va=%llx rkey=%08x swap/add=%llx cmp=%llx", static_cast<unsigned long long>(h.address),
                      h.key.value, static_cast<unsigned long long>(h.swap_or_add),
                      static_cast<unsigned long long>(h.compare));
    }
    if (op.has_atomic_ack_eth()) {
        text += print(" orig=%llx", static_cast<unsigned long long>(p.atomic_ack_eth().original));
    }
    if (op.has_immediate()) text += print(" imm=%08x", p.immediate().value);
    return text;
}

/// The packet in the words of vectors.golden.
std::string in_golden_words(const captured_packet& packet, const wire::packet_view& p) {
    const auto& h = p.bth();
    std::string text = packet.ip_id ? print("id=%04x ", unsigned{*packet.ip_id}) : "id=- ";
    text += p.op().name();
    text += print(" SE=%d M=%d pad=%u pkey=%04x qp=%06x A=%d psn=%06x", int{h.solicited}, int{h.migration},
                  unsigned{h.pad}, unsigned{h.pkey}, h.destination.value(), int{h.ack_request},
                  h.sequence.value());
    text += print(" pay=%zu", p.payload().size()) + extension_fields(p);
    if (h.reserved8a != 0 || h.reserved7 != 0) {
        text += print(" resv=%02x/%02x", unsigned{h.reserved8a}, unsigned{h.reserved7});
    }
    text += print(" icrc=%08x", p.icrc());
    if (marked(packet, " icrc-bad")) text += " icrc-bad";
    return text;
}

bool must_be_refused(const captured_packet& packet) {
    return marked(packet, "unknown-opcode") || marked(packet, "bad-version");
}

TEST(captures, the_golden_file_and_the_captures_name_the_same_packets) {
    EXPECT_GE(captures().size(), 1900U);
    EXPECT_EQ(captures().size(), golden().size());
    for (const auto& packet : captures()) EXPECT_EQ(golden().count(packet.name()), 1U) << packet.name();
}

TEST(captures, every_legal_packet_decodes_to_its_documented_fields) {
    for (const auto& packet : captures()) {
        if (must_be_refused(packet)) continue;
        wire::packet_view view;
        ASSERT_EQ(wire::packet_view::parse(packet.bytes, view), wire::malformed::none) << packet.name();
        EXPECT_EQ(in_golden_words(packet, view), golden_of(packet)) << packet.name();
    }
}

TEST(captures, illegal_packets_are_refused_for_the_right_reason) {
    unsigned unknown_opcodes = 0;
    unsigned bad_versions = 0;
    for (const auto& packet : captures()) {
        if (!must_be_refused(packet)) continue;
        wire::packet_view view;
        const auto reason = wire::packet_view::parse(packet.bytes, view);
        if (marked(packet, "bad-version")) {
            ++bad_versions;
            EXPECT_EQ(reason, wire::malformed::bad_version) << packet.name();
        } else {
            ++unknown_opcodes;
            EXPECT_EQ(reason, wire::malformed::unknown_opcode) << packet.name();
        }
    }
    EXPECT_EQ(unknown_opcodes, 2U);
    EXPECT_EQ(bad_versions, 1U);
}

TEST(captures, every_accepted_packet_re_encodes_to_its_bytes) {
    for (const auto& packet : captures()) {
        wire::packet_view view;
        if (wire::packet_view::parse(packet.bytes, view) != wire::malformed::none) continue;
        std::vector<std::byte> again(packet.bytes.size() - wire::icrc_size);
        ASSERT_EQ(wire::encode(view, again), again.size()) << packet.name();
        ASSERT_TRUE(std::ranges::equal(again, std::span(packet.bytes).first(again.size()))) << packet.name();
    }
}

TEST(captures, every_icrc_fits_the_packets_own_ip_id) {
    for (const auto& packet : captures()) {
        const bool fits = wire::icrc_engine{packet.flow}.check_exact(packet.bytes, packet.ip_id.value_or(0));
        EXPECT_EQ(fits, !marked(packet, " icrc-bad")) << packet.name();
    }
}

TEST(captures, the_ip_id_can_be_solved_for) {
    for (const auto& packet : captures()) {
        if (marked(packet, " icrc-bad")) continue;
        EXPECT_EQ(wire::icrc_engine{packet.flow}.solve_id(packet.bytes), packet.ip_id.value_or(0))
            << packet.name();
    }
}

TEST(captures, computing_the_icrc_of_what_is_sent_gives_the_captured_one) {
    for (const auto& packet : captures()) {
        wire::packet_view view;
        const bool decoded = wire::packet_view::parse(packet.bytes, view) == wire::malformed::none;
        const bool ordinary = decoded && view.bth().pad == wire::pad_of(view.payload().size()) &&
                              packet.file.find("malformed") == std::string::npos &&
                              !marked(packet, " icrc-bad");
        if (!ordinary) continue;
        const auto headers = view.bytes().first(wire::bth::size + view.op().extension_size());
        EXPECT_EQ(wire::icrc_engine{packet.flow}.compute(headers, view.payload(), packet.ip_id.value_or(0)),
                  view.icrc())
            << packet.name();
    }
}

std::vector<captured_packet> bad_packets_of(std::string_view file) {
    std::vector<captured_packet> bad;
    for (const auto& packet : captures()) {
        if (packet.file == file && marked(packet, " icrc-bad")) bad.push_back(packet);
    }
    return bad;
}

TEST(captures, a_flipped_bit_in_the_icrc_itself_is_refused_in_both_modes) {
    const auto bad = bad_packets_of("peer_rc_badicrc.pcap");
    ASSERT_EQ(bad.size(), 1U);
    const wire::icrc_engine engine{bad[0].flow};
    EXPECT_FALSE(engine.check_exact(bad[0].bytes, 0));
    EXPECT_EQ(engine.solve_id(bad[0].bytes), std::nullopt);
}

TEST(captures, an_unsegmented_super_frame_has_no_icrc_that_fits) {
    const auto bad = bad_packets_of("peer_sock_gso_unsegmented_badicrc.pcap");
    ASSERT_EQ(bad.size(), 1U);
    const wire::icrc_engine engine{bad[0].flow};
    EXPECT_FALSE(engine.check_exact(bad[0].bytes, 0));
    EXPECT_EQ(engine.solve_id(bad[0].bytes), std::nullopt);
}

/// These senders computed their ICRC for id 0, but their kernel wrote another: the solved id shows it.
TEST(captures, a_sender_that_does_not_know_its_own_ip_id_is_told_from_a_damaged_packet) {
    for (const auto* file :
         {"peer_sock_connected_pmtud_do_badicrc.pcap", "peer_sock_unconnected_pmtud_want_badicrc.pcap"}) {
        const auto bad = bad_packets_of(file);
        ASSERT_EQ(bad.size(), 1U) << file;
        const wire::icrc_engine engine{bad[0].flow};
        EXPECT_FALSE(engine.check_exact(bad[0].bytes, bad[0].ip_id.value_or(0))) << file;
        EXPECT_EQ(engine.solve_id(bad[0].bytes), 0) << file;
    }
}

TEST(captures, a_receiver_takes_the_pad_count_at_its_word) {
    for (const auto& packet : captures()) {
        if (packet.file != "peer_rc_bad_pad_count_malformed.pcap" || packet.frame_number != 1) continue;
        wire::packet_view view;
        ASSERT_EQ(wire::packet_view::parse(packet.bytes, view), wire::malformed::none);
        EXPECT_EQ(view.payload().size(), 13U);
        EXPECT_EQ(view.bth().pad, 3);
        return;
    }
    FAIL() << "the capture has no first frame";
}

} // namespace
