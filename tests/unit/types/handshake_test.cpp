#include <rocio/types/handshake.hpp>
#include <rocio/types/log_sink.hpp>

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace rocio;

/// The smallest handshake: every step succeeds at once.
struct instant_handshake {
    template <class Handler>
    void async_exchange(const local_parameters& local, Handler handler) {
        peer_parameters peer;
        peer.queue_pair = local.queue_pair;
        std::move(handler)(error_code{}, peer);
    }
    template <class Handler>
    void async_ready(Handler handler) {
        std::move(handler)(error_code{});
    }
    template <class Handler>
    void async_wait_lost(Handler handler) {
        std::move(handler)(make_error_code(errc::peer_closed));
    }
    template <class Handler>
    void async_release(Handler handler) {
        std::move(handler)(error_code{});
    }
    error_info last_error() const { return {}; }
};

struct without_release : instant_handshake {
    template <class Handler>
    void async_release(Handler handler) = delete;
};

struct with_a_number_as_error : instant_handshake {
    int last_error() const { return 0; }
};

struct with_another_exchange_signature : instant_handshake {
    void async_exchange(const local_parameters&, void (*)(int)) {}
};

TEST(handshake, a_type_with_the_four_operations_is_one) {
    static_assert(handshake<instant_handshake>);
}

TEST(handshake, a_type_that_lacks_a_part_is_none) {
    static_assert(!handshake<int>);
    static_assert(!handshake<without_release>);
    static_assert(!handshake<with_a_number_as_error>);
    static_assert(!handshake<with_another_exchange_signature>);
}

TEST(handshake, its_operations_take_ordinary_callbacks) {
    instant_handshake h;
    local_parameters local;
    local.queue_pair = qpn{0x22};
    std::vector<std::string> steps;
    h.async_exchange(local, [&](error_code ec, peer_parameters peer) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(peer.queue_pair, qpn{0x22});
        steps.emplace_back("exchanged");
    });
    h.async_ready([&](error_code) { steps.emplace_back("ready"); });
    h.async_wait_lost([&](error_code ec) {
        EXPECT_EQ(ec, condition::connection_failed);
        steps.emplace_back("lost");
    });
    h.async_release([&](error_code) { steps.emplace_back("released"); });
    EXPECT_THAT(steps, testing::ElementsAre("exchanged", "ready", "lost", "released"));
}

struct collecting_sink : log_sink {
    void write(log_level level, std::string_view room, std::string_view text) noexcept override {
        lines.emplace_back(level, std::string(room) + ": " + std::string(text));
    }
    std::vector<std::pair<log_level, std::string>> lines;
};

TEST(log_sink, gets_level_room_and_text) {
    collecting_sink sink;
    log_sink& seen_by_rooms = sink;
    seen_by_rooms.write(log_level::warning, "soft", "port in use");
    EXPECT_THAT(sink.lines,
                testing::ElementsAre(std::pair{log_level::warning, std::string("soft: port in use")}));
}

} // namespace
