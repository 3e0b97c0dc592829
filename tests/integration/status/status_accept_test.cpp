#include "status_server_fixture.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;

/// While it lives this process can open no further descriptor.
class no_more_descriptors {
  public:
    no_more_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest_free = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
        ::close(lowest_free);
        auto now = before_;
        now.rlim_cur = static_cast<rlim_t>(lowest_free);
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~no_more_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    no_more_descriptors(const no_more_descriptors&) = delete;
    no_more_descriptors& operator=(const no_more_descriptors&) = delete;

  private:
    rlimit before_{};
};

struct recording_sink final : log_sink {
    void write(log_level, std::string_view room, std::string_view text) noexcept override {
        lines.push_back(std::string(room) + ": " + std::string(text));
    }
    std::vector<std::string> lines{};
};

class status_accept : public status_server_fixture {
  protected:
    std::shared_ptr<recording_sink> log = std::make_shared<recording_sink>();

    status_accept() {
        serve({.log = log});
        // The first timer and socket make descriptors of their own.
        auto c = client();
        EXPECT_EQ(get(c, "/healthz").body, "ok");
        c.finish_sending();
        EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 0; }));
    }
};

TEST_F(status_accept, without_descriptors_tries_on_slower_and_slower_and_serves_when_there_are_some) {
    std::vector<raw_http_client> waiting(10);
    {
        const no_more_descriptors limit;
        const auto begin = std::chrono::steady_clock::now();
        for (auto& c : waiting) c.connect(address, server->port());
        EXPECT_TRUE(pump([&] { return server->snapshot().accept_failures >= 4; }));
        // Three pauses lie between four failures.
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms + 100ms + 200ms);
        EXPECT_LE(server->snapshot().accept_failures, 5U);
    }
    for (auto& c : waiting) EXPECT_EQ(get(c, "/healthz").body, "ok");
    EXPECT_EQ(log->lines.size(), 1U) << "once is enough";
    EXPECT_THAT(log->lines.at(0), testing::AllOf(testing::StartsWith("status: "), testing::HasSubstr(address),
                                                 testing::HasSubstr("Too many open files")));
}

TEST_F(status_accept, without_descriptors_gives_up_an_idle_session_for_the_next_client) {
    auto idle = client();
    EXPECT_EQ(get(idle, "/healthz").body, "ok");
    raw_http_client next;
    const no_more_descriptors limit;
    next.connect(address, server->port());
    EXPECT_EQ(get(next, "/healthz").body, "ok");
    EXPECT_TRUE(closes(idle));
    EXPECT_EQ(server->snapshot().evicted, 1U);
}

TEST_F(status_accept, of_a_client_that_is_gone_already_goes_on_to_the_next) {
    for (int i = 0; i < 20; ++i) client().reset();
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

TEST_F(status_accept, stops_also_while_it_pauses) {
    raw_http_client waiting;
    const no_more_descriptors limit;
    waiting.connect(address, server->port());
    EXPECT_TRUE(pump([&] { return server->snapshot().accept_failures >= 1; }));
    server->stop();
    context.run();
    EXPECT_TRUE(context.stopped());
}

} // namespace
