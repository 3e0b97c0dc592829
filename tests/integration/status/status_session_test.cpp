#include "status_server_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;

class status_session : public status_server_fixture {
  protected:
    std::vector<raw_http_client> clients(std::size_t n) {
        std::vector<raw_http_client> all;
        for (std::size_t i = 0; i < n; ++i) all.push_back(client());
        return all;
    }

    bool has_accepted(std::uint64_t n) {
        return pump([&] { return server->snapshot().accepted == n; });
    }

    /// Connections in every state a session can be in: silent, in a header, in a body, being written to, kept
    /// alive, refused and lingering.
    std::vector<raw_http_client> one_client_in_each_state() {
        auto all = clients(6);
        all[1].send("GET /status HTTP/1.1\r\nHo");
        all[2].send("GET /status HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf");
        EXPECT_EQ(get(all[4], "/healthz").status, 200U);
        all[3].get("/status");
        EXPECT_TRUE(pump([&] { return server->snapshot().requests == 2; }));
        all[5].send("garbage\r\n\r\n"); // last, because lingering has an end
        EXPECT_EQ(response(all[5]).status, 400U);
        EXPECT_EQ(server->snapshot().accepted, 6U);
        return all;
    }

    status_registration large = source.add(status_of_size(16 << 20));
};

TEST_F(status_session, beyond_the_cap_takes_the_place_of_the_one_idle_for_longest) {
    serve({.max_sessions = 16});
    std::vector<raw_http_client> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(client());
        ASSERT_EQ(get(all.back(), "/healthz").body, "ok") << i;
        ASSERT_LE(server->snapshot().sessions, 16U) << i;
    }
    EXPECT_EQ(server->snapshot().evicted, 84U);
    EXPECT_EQ(server->snapshot().refused, 0U);
    for (int i = 0; i < 84; ++i) EXPECT_TRUE(closes(all[static_cast<std::size_t>(i)])) << i;
    for (std::size_t i = 84; i < 100; ++i) EXPECT_EQ(get(all[i], "/healthz").body, "ok") << i;
}

TEST_F(status_session, in_use_is_spared_for_one_that_idles) {
    serve({.max_sessions = 2});
    auto used = client();
    EXPECT_EQ(get(used, "/healthz").body, "ok");
    auto idle = client();
    EXPECT_TRUE(has_accepted(2));
    EXPECT_EQ(get(used, "/healthz").body, "ok");
    auto third = client();
    EXPECT_EQ(get(third, "/healthz").body, "ok");
    EXPECT_TRUE(closes(idle));
    EXPECT_EQ(get(used, "/healthz").body, "ok");
}

TEST_F(status_session, beyond_the_cap_is_refused_with_503_while_all_are_busy) {
    serve({.max_sessions = 2});
    auto busy = clients(2);
    for (auto& c : busy) c.get("/status"); // more than the sockets' buffers take
    EXPECT_TRUE(pump([&] { return server->snapshot().requests == 2; }));
    auto third = client();
    third.get("/healthz");
    const auto r = response(third);
    EXPECT_EQ(r.status, 503U);
    EXPECT_EQ(r.header("connection"), "close");
    EXPECT_TRUE(r.has("retry-after"));
    EXPECT_EQ(json_of(r).at("status"), 503);
    EXPECT_TRUE(closes(third));
    EXPECT_EQ(server->snapshot().refused, 1U);
    for (auto& c : busy) EXPECT_EQ(response(c).status, 200U);
}

TEST_F(status_session, beyond_the_cap_takes_the_place_of_the_request_that_has_been_coming_in_for_longest) {
    serve({.max_sessions = 2});
    std::vector<raw_http_client> slow;
    for (std::uint64_t n = 1; n <= 2; ++n) {
        slow.push_back(client());
        slow.back().send("GET /healthz HTTP/1.1\r\n");
        EXPECT_TRUE(has_accepted(n));
        context.poll();
    }
    auto third = client();
    EXPECT_EQ(get(third, "/healthz").body, "ok");
    EXPECT_TRUE(closes(slow[0]));
    slow[1].send("Host: test\r\n\r\n");
    EXPECT_EQ(response(slow[1]).body, "ok");
    EXPECT_EQ(server->snapshot().evicted, 1U);
}

TEST_F(status_session, reset_in_the_middle_of_an_answer_ends_quietly) {
    serve();
    auto c = client();
    c.get("/status");
    EXPECT_TRUE(pump([&] { return server->snapshot().requests == 1; }));
    c.reset();
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 0; }));
    auto next = client();
    EXPECT_EQ(get(next, "/healthz").body, "ok");
}

TEST_F(status_session, reset_in_any_state_ends_quietly) {
    serve();
    for (auto& c : one_client_in_each_state()) c.reset();
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 0; }));
}

TEST_F(status_session, ends_with_stop_in_any_state_and_run_returns) {
    serve();
    auto all = one_client_in_each_state();
    server->stop();
    server->stop();
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 0; }));
    context.run();
    EXPECT_TRUE(context.stopped());
    for (const std::size_t i : {0, 1, 2, 4, 5})
        EXPECT_TRUE(closes(all[i])) << i; // 3 has a part of its answer to read
}

TEST_F(status_session, of_fifty_clients_end_with_stop) {
    serve();
    auto all = clients(50);
    for (std::size_t i = 0; i < all.size(); i += 25) all[i].get("/status");
    EXPECT_TRUE(has_accepted(50));
    server->stop();
    context.run();
    EXPECT_EQ(server->snapshot().sessions, 0U);
}

TEST_F(status_session, ends_with_the_destruction_of_the_server) {
    serve();
    auto all = one_client_in_each_state();
    server.reset();
    context.run();
    EXPECT_TRUE(closes(all[0]));
}

TEST_F(status_session, may_end_with_its_context_in_any_state) {
    auto own_context = std::make_unique<asio::io_context>();
    std::optional<status_server> own(std::in_place, *own_context, source,
                                     status_server_config{.address = address});
    std::vector<raw_http_client> all;
    for (int i = 0; i < 5; ++i) all.emplace_back(address, own->port());
    all[1].send("GET /status HTTP/1.1\r\nHo");
    all[2].send("GET /status HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf");
    all[3].get("/status");
    const auto answers = [&](std::uint64_t n) {
        return pump([&] {
            own_context->poll();
            return own->snapshot().accepted == 5 && own->snapshot().requests == n;
        });
    };
    EXPECT_TRUE(answers(1));
    all[4].send("garbage\r\n\r\n"); // last, because lingering has an end
    EXPECT_TRUE(answers(2));
    own.reset(); // before its context, whose stop it does not await
    own_context.reset();
    EXPECT_TRUE(closes(all[0]));
    EXPECT_TRUE(closes(all[1]));
}

TEST_F(status_session, may_be_stopped_from_inside_a_provider) {
    serve();
    large.reset();
    const auto shown = source.add([&](status_snapshot&) { server->stop(); });
    auto c = client();
    c.get("/status");
    context.run();
    EXPECT_EQ(server->snapshot().sessions, 0U);
}

} // namespace
