#include "status_server_fixture.hpp"

#include <string>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::test;

class status_crowd : public status_server_fixture {
  protected:
    status_crowd() { serve(); }

    std::vector<raw_http_client> crowd(std::size_t n, std::string_view begin) {
        std::vector<raw_http_client> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(client());
            all.back().send(begin);
            context.poll();
        }
        return all;
    }

    void expect_a_fresh_client_is_served() {
        auto fresh = client();
        EXPECT_EQ(get(fresh, "/status").status, 200U);
        EXPECT_EQ(server->snapshot().refused, 0U);
        EXPECT_LE(server->snapshot().sessions, status_server_config{}.max_sessions);
    }
};

TEST_F(status_crowd, of_five_hundred_that_ask_nothing_keeps_nobody_out) {
    const auto idle = crowd(500, "");
    expect_a_fresh_client_is_served();
}

TEST_F(status_crowd, of_five_hundred_that_ask_by_half_keeps_nobody_out) {
    const auto half = crowd(500, "GET /status HTTP/1.1\r\nHost: te");
    expect_a_fresh_client_is_served();
}

TEST_F(status_crowd, of_a_hundred_that_ask_in_drops_keeps_nobody_out) {
    auto dribbling = crowd(100, "G");
    for (int round = 0; round < 20; ++round) {
        for (auto& c : dribbling) c.send("x");
        expect_a_fresh_client_is_served();
    }
}

TEST_F(status_crowd, of_all_kinds_keeps_nobody_out) {
    const auto idle = crowd(500, "");
    const auto half = crowd(500, "GET /status HTTP/1.1\r\nHost: te");
    auto dribbling = crowd(100, "GET /status HTTP/1.1\r\nX: ");
    for (int round = 0; round < 20; ++round) {
        for (auto& c : dribbling) c.send("x");
        expect_a_fresh_client_is_served();
    }
}

} // namespace
