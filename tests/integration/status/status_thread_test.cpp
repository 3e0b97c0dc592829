#include "named_stream.hpp"
#include "raw_http_client.hpp"

#include <rocio/status/status_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::test;

constexpr const char* address = "127.50.0.2";

/// GETs until `done`; the number of right answers, or -1 after a wrong one.
int ask(std::uint16_t port, const std::atomic<bool>& done) {
    int answers = 0;
    raw_http_client client(address, port);
    while (!done) {
        client.get("/status");
        std::optional<http_response> response;
        while (!response && !client.ended()) {
            client.work();
            response = client.next_response();
            if (!response) std::this_thread::yield();
        }
        if (!response) return answers; // the server stopped
        if (response->status != 200 || !boost::json::parse(response->body).is_object()) return -1;
        ++answers;
    }
    return answers;
}

class status_server_on_threads : public testing::Test {
  protected:
    status_server_on_threads() {
        for (int i = 0; i < 2; ++i) runners_.emplace_back([this] { context.run(); });
    }
    ~status_server_on_threads() override {
        server.stop();
        for (auto& runner : runners_) runner.join();
    }

    asio::io_context context{2};
    status_source source{};
    status_server server{context, source, {.address = address}};

  private:
    std::vector<std::thread> runners_;
};

TEST_F(status_server_on_threads, is_read_while_objects_come_and_go) {
    std::atomic<bool> done = false;
    std::vector<std::thread> askers;
    std::atomic<int> answers = 0;
    for (int i = 0; i < 3; ++i) {
        askers.emplace_back([&] {
            const auto n = ask(server.port(), done);
            EXPECT_GE(n, 0);
            answers += n;
        });
    }
    while (server.snapshot().requests < 300) {
        auto short_lived = std::make_unique<receive_server_snapshot>(named_stream("short-lived"));
        const auto shown = source.add([&](status_snapshot& s) { s.streams.push_back(*short_lived); });
        std::this_thread::yield();
    }
    done = true;
    for (auto& asker : askers) asker.join();
    EXPECT_GE(answers, 297); // what was asked last may be unread
}

TEST_F(status_server_on_threads, is_stopped_from_outside_under_load) {
    const std::atomic<bool> never = false;
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) askers.emplace_back([&] { EXPECT_GE(ask(server.port(), never), 0); });
    while (server.snapshot().requests < 50) std::this_thread::yield();
    server.stop();
    for (auto& asker : askers) asker.join();
}

TEST_F(status_server_on_threads, is_asked_by_new_connections_from_several_threads) {
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
        askers.emplace_back([&] {
            for (int k = 0; k < 30; ++k) {
                raw_http_client client(address, server.port());
                client.get("/healthz");
                std::optional<http_response> response;
                while (!response && !client.ended()) {
                    client.work();
                    response = client.next_response();
                    if (!response) std::this_thread::yield();
                }
                ASSERT_TRUE(response);
                EXPECT_EQ(response->body, "ok");
            }
        });
    }
    for (auto& asker : askers) asker.join();
    EXPECT_EQ(server.snapshot().accepted, 90U);
}

} // namespace
