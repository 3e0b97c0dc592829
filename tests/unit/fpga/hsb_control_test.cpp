#include "hex.hpp"
#include "hsb_messages.hpp"

#include <rocio/fpga/hsb_control.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

namespace rocio::test {
namespace {

using namespace fpga;
using ::testing::ElementsAre;

hsb_registers all(const hsb_pairs& pairs) {
    hsb_registers out;
    for (const auto pair : pairs) out.push_back(pair);
    return out;
}

hsb_request good_request(std::span<const std::byte> datagram) {
    return std::get<hsb_request>(parse_request(datagram));
}
hsb_malformed bad_request(const std::string& hex) {
    const auto bytes = from_hex(hex);
    return std::get<hsb_malformed>(parse_request(bytes));
}
hsb_response good_response(std::span<const std::byte> datagram) {
    return std::get<hsb_response>(parse_response(datagram));
}
hsb_malformed bad_response(const std::string& hex) {
    const auto bytes = from_hex(hex);
    return std::get<hsb_malformed>(parse_response(bytes));
}

std::string encoded(hsb_command command, std::uint8_t flags, std::uint16_t sequence,
                    const hsb_registers& registers) {
    return to_hex(hsb_datagram(command, sequence, registers, flags));
}

TEST(hsb_requests, have_the_bytes_that_the_fpga_reads) {
    EXPECT_EQ(encoded(hsb_command::write_dword, 1, 0x0102, {{0x50000004, 0x0000000D}}), "04010102000050000004"
                                                                                        "0000000d");
    EXPECT_EQ(encoded(hsb_command::write_block, 3, 0xFFFF, {{0x1000, 0x12}, {0x1004, 0xAABBCCDD}}),
              "0903ffff0000"
              "0000100000000012"
              "00001004aabbccdd");
    EXPECT_EQ(encoded(hsb_command::read_dword, 1, 0x100, {{0x80, 77}}), "14010100000000000080");
    EXPECT_EQ(encoded(hsb_command::read_block, 1, 0x100, {{0x80, 77}, {0x84, 78}}), "190101000000"
                                                                                    "0000008000000000"
                                                                                    "0000008400000000");
}

TEST(hsb_requests, are_read_as_they_were_written) {
    const hsb_registers registers{{0, 0}, {0xFFFFFFFC, 0xFFFFFFFF}, {0x50100000, 1}};
    const auto datagram = hsb_datagram(hsb_command::write_block, 0xBEEF, registers, 3);
    const auto request = good_request(datagram);
    EXPECT_EQ(request.command, hsb_command::write_block);
    EXPECT_EQ(request.flags, 3);
    EXPECT_EQ(request.sequence, 0xBEEF);
    EXPECT_EQ(all(request.pairs), registers);
}

TEST(hsb_requests, of_one_register_carry_its_value_only_to_write) {
    const auto write = hsb_datagram(hsb_command::write_dword, 5, {{0x1028, 0x0A000001}});
    EXPECT_THAT(all(good_request(write).pairs), ElementsAre(hsb_register{0x1028, 0x0A000001}));
    const auto read = hsb_datagram(hsb_command::read_dword, 5, {{0x1028, 0x0A000001}});
    EXPECT_THAT(all(good_request(read).pairs), ElementsAre(hsb_register{0x1028, 0}));
}

TEST(hsb_requests, to_read_one_register_may_carry_a_value_as_the_documentation_has_it) {
    const auto datagram = from_hex("1401000500000000008000000000");
    EXPECT_EQ(good_request(datagram).pairs[0].address, 0x80U);
}

TEST(hsb_requests, of_one_register_may_carry_bytes_behind_it) {
    const auto datagram = from_hex("04010005000000001000000000ffabcdef");
    EXPECT_THAT(all(good_request(datagram).pairs), ElementsAre(hsb_register{0x1000, 0xFF}));
}

TEST(hsb_requests, want_an_answer_if_they_read_or_ask_for_one) {
    const auto wants = [](hsb_command command, std::uint8_t flags) {
        const auto datagram = hsb_datagram(command, 1, {{4, 4}}, flags);
        return good_request(datagram).wants_answer();
    };
    EXPECT_TRUE(wants(hsb_command::read_dword, 0));
    EXPECT_TRUE(wants(hsb_command::read_block, 0));
    EXPECT_TRUE(wants(hsb_command::write_dword, 1));
    EXPECT_FALSE(wants(hsb_command::write_dword, 0));
    EXPECT_FALSE(wants(hsb_command::write_block, 2));
}

TEST(hsb_requests, the_longest_block_fills_the_largest_datagram) {
    const hsb_registers most(hsb_max_pairs, {4, 4});
    const auto datagram = hsb_datagram(hsb_command::write_block, 1, most);
    EXPECT_EQ(datagram.size(), 4094U);
    EXPECT_EQ(good_request(datagram).pairs.size(), hsb_max_pairs);
    EXPECT_LE(request_bytes(hsb_command::write_block, hsb_pairs_per_frame), 1472U);
    EXPECT_GT(request_bytes(hsb_command::write_block, hsb_pairs_per_frame + 1), 1472U);
}

TEST(hsb_requests, that_cannot_be_are_not_written) {
    std::vector<std::byte> out(8192, std::byte{0x5A});
    const hsb_registers none, one(1), two(2), too_many(hsb_max_pairs + 1);
    const auto length = [&](hsb_command command, const hsb_registers& r, std::size_t room) {
        return encode_request(std::span(out).first(room), command, 1, 1, r);
    };
    EXPECT_EQ(length(hsb_command::write_block, none, 8192), 0U);
    EXPECT_EQ(length(hsb_command::write_block, too_many, 8192), 0U);
    EXPECT_EQ(length(hsb_command::write_dword, two, 8192), 0U);
    EXPECT_EQ(length(hsb_command::read_dword, two, 8192), 0U);
    EXPECT_EQ(length(hsb_command::write_dword, one, 13), 0U);
    EXPECT_EQ(length(hsb_command::read_dword, one, 9), 0U);
    EXPECT_EQ(length(hsb_command::read_block, two, 21), 0U);
    EXPECT_TRUE(std::ranges::all_of(out, [](std::byte b) { return b == std::byte{0x5A}; }));
}

TEST(hsb_requests, that_are_malformed_are_refused_with_a_reason) {
    EXPECT_EQ(bad_request(""), hsb_malformed::too_short);
    EXPECT_EQ(bad_request("1401000100"), hsb_malformed::too_short);
    EXPECT_EQ(bad_request("200100010000"), hsb_malformed::unknown_command);
    EXPECT_EQ(bad_request("840100010000000000000000"), hsb_malformed::unknown_command); // an answer's
    EXPECT_EQ(bad_request("140500010000000000800000"), hsb_malformed::reserved_flags);
    EXPECT_EQ(bad_request("148000010000000000800000"), hsb_malformed::reserved_flags);
    for (const std::string command : {"04", "09", "14", "19"})
        EXPECT_EQ(bad_request(command + "0100010000"), hsb_malformed::no_pair) << command;
    EXPECT_EQ(bad_request("140100010000000080"), hsb_malformed::cut_pair);
    EXPECT_EQ(bad_request("04010001000000000080000000"), hsb_malformed::cut_pair);
    EXPECT_EQ(bad_request("09010001000000000080000000"), hsb_malformed::cut_pair);
    EXPECT_EQ(bad_request("190100010000000000800000000000"), hsb_malformed::cut_pair);
    const std::string pair = "0000008000000000";
    std::string too_many = "090100010000";
    for (std::size_t i = 0; i <= hsb_max_pairs; ++i) too_many += pair;
    EXPECT_EQ(bad_request(too_many), hsb_malformed::too_many_pairs);
}

TEST(hsb_requests, every_reason_has_words_and_what_the_fpga_says_to_it) {
    std::set<std::string> words;
    for (int i = 0; i <= static_cast<int>(hsb_malformed::too_many_pairs); ++i)
        words.insert(describe(static_cast<hsb_malformed>(i)));
    EXPECT_EQ(words.size(), 6U);
    EXPECT_FALSE(status_for(hsb_malformed::too_short));
    EXPECT_EQ(status_for(hsb_malformed::unknown_command), hsb_status::unknown_command);
    EXPECT_EQ(status_for(hsb_malformed::reserved_flags), hsb_status::invalid_flags);
    EXPECT_EQ(status_for(hsb_malformed::no_pair), hsb_status::invalid_length);
    EXPECT_EQ(status_for(hsb_malformed::cut_pair), hsb_status::invalid_length);
    EXPECT_EQ(status_for(hsb_malformed::too_many_pairs), hsb_status::invalid_block_size);
}

std::string answered(const hsb_response_header& header, const hsb_registers& registers, hsb_dialect dialect) {
    std::vector<std::byte> out(hsb_max_datagram);
    out.resize(encode_response(out, header, registers, dialect));
    return to_hex(out);
}

constexpr hsb_response_header answer_to(std::uint8_t command) {
    return {.command = command, .flags = 1, .sequence = 0x0203, .status = {}, .latched_sequence = 0x0203};
}

TEST(hsb_responses, of_the_emulator_have_its_bytes) {
    const auto dialect = hsb_dialect::emulator;
    EXPECT_EQ(answered(answer_to(0x04), {{0x1000, 5}}, dialect), "0401020300");
    EXPECT_EQ(answered(answer_to(0x09), {{0x1000, 5}}, dialect), "0901020300");
    EXPECT_EQ(answered(answer_to(0x14), {{0x80, 0x2602}}, dialect), "140102030000"
                                                                    "0000008000002602"
                                                                    "0203");
    EXPECT_EQ(answered(answer_to(0x19), {{0x80, 1}, {0x84, 2}}, dialect), "190102030000"
                                                                          "0000008000000001"
                                                                          "0000008400000002"
                                                                          "0203");
}

TEST(hsb_responses, of_the_fpga_have_bit_7_all_pairs_and_padding_behind_short_ones) {
    const auto dialect = hsb_dialect::fpga;
    EXPECT_EQ(answered(answer_to(0x04), {{0x1000, 5}}, dialect), "840102030000"
                                                                 "0000100000000005"
                                                                 "02030000");
    EXPECT_EQ(answered(answer_to(0x14), {{0x80, 0x2602}}, dialect), "940102030000"
                                                                    "0000008000002602"
                                                                    "02030000");
    EXPECT_EQ(answered(answer_to(0x19), {{0x80, 1}, {0x84, 2}}, dialect), "990102030000"
                                                                          "0000008000000001"
                                                                          "0000008400000002"
                                                                          "0203");
}

TEST(hsb_responses, that_refuse_carry_no_pairs_and_an_unknown_command_comes_back_as_it_was) {
    auto header = answer_to(0x19);
    header.status = hsb_status::invalid_address;
    EXPECT_EQ(answered(header, {{1, 1}}, hsb_dialect::emulator), "1901020303");
    EXPECT_EQ(answered(header, {{1, 1}}, hsb_dialect::fpga), "99010203030002030000");
    header.command = 0x20;
    header.status = hsb_status::unknown_command;
    EXPECT_EQ(answered(header, {}, hsb_dialect::emulator), "2001020304");
    EXPECT_EQ(answered(header, {}, hsb_dialect::fpga), "20010203040002030000");
}

TEST(hsb_responses, that_do_not_fit_are_not_written) {
    std::array<std::byte, 17> out{};
    const hsb_registers one(1), too_many(hsb_max_pairs + 1);
    EXPECT_EQ(encode_response(std::span(out).first(4), answer_to(0x04), one), 0U);
    EXPECT_EQ(encode_response(std::span(out).first(15), answer_to(0x14), one), 0U);
    EXPECT_EQ(encode_response(out, answer_to(0x14), one, hsb_dialect::fpga), 0U);
    std::vector<std::byte> large(8192);
    EXPECT_EQ(encode_response(large, answer_to(0x19), too_many), 0U);
}

TEST(hsb_responses, of_both_dialects_are_read_alike) {
    for (const auto dialect : {hsb_dialect::emulator, hsb_dialect::fpga}) {
        for (std::size_t pairs = 1; pairs < 5; ++pairs) {
            const hsb_registers registers(pairs, {0x50000004, 0xFEDCBA98});
            std::vector<std::byte> out(hsb_max_datagram);
            out.resize(encode_response(out, answer_to(0x19), registers, dialect));
            const auto response = good_response(out);
            EXPECT_TRUE(response.answers(hsb_command::read_block, 0x0203));
            EXPECT_FALSE(response.answers(hsb_command::read_block, 0x0204));
            EXPECT_FALSE(response.answers(hsb_command::write_block, 0x0203));
            EXPECT_EQ(response.status, hsb_status::success);
            EXPECT_EQ(response.latched_sequence, 0x0203);
            EXPECT_EQ(all(response.pairs), registers);
        }
    }
}

TEST(hsb_responses, may_be_a_short_acknowledgement) {
    const auto response = good_response(from_hex("0901000700"));
    EXPECT_TRUE(response.answers(hsb_command::write_block, 7));
    EXPECT_TRUE(response.pairs.empty());
    EXPECT_FALSE(response.latched_sequence);
}

TEST(hsb_responses, carry_the_status_even_one_of_no_list) {
    EXPECT_EQ(good_response(from_hex("840100070b0000070000")).status, hsb_status::sequence_check_failed);
    const auto odd = good_response(from_hex("0401000777")).status;
    EXPECT_STREQ(describe(odd), "unknown status");
    EXPECT_STREQ(describe(hsb_status::invalid_address), "invalid address");
}

TEST(hsb_responses, every_status_has_its_own_words) {
    std::set<std::string> words;
    for (int code = 0; code < 256; ++code) words.insert(describe(static_cast<hsb_status>(code)));
    EXPECT_EQ(words.size(), 12U); // eleven, and "unknown status"
}

TEST(hsb_responses, that_are_malformed_are_refused_with_a_reason) {
    EXPECT_EQ(bad_response("84010007"), hsb_malformed::too_short);
    EXPECT_EQ(bad_response("a00100070000"), hsb_malformed::unknown_command);
    EXPECT_EQ(bad_response("9401000700"), hsb_malformed::no_pair);
    EXPECT_EQ(bad_response("940100070000"), hsb_malformed::no_pair);
    EXPECT_EQ(bad_response("94010007000000000080"), hsb_malformed::no_pair); // a latch and padding alone
    EXPECT_EQ(bad_response("94010007000000000080000000010203ff"), hsb_malformed::cut_pair);
    EXPECT_EQ(bad_response("9401000700000000008000000001"), hsb_malformed::cut_pair); // no latch
    EXPECT_EQ(bad_response("9401000700000000008000000001000000840000000200"), hsb_malformed::cut_pair);
    EXPECT_EQ(bad_response("940100070000000000800000000100000084000000020203"),
              hsb_malformed::too_many_pairs);
}

TEST(hsb_responses, the_header_of_an_answer_is_the_requests) {
    const auto header = answer_header(from_hex("20ff12340000"));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->command, 0x20);
    EXPECT_EQ(header->flags, 0xFF);
    EXPECT_EQ(header->sequence, 0x1234);
    EXPECT_EQ(header->latched_sequence, 0x1234);
    EXPECT_FALSE(answer_header(from_hex("20ff123400")));
}

} // namespace
} // namespace rocio::test
