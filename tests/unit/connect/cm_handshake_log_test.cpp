// rdma_cm's handshakes in the status: each attempt counts once as begun and once as ended.

#include "cm_acceptor_fixture.hpp"

#include <rocio/connect/handshake_log.hpp>

namespace rocio::test {
namespace {

class CmHandshakeLog : public CmAcceptorFixture {
  protected:
    void expect(std::uint64_t attempts, std::uint64_t established, std::uint64_t failed) {
        const auto s = acceptor->handshake();
        EXPECT_EQ(s.kind, "rdma_cm");
        EXPECT_EQ(s.attempts, attempts);
        EXPECT_EQ(s.established, established);
        EXPECT_EQ(s.failed, failed);
    }
};

TEST_F(CmHandshakeLog, AnAcceptorSharesTheLogItIsGiven) {
    cm_acceptor_config config;
    config.handshake.handshakes = std::make_shared<handshake_log>("camera");
    listen(config);
    EXPECT_EQ(acceptor->handshake().name, "camera");
    EXPECT_EQ(config.handshake.handshakes->snapshot().kind, "rdma_cm");
    EXPECT_NE(acceptor->handshake().endpoint, "");
}

TEST_F(CmHandshakeLog, AConnectionThatStandsIsEstablished) {
    listen();
    auto peer = request_and_accept();
    expect(1, 0, 0);
    ASSERT_FALSE(exchange(peer).ec);
    ASSERT_FALSE(ready(peer).ec);
    expect(1, 1, 0);
    release(peer);
    expect(1, 1, 0);
}

TEST_F(CmHandshakeLog, ARequestThatIsRejectedIsAFailure) {
    listen();
    {
        auto peer = request_and_accept();
        cm_ended out;
        peer.async_reject("not today", out.handler());
        run_until(out);
    }
    settle();
    expect(1, 0, 1);
    EXPECT_THAT(acceptor->handshake().last_error.text, ::testing::HasSubstr("not today"));
    EXPECT_NE(acceptor->handshake().last_error_peer, "");
    EXPECT_GT(acceptor->handshake().last_error_time.time_since_epoch().count(), 0);
}

TEST_F(CmHandshakeLog, APeerThatIsDroppedIsGivenUp) {
    listen();
    { auto peer = request_and_accept(); }
    settle();
    expect(1, 0, 1);
    EXPECT_EQ(acceptor->handshake().last_error.code, asio::error::operation_aborted);
}

TEST_F(CmHandshakeLog, OneTooManyIsAFailure) {
    cm_acceptor_config config;
    config.max_waiting = 1;
    listen(config);
    keep_watching();
    cm->request();
    cm->request();
    run_until([&] { return acceptor->snapshot().busy == 1; });
    expect(3, 1, 1);
    EXPECT_THAT(acceptor->handshake().last_error.text, ::testing::HasSubstr("too many connections"));
}

} // namespace
} // namespace rocio::test
