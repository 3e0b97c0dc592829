#include "connect/rendezvous_message.hpp"
#include "hex.hpp"
#include "sample_offer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rocio::test {
namespace {

using rendezvous::decode;
using rendezvous::encode;
using rendezvous::find_frame;
using rendezvous::message;
using rendezvous::message_kind;
using rendezvous::refusal_reason;
using ::testing::HasSubstr;

using bytes_type = std::vector<std::byte>;

bytes_type text_bytes(std::string_view text) {
    bytes_type out(text.size());
    std::ranges::transform(text, out.begin(), [](char c) { return std::byte(c); });
    return out;
}

message hello(const rendezvous::offer& o = sample_offer()) {
    return {message_kind::hello, o, {}};
}

/// A hello with some of its bytes overwritten.
bytes_type hello_with(std::size_t offset, std::string_view hex) {
    auto bytes = encode(hello());
    std::ranges::copy(from_hex(hex), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return bytes;
}

void set_length(bytes_type& bytes) {
    bytes[6] = std::byte(bytes.size() >> 8);
    bytes[7] = std::byte(bytes.size() & 0xFF);
}

constexpr const char* golden_hello = "524f4349 01 01 0058"
                                     "00000000000000000000ffff0a010203"
                                     "12b7 03 01"
                                     "00123456 00abcdef 00654321"
                                     "1122334455667788 0000000000200000 cafebabe"
                                     "00002000 00000100"
                                     "000f 03 06 00034000"
                                     "00001000"
                                     "0c 0e 0000 00000bb8";

TEST(RendezvousMessage, HelloHasTheDocumentedBytes) {
    EXPECT_EQ(to_hex(encode(hello())), to_hex(from_hex(golden_hello)));
}

TEST(RendezvousMessage, DocumentedBytesAreAHello) {
    message m;
    const auto error = decode(from_hex(golden_hello), m);
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(m.kind, message_kind::hello);
    EXPECT_EQ(fields(m.content), fields(sample_offer()));
}

TEST(RendezvousMessage, AcceptDiffersFromHelloInItsKindAlone) {
    auto bytes = encode(message{message_kind::accept, sample_offer(), {}});
    EXPECT_EQ(bytes[5], std::byte{2});
    bytes[5] = std::byte{1};
    EXPECT_EQ(bytes, encode(hello()));
}

TEST(RendezvousMessage, BareMessagesAreHeadersAlone) {
    EXPECT_EQ(to_hex(encode(message_kind::ready)), "524f434901040008");
    EXPECT_EQ(to_hex(encode(message_kind::bye)), "524f434901050008");
    EXPECT_EQ(to_hex(encode(message_kind::ping)), "524f434901060008");
}

TEST(RendezvousMessage, RefusalHasTheDocumentedBytes) {
    const message no{message_kind::refuse, {}, {refusal_reason::geometry, "too big"}};
    EXPECT_EQ(to_hex(encode(no)), "524f43490103"
                                  "0013"
                                  "0004"
                                  "0007"
                                  "746f6f20626967");
}

TEST(RendezvousMessage, RefusalComesBackWithReasonAndText) {
    message m;
    ASSERT_FALSE(
        decode(encode({message_kind::refuse, {}, {refusal_reason::path_mtu, "4096 against 1024"}}), m));
    EXPECT_EQ(m.kind, message_kind::refuse);
    EXPECT_EQ(m.why.reason, refusal_reason::path_mtu);
    EXPECT_EQ(m.why.text, "4096 against 1024");
}

TEST(RendezvousMessage, RefusalOfAnotherVersionIsUnderstood) {
    auto bytes = encode({message_kind::refuse, {}, {refusal_reason::version, "I speak 9"}});
    bytes[4] = std::byte{9};
    message m;
    ASSERT_FALSE(decode(bytes, m));
    EXPECT_EQ(m.why.reason, refusal_reason::version);
}

TEST(RendezvousMessage, RefusalTextIsPrintableAndAtMost256Characters) {
    const auto long_text = std::string(300, 'x');
    message m;
    ASSERT_FALSE(decode(encode({message_kind::refuse, {}, {refusal_reason::busy, long_text}}), m));
    EXPECT_EQ(m.why.text, std::string(256, 'x'));
    ASSERT_FALSE(decode(encode({message_kind::refuse, {}, {refusal_reason::busy, "a\nb\x1b[2Jc\xff"}}), m));
    EXPECT_EQ(m.why.text, "a?b?[2Jc?");
}

TEST(RendezvousMessage, ForeignRefusalTextIsMadePrintable) {
    auto bytes = encode({message_kind::refuse, {}, {refusal_reason::busy, "abc"}});
    bytes.back() = std::byte{7};
    message m;
    ASSERT_FALSE(decode(bytes, m));
    EXPECT_EQ(m.why.text, "ab?");
}

TEST(RendezvousMessage, RefusalWithALengthBeyondItsEndIsMalformed) {
    message m;
    for (const char* length : {"0004", "0100", "0101", "ffff"}) {
        auto bytes = from_hex("524f43490103000f"
                              "0004"
                              "0003"
                              "616263");
        std::ranges::copy(from_hex(length), bytes.begin() + 10);
        EXPECT_EQ(decode(bytes, m).code, errc::handshake_malformed) << length;
    }
}

TEST(RendezvousMessage, EveryReasonComesBackAsItsError) {
    using enum errc;
    for (const auto code : {handshake_malformed, version_mismatch, invalid_peer_parameters, geometry_mismatch,
                            path_mtu_mismatch, refused_by_peer}) {
        EXPECT_EQ(rendezvous::error_of(rendezvous::reason_of(code)), code);
    }
    EXPECT_EQ(rendezvous::error_of(refusal_reason::busy), refused_by_peer);
    EXPECT_EQ(rendezvous::error_of(static_cast<refusal_reason>(0x7FFF)), refused_by_peer);
}

TEST(RendezvousMessage, EveryTruncationAsksForMore) {
    const auto whole = encode(hello());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto found = find_frame(std::span(whole).first(size));
        EXPECT_FALSE(found.error) << size;
        EXPECT_EQ(found.size, 0U) << size;
        message m;
        EXPECT_EQ(decode(std::span(whole).first(size), m).code, errc::handshake_malformed) << size;
    }
    EXPECT_EQ(find_frame(whole).size, whole.size());
}

TEST(RendezvousMessage, EveryBodyCutShortUnderAnHonestLengthIsMalformed) {
    for (std::size_t size = 8; size < encode(hello()).size(); ++size) {
        auto bytes = encode(hello());
        bytes.resize(size);
        set_length(bytes);
        message m;
        EXPECT_EQ(decode(bytes, m).code, errc::handshake_malformed) << size;
    }
}

TEST(RendezvousMessage, FieldsOfALaterVersionAreIgnored) {
    auto bytes = encode(hello());
    bytes.resize(4096, std::byte{0xEE});
    set_length(bytes);
    message m;
    ASSERT_FALSE(decode(bytes, m));
    EXPECT_EQ(fields(m.content), fields(sample_offer()));
}

TEST(RendezvousMessage, UnknownKindIsNoError) {
    auto bytes = encode(message_kind::ping);
    bytes[5] = std::byte{200};
    message m;
    ASSERT_FALSE(decode(bytes, m));
    EXPECT_EQ(static_cast<unsigned>(m.kind), 200U);
}

TEST(RendezvousMessage, WhatFollowsTheFirstMessageStaysUntouched) {
    auto bytes = encode(hello());
    const auto size = bytes.size();
    bytes.insert(bytes.end(), {std::byte{'j'}, std::byte{'u'}});
    EXPECT_EQ(find_frame(bytes).size, size);
}

TEST(RendezvousMessage, LengthOutsideItsBoundsIsMalformed) {
    for (const char* length : {"0000", "0007", "1001", "ffff"}) {
        const auto bytes = hello_with(6, length);
        EXPECT_EQ(find_frame(bytes).error.code, errc::handshake_malformed) << length;
        EXPECT_THAT(find_frame(bytes).error.text, HasSubstr("allowed are 8..4096"));
    }
    EXPECT_FALSE(find_frame(hello_with(6, "1000")).error);
}

TEST(RendezvousMessage, GarbageIsRecognisedByItsFirstWrongByte) {
    const auto http = text_bytes("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    for (std::size_t size = 1; size <= http.size(); ++size) {
        EXPECT_EQ(find_frame(std::span(http).first(size)).error.code, errc::handshake_malformed) << size;
    }
    EXPECT_THAT(find_frame(http).error.text, HasSubstr("received 47 45 54 20"));
    EXPECT_EQ(find_frame(text_bytes("ROCX")).error.code, errc::handshake_malformed);
    EXPECT_FALSE(find_frame(text_bytes("ROC")).error);
}

TEST(RendezvousMessage, AnotherVersionIsAMismatchThatNamesBoth) {
    message m;
    const auto error = decode(hello_with(4, "02"), m);
    EXPECT_EQ(error.code, errc::version_mismatch);
    EXPECT_THAT(error.text, HasSubstr("version 2"));
    EXPECT_THAT(error.text, HasSubstr("version 1"));
    EXPECT_EQ(decode(hello_with(4, "00"), m).code, errc::version_mismatch);
}

struct hostile {
    const char* what;
    std::size_t offset;
    const char* hex;
    const char* said;
};

class RendezvousHostile : public ::testing::TestWithParam<hostile> {};

TEST_P(RendezvousHostile, ValueIsRefusedByName) {
    message m;
    const auto error = decode(hello_with(GetParam().offset, GetParam().hex), m);
    EXPECT_EQ(error.code, errc::invalid_peer_parameters);
    EXPECT_THAT(error.text, HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, RendezvousHostile,
    ::testing::Values(hostile{"zero_gid", 8, "00000000000000000000000000000000", "address"},
                      hostile{"zero_ipv4", 20, "00000000", "address"}, //
                      hostile{"udp_port_0", 24, "0000", "udp_port"},   //
                      hostile{"mtu_0", 26, "00", "path_mtu"},          //
                      hostile{"mtu_6", 26, "06", "path_mtu"},          //
                      hostile{"mtu_255", 26, "ff", "path_mtu"},
                      hostile{"qpn_0", 28, "00000000", "queue_pair is 0"},
                      hostile{"qpn_1", 28, "00000001", "queue_pair is 1"},
                      hostile{"qpn_25_bits", 28, "01000000", "queue_pair is 16777216"},
                      hostile{"qpn_huge", 28, "ffffffff", "queue_pair is 4294967295"},
                      hostile{"send_psn_25_bits", 32, "01000000", "send_psn is 16777216"},
                      hostile{"receive_psn_25_bits", 36, "80000000", "receive_psn is 2147483648"},
                      hostile{"region_wraps", 40, "fffffffffffff000", "region"},
                      hostile{"region_too_small", 48, "00000000000fffff", "region length"},
                      hostile{"depth_times_payload", 60, "ffffffffffffffff", "depth"},
                      hostile{"retry_count_8", 70, "08", "retry_count is 8"},
                      hostile{"rnr_retry_255", 71, "ff", "rnr_retry is 255"},
                      hostile{"rnr_timer_32", 80, "20", "min_rnr_timer is 32"},
                      hostile{"timeout_32", 81, "20", "timeout is 32"}),
    [](const auto& p) { return std::string(p.param.what); });

TEST(RendezvousMessage, WhatASideDoesNotTellIsZeroAndAllowed) {
    rendezvous::offer o;
    o.side.address = *gid::parse("fd00::7");
    o.side.queue_pair = qpn(2);
    message m;
    ASSERT_FALSE(decode(encode(hello(o)), m));
    EXPECT_EQ(fields(m.content), fields(o));
}

TEST(RendezvousMessage, LivenessBeyondTheFieldIsItsLargestValue) {
    auto o = sample_offer();
    o.liveness = std::chrono::hours(24 * 365);
    message m;
    ASSERT_FALSE(decode(encode(hello(o)), m));
    EXPECT_EQ(m.content.liveness.count(), 0xFFFFFFFF);
}

rendezvous::offer random_offer(std::mt19937_64& random) {
    rendezvous::offer o;
    auto& p = o.side;
    gid::bytes_type address{};
    for (auto& b : address) b = static_cast<std::uint8_t>(random());
    p.address = gid(address);
    p.udp_port = static_cast<std::uint16_t>(1 + random() % 65535);
    p.path_mtu = static_cast<mtu>(1 + random() % 5);
    p.capabilities = {random() % 2 == 0, static_cast<std::uint16_t>(random()),
                      static_cast<std::uint32_t>(random())};
    p.queue_pair = qpn(2 + static_cast<std::uint32_t>(random() % (qpn::max - 1)));
    p.send_psn = psn(random() & psn::mask);
    p.receive_psn = psn(random() & psn::mask);
    p.max_payload = static_cast<std::uint32_t>(random() % 65536);
    p.depth = static_cast<std::uint32_t>(random() % 65536);
    p.region = {random() >> 1, std::uint64_t{p.max_payload} * p.depth + random() % 1000,
                rkey{static_cast<std::uint32_t>(random())}};
    p.retry_count = static_cast<std::uint8_t>(random() % 8);
    p.rnr_retry = static_cast<std::uint8_t>(random() % 8);
    p.min_rnr_timer = rnr_timer(static_cast<std::uint32_t>(random() % 32));
    p.timeout = ack_timeout(static_cast<std::uint32_t>(random() % 32));
    o.largest_message = static_cast<std::uint32_t>(random());
    o.liveness = std::chrono::milliseconds(static_cast<std::uint32_t>(random()));
    return o;
}

TEST(RendezvousMessage, DecodeUndoesEncodeForAnyOffer) {
    std::mt19937_64 random(71);
    for (int round = 0; round < 2000; ++round) {
        const auto o = random_offer(random);
        message m;
        const auto error = decode(encode({message_kind::accept, o, {}}), m);
        ASSERT_FALSE(error) << error.message();
        ASSERT_EQ(m.kind, message_kind::accept);
        ASSERT_EQ(fields(m.content), fields(o)) << round;
    }
}

/// One change of the kinds that break decoders: a flipped bit, a byte at a bound, a cut, a doubled piece.
void mutate(bytes_type& bytes, std::mt19937_64& random) {
    constexpr std::byte bounds[] = {std::byte{0}, std::byte{1}, std::byte{0x7F}, std::byte{0x80},
                                    std::byte{0xFF}};
    const auto at = random() % bytes.size();
    const auto where = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 5) {
    case 0:
        *where ^= std::byte(1U << random() % 8);
        break;
    case 1:
        *where = bounds[random() % std::size(bounds)];
        break;
    case 2:
        bytes.resize(at + 1);
        break;
    case 3:
        bytes.insert(where, 1 + random() % 40, *where);
        break;
    default:
        *where = std::byte(random());
        break;
    }
}

TEST(RendezvousMessage, MutatedMessagesAreRefusedOrWithinAllBounds) {
    const std::vector<bytes_type> corpus{
        encode(hello()), encode({message_kind::accept, sample_offer(), {}}),
        encode({message_kind::refuse, {}, {refusal_reason::version, "I speak another"}}),
        encode(message_kind::bye)};
    std::mt19937_64 random(1234);
    int taken = 0;
    int refused = 0;
    for (int round = 0; round < 200'000; ++round) {
        auto bytes = corpus[random() % corpus.size()];
        for (auto changes = 1 + random() % 4; changes > 0; --changes) mutate(bytes, random);
        // An exact copy on the heap: a read beyond the end is one that AddressSanitizer sees.
        const bytes_type exact(bytes.begin(), bytes.end());
        message m;
        const auto found = find_frame(exact);
        ASSERT_LE(found.size, exact.size());
        const auto error = decode(exact, m);
        if (error) {
            ++refused;
            ASSERT_FALSE(error.text.empty());
            continue;
        }
        ++taken;
        ASSERT_LE(m.why.text.size(), rendezvous::max_refusal_text);
        ASSERT_TRUE(std::ranges::all_of(m.why.text, [](char c) { return c >= ' ' && c <= '~'; }));
        if (m.kind != message_kind::hello && m.kind != message_kind::accept) continue;
        ASSERT_FALSE(validate(rendezvous::peer_of(m.content)));
        message again;
        ASSERT_FALSE(decode(encode(m), again));
        ASSERT_EQ(fields(again.content), fields(m.content));
    }
    EXPECT_GT(taken, 10'000) << "the mutations are too rough to reach the fields";
    EXPECT_GT(refused, 10'000) << "the mutations are too gentle to break anything";
}

} // namespace
} // namespace rocio::test
