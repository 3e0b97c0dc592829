#include "status_server_fixture.hpp"

#include <array>

namespace {

using namespace rocio;
using namespace rocio::test;
using testing::HasSubstr;

constexpr const char* trailing = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";

class status_framing : public status_server_fixture {
  protected:
    status_framing() { serve(); }

    /// The answer to `head` and `body`, after which the server must close without answering what follows.
    http_response last_answer_to(const std::string& head, const std::string& body = {}) {
        auto c = client();
        c.send(head + "\r\n" + body + trailing);
        const auto r = response(c);
        EXPECT_EQ(r.header("connection"), "close");
        EXPECT_EQ(json_of(r).at("status"), r.status);
        EXPECT_TRUE(closes(c)) << "the request behind was answered";
        return r;
    }
};

struct conflict {
    const char* name;
    const char* version;
    const char* fields;
};

void PrintTo(const conflict& c, std::ostream* out) {
    *out << c.name;
}

class status_framing_conflict : public status_framing, public testing::WithParamInterface<conflict> {};

TEST_P(status_framing_conflict, gets_400_and_the_connection_ends) {
    for (const auto* method : {"GET", "POST"}) {
        const auto head = std::string(method) + " /status HTTP/" + GetParam().version + "\r\nHost: test\r\n" +
                          GetParam().fields;
        EXPECT_EQ(last_answer_to(head, "0\r\n\r\n").status, 400U) << method;
    }
    EXPECT_EQ(answer_to(trailing).body, "ok");
}

INSTANTIATE_TEST_SUITE_P(
    of, status_framing_conflict,
    testing::Values(
        conflict{"gzip_then_length", "1.1", "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"},
        conflict{"length_then_chunked", "1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"},
        conflict{"chunked_then_length", "1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"},
        conflict{"chunked_then_length_0", "1.1", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"},
        conflict{"length_then_gzip", "1.1", "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n"},
        conflict{"two_lengths", "1.1", "Content-Length: 5\r\nContent-Length: 6\r\n"},
        conflict{"two_equal_lengths", "1.1", "Content-Length: 5\r\nContent-Length: 5\r\n"},
        conflict{"list_of_lengths", "1.1", "Content-Length: 5, 6\r\n"},
        conflict{"length_below_zero", "1.1", "Content-Length: -1\r\n"},
        conflict{"length_in_hex", "1.1", "Content-Length: 0x5\r\n"},
        conflict{"length_past_64_bits", "1.1", "Content-Length: 18446744073709551616\r\n"},
        conflict{"gzip", "1.1", "Transfer-Encoding: gzip\r\n"},
        conflict{"identity", "1.1", "Transfer-Encoding: identity\r\n"},
        conflict{"gzip_and_chunked", "1.1", "Transfer-Encoding: gzip, chunked\r\n"},
        conflict{"chunked_not_last", "1.1", "Transfer-Encoding: chunked, gzip\r\n"},
        conflict{"chunked_twice", "1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"},
        conflict{"gzip_with_a_large_length", "1.1",
                 "Transfer-Encoding: gzip\r\nContent-Length: 99999999\r\n"},
        conflict{"chunked_in_http_1_0", "1.0", "Transfer-Encoding: chunked\r\n"},
        conflict{"space_before_the_colon", "1.1", "Transfer-Encoding : chunked\r\n"}),
    [](const auto& of) { return of.param.name; });

TEST_F(status_framing, of_http_1_1_needs_exactly_one_host) {
    EXPECT_EQ(last_answer_to("GET /healthz HTTP/1.1\r\n").status, 400U);
    EXPECT_EQ(last_answer_to("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n").status, 400U);
    EXPECT_EQ(answer_to("GET /healthz HTTP/1.0\r\n\r\n").status, 200U);
}

TEST_F(status_framing, of_what_is_no_http_gets_400) {
    for (const auto* bytes :
         {"\x16\x03\x01\x02\x01\xFF\xFF\xFF\r\n", "SSH-2.0-OpenSSH_9\r\n", "GET\r\n", "GET /status\r\n",
          "GET /status HTTP/9.9\r\n", "GET /status HTTP/1.1\r\nbad field\r\n", "PRI * HTTP/2.0\r\n"}) {
        EXPECT_EQ(last_answer_to(bytes).status, 400U) << bytes;
    }
}

TEST_F(status_framing, within_the_body_limit_drops_the_body_and_goes_on) {
    auto c = client();
    c.send("GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: 1024\r\n\r\n" + std::string(1024, 'x') +
           trailing);
    EXPECT_EQ(response(c).body, "ok");
    EXPECT_EQ(response(c).body, "ok");
    c.send(
        "POST /status HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    EXPECT_EQ(response(c).status, 405U);
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

TEST_F(status_framing, of_a_longer_body_gets_413_before_the_body_is_there) {
    for (const auto* path : {"/status", "/healthz", "/none"}) {
        for (const auto* method : {"GET", "HEAD", "POST"}) {
            auto c = client();
            c.send(std::string(method) + " " + path +
                   " HTTP/1.1\r\nHost: test\r\nContent-Length: 1025\r\n\r\n");
            EXPECT_EQ(response(c).status, 413U) << method << path;
        }
    }
}

TEST_F(status_framing, of_a_longer_chunked_body_gets_413_at_the_limit) {
    auto c = client();
    c.send("POST /status HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n401\r\n" +
           std::string(1025, 'x'));
    EXPECT_EQ(response(c).status, 413U);
    auto many = client();
    std::string chunks;
    for (int i = 0; i < 1025; ++i) chunks += "1\r\nx\r\n";
    many.send("POST /status HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
    EXPECT_EQ(response(many).status, 413U);
}

TEST_F(status_framing, of_ten_mebibytes_of_body_reaches_the_client_that_sends_first_and_reads_then) {
    const std::string body(10 << 20, 'x');
    for (const auto& framing : {"Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
                                "Transfer-Encoding: chunked\r\n\r\nA00000\r\n" + body + "\r\n0\r\n\r\n"}) {
        auto c = client();
        c.send("POST /status HTTP/1.1\r\nHost: test\r\n" + framing);
        EXPECT_TRUE(pump([&] {
            c.work();
            return c.all_sent();
        }));
        EXPECT_EQ(response(c).status, 413U);
        c.finish_sending();
        EXPECT_TRUE(closes(c));
    }
}

TEST_F(status_framing, of_a_header_past_the_limit_gets_431) {
    for (const std::size_t size : {std::size_t{8 * 1024}, std::size_t{100 * 1024}}) {
        EXPECT_EQ(answer_to("GET /status HTTP/1.1\r\nHost: test\r\nX: " + std::string(size, 'x') + "\r\n\r\n")
                      .status,
                  431U);
        EXPECT_EQ(answer_to("GET /" + std::string(size, 'x') + " HTTP/1.1\r\nHost: test\r\n\r\n").status,
                  431U);
        EXPECT_EQ(answer_to("GET /status HTTP/1.1\r\nHost: test\r\nX: " + std::string(size, 'x')).status,
                  431U);
    }
    std::string fields;
    for (int i = 0; i < 2000; ++i) fields += "X: y\r\n";
    EXPECT_EQ(answer_to("GET /status HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n").status, 431U);
    EXPECT_EQ(
        answer_to("GET /healthz HTTP/1.1\r\nHost: test\r\nX: " + std::string(8000, 'x') + "\r\n\r\n").status,
        200U);
}

TEST_F(status_framing, with_large_trailers_or_chunk_extensions_gets_413) {
    const std::string head = "GET /status HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
    std::string fields;
    for (int i = 0; i < 2000; ++i) fields += "X: y\r\n";
    EXPECT_EQ(answer_to(head + "0\r\n" + fields + "\r\n").status, 413U);
    std::string chunks;
    for (int i = 0; i < 100; ++i) chunks += "1;" + std::string(200, 'e') + "=v\r\nx\r\n";
    EXPECT_EQ(answer_to(head + chunks).status, 413U);
}

TEST_F(status_framing, with_an_expectation_gets_417) {
    EXPECT_EQ(
        last_answer_to("POST /status HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n")
            .status,
        417U);
}

TEST_F(status_framing, of_a_bad_chunk_gets_400) {
    EXPECT_EQ(last_answer_to("GET /status HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n", "zz\r\n")
                  .status,
              400U);
}

} // namespace
