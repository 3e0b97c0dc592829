#include "bus_bytes.hpp"
#include "fake_registers.hpp"
#include "fpga/srp_responder.hpp"

#include <rocio/fpga/srp.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::fpga {
namespace {

using test::byte_string;
using test::bytes_of;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::uint32_t id = 0x11223344;

TEST(srp, AReadOfOneRegisterIs20Bytes) {
    EXPECT_EQ(encode(srp_request{.id = id, .address = 0x1'0015'0F00}),
              bytes_of({0x03, 0x00, 0x00, 0x0A, 0x44, 0x33, 0x22, 0x11, 0x00, 0x0F,
                        0x15, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00}));
}

TEST(srp, AWriteOfOneRegisterIs24Bytes) {
    const auto data = words_of({0xDEADBEEF});
    EXPECT_EQ(
        encode(srp_request{.opcode = srp_opcode::write, .id = id, .address = 0x8000'0004, .data = data}),
        words_of({0x0A000103, id, 0x80000004, 0, 3, 0xDEADBEEF}));
}

TEST(srp, EveryFieldOfTheFirstWordHasItsPlace) {
    srp_request r{
        .opcode = srp_opcode::posted_write, .timeout = 0xAB, .protection = 5, .ignore_bus_response = true};
    EXPECT_EQ(encode(r), words_of({0xABA04203, 0, 0, 0, 3}));
    r = {.opcode = srp_opcode::null, .timeout = 0};
    EXPECT_EQ(encode(r), words_of({0x00000303, 0, 0, 0, 3}));
}

TEST(srp, AReadOfAllOfMetaDataRxIsOneRequest) {
    EXPECT_EQ(encode(srp_request{.address = 0x0015'0F2C, .size = 36}),
              words_of({0x0A000003, 0, 0x00150F2C, 0, 35}));
}

TEST(srp, RequestsAreReadBackAsTheyWereWritten) {
    const auto data = words_of({1, 2});
    const auto message = encode(srp_request{.opcode = srp_opcode::write,
                                            .id = id,
                                            .address = 0x1234'5678'9ABC'DEF0,
                                            .size = 8,
                                            .timeout = 3,
                                            .protection = 2,
                                            .ignore_bus_response = true,
                                            .data = data});
    const auto got = parse_srp_request(message);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, 0U);
    EXPECT_EQ(got->request.opcode, srp_opcode::write);
    EXPECT_EQ(got->request.id, id);
    EXPECT_EQ(got->request.address, 0x1234'5678'9ABC'DEF0U);
    EXPECT_EQ(got->request.size, 8U);
    EXPECT_EQ(got->request.timeout, 3);
    EXPECT_EQ(got->request.protection, 2);
    EXPECT_TRUE(got->request.ignore_bus_response);
    EXPECT_THAT(got->request.data, testing::ElementsAreArray(data));
}

std::uint32_t status_of(const byte_string& message) {
    const auto got = parse_srp_request(message);
    return got ? got->status : 0xFFFF'FFFF;
}

TEST(srp, WhatTheFirmwareRefusesHasItsStatusBit) {
    EXPECT_EQ(status_of(words_of({0x0A000004, id, 0x100, 0, 3})), 1U << 11) << "version 4";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x102, 0, 3})), 1U << 12) << "not aligned";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x100, 0, 4})), 1U << 12) << "5 bytes";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x100, 0, 4099})), 1U << 12) << "4100 bytes";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x100, 0, 0xFFFFFFFF})), 1U << 12) << "4 GiB";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0xFFFFFFFC, 0xFFFFFFFF, 7})), 1U << 12) << "past the end";
    EXPECT_EQ(status_of(words_of({0x0A000103, id, 0x100, 0, 7, 1})), 1U << 10) << "data too short";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x100, 0, 3, 1})), 1U << 10) << "a read with data";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0xFFFFFFFC, 0xFFFFFFFF, 3})), 0U) << "the very last word";
    EXPECT_EQ(status_of(words_of({0x0A000003, id, 0x100, 0, 4095})), 0U) << "4096 bytes";
}

TEST(srp, WhatIsShorterThanAHeaderIsNoRequest) {
    const auto whole = words_of({0x0A000003, id, 0x100, 0, 3});
    for (std::size_t n = 0; n < whole.size(); ++n)
        EXPECT_FALSE(parse_srp_request(std::span(whole).first(n))) << n;
    EXPECT_FALSE(parse_srp_request(test::pattern(21))) << "no whole words";
}

TEST(srp, AReplyAnswersItsRequestAndNoOther) {
    const srp_request r{.id = id, .address = 0x1'0000'0100};
    const auto message = words_of({0x0A000003, id, 0x100, 1, 3, 0xCAFE, 0});
    ASSERT_EQ(message.size(), 28U);
    const auto reply = parse_srp_reply(message);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->id, id);
    EXPECT_TRUE(reply->answers(r));
    EXPECT_THAT(reply->data, testing::ElementsAreArray(words_of({0xCAFE})));
    EXPECT_FALSE(reply->answers({.id = id + 1, .address = 0x1'0000'0100}));
    EXPECT_FALSE(reply->answers({.id = id, .address = 0x100}));
    EXPECT_FALSE(reply->answers({.id = id, .address = 0x1'0000'0100, .size = 8}));
    EXPECT_FALSE(reply->answers({.opcode = srp_opcode::write, .id = id, .address = 0x1'0000'0100}));
    EXPECT_FALSE(reply->answers({.id = id, .address = 0x1'0000'0100, .timeout = 11}));
}

TEST(srp, TheBoardsOwnBitsOfTheFirstWordMayDiffer) {
    const srp_request r{.id = id, .address = 0x100};
    EXPECT_TRUE(parse_srp_reply(words_of({0x0A003C03, id, 0x100, 0, 3, 1, 0}))->answers(r));
    for (unsigned bit = 0; bit < 32; ++bit) {
        if (bit >= 10 && bit <= 13) continue;
        EXPECT_FALSE(parse_srp_reply(words_of({0x0A000003U ^ 1U << bit, id, 0x100, 0, 3, 1, 0}))->answers(r))
            << bit;
    }
}

TEST(srp, AReplyWithoutAnErrorHasAsMuchDataAsWasAsked) {
    const srp_request r{.id = id, .address = 0x100, .size = 8};
    EXPECT_FALSE(parse_srp_reply(words_of({0x0A000003, id, 0x100, 0, 7, 1, 0}))->answers(r));
    EXPECT_TRUE(parse_srp_reply(words_of({0x0A000003, id, 0x100, 0, 7, 1, 2, 0}))->answers(r));
    EXPECT_TRUE(parse_srp_reply(words_of({0x0A000003, id, 0x100, 0, 7, 0x100}))->answers(r)) << "an error";
}

TEST(srp, WhatIsTooShortOrTooLongIsNoReply) {
    for (std::size_t n = 0; n < 24; ++n) EXPECT_FALSE(parse_srp_reply(test::pattern(n))) << n;
    EXPECT_FALSE(parse_srp_reply(test::pattern(26)));
    EXPECT_TRUE(parse_srp_reply(test::pattern(srp_max_message)));
    EXPECT_FALSE(parse_srp_reply(test::pattern(srp_max_message + 4)));
}

TEST(srp, EveryStatusBitHasAName) {
    EXPECT_THAT(srp_error(0x003).message(), HasSubstr("no register at this address (bus response 3)"));
    EXPECT_THAT(srp_error(0x002).message(), HasSubstr("error on the board's bus (bus response 2)"));
    EXPECT_THAT(srp_error(0x100).message(), HasSubstr("timed out"));
    EXPECT_THAT(srp_error(0x200).message(), HasSubstr("damaged"));
    EXPECT_THAT(srp_error(0x400).message(), HasSubstr("length"));
    EXPECT_THAT(srp_error(0x800).message(), HasSubstr("version"));
    EXPECT_THAT(srp_error(0x1000).message(), HasSubstr("alignment"));
    EXPECT_THAT(srp_error(0x2000).message(), HasSubstr("locked up"));
    EXPECT_THAT(srp_error(0x4000).message(), HasSubstr("unknown status bits (status 0x4000)"));
    EXPECT_THAT(srp_error(0x2103).message(), testing::AllOf(HasSubstr("no register"), HasSubstr("timed out"),
                                                            HasSubstr("locked up"), HasSubstr("0x2103")));
    EXPECT_EQ(srp_error(0x100), srp_status::timeout);
    EXPECT_STREQ(srp_error(1).category().name(), "rocio.fpga.srp_status");
    EXPECT_FALSE(is_fatal(srp_error(0x100)));
    EXPECT_EQ(srp_error(3), condition::bad_configuration);
    EXPECT_FALSE(srp_error(2) == condition::bad_configuration);
}

class srp_board : public ::testing::Test {
  protected:
    test::fake_registers registers;
    byte_string answer(const byte_string& request) { return detail::answer_srp(registers, request); }
};

TEST_F(srp_board, AnswersAReadWithHeaderDataAndStatus) {
    registers.values = {{0x100, 7}, {0x104, 8}};
    EXPECT_EQ(answer(words_of({0x0A000003, id, 0x100, 0, 7})),
              words_of({0x0A000003, id, 0x100, 0, 7, 7, 8, 0}));
}

TEST_F(srp_board, AnswersAWriteWithTheDataWritten) {
    EXPECT_EQ(answer(words_of({0x0A000103, id, 0x100, 0, 7, 1, 2})),
              words_of({0x0A000103, id, 0x100, 0, 7, 1, 2, 0}));
    EXPECT_THAT(registers.writes, ElementsAre(Pair(0x100, 1), Pair(0x104, 2)));
}

TEST_F(srp_board, DoesAPostedWriteInSilence) {
    EXPECT_TRUE(answer(words_of({0x0A000203, id, 0x100, 0, 3, 1})).empty());
    EXPECT_THAT(registers.writes, ElementsAre(Pair(0x100, 1)));
    EXPECT_TRUE(answer(words_of({0x0A000203, id, 0x101, 0, 3, 1})).empty()) << "refused in silence, too";
}

TEST_F(srp_board, AnswersANullWithoutTouchingAnything) {
    EXPECT_EQ(answer(words_of({0x0A000303, id, 0, 0, 3})), words_of({0x0A000303, id, 0, 0, 3, 0}));
}

TEST_F(srp_board, SaysWhichAccessFailed) {
    registers.failing[0x104] = bus_response::decode_error;
    EXPECT_EQ(answer(words_of({0x0A000003, id, 0x104, 0, 3})), words_of({0x0A000003, id, 0x104, 0, 3, 0, 3}));
    registers.failing[0x104] = bus_response::slave_error;
    EXPECT_EQ(answer(words_of({0x0A000103, id, 0x100, 0, 11, 1, 2, 3})),
              words_of({0x0A000103, id, 0x100, 0, 11, 1, 2, 3, 2}));
    EXPECT_THAT(registers.writes, ElementsAre(Pair(0x100, 1))) << "nothing after the word that failed";
}

TEST_F(srp_board, IgnoresTheBusResponseWhenAskedTo) {
    registers.failing[0x100] = bus_response::slave_error;
    EXPECT_EQ(answer(words_of({0x0A004003, id, 0x100, 0, 3})), words_of({0x0A004003, id, 0x100, 0, 3, 0, 0}));
}

TEST_F(srp_board, RefusesByStatusWithoutTouchingAnything) {
    EXPECT_EQ(answer(words_of({0x0A000103, id, 0x100, 0, 7, 1})),
              words_of({0x0A000103, id, 0x100, 0, 7, 0x400}));
    EXPECT_TRUE(answer(words_of({0x0A000003, id})).empty());
    EXPECT_TRUE(registers.writes.empty());
}

} // namespace
} // namespace rocio::fpga
