#include "event_stream_reader.hpp"
#include "status_server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

class status_events_of_a_server : public status_server_fixture {
  protected:
    struct subscriber {
        raw_http_client connection;
        event_stream_reader reader{};
    };

    std::uint64_t frames = 0;
    std::vector<device_snapshot::event> happened{};
    std::uint64_t happened_so_far = 0;
    int calls = 0;
    status_registration shown = source.add([this](status_snapshot& s) {
        ++calls;
        s.streams.push_back(named_stream("camera"));
        s.streams.back().rx_frame_count = frames;
        auto& device = s.devices.emplace_back();
        device.name = "soft:127.0.0.2";
        device.events = happened;
        device.events_so_far = happened_so_far;
    });

    void happen(std::string text) {
        happened.push_back({std::chrono::system_clock::now(), std::move(text)});
        ++happened_so_far;
    }
    subscriber subscribe(const std::string& version = "1.1") {
        subscriber one{client()};
        one.connection.send("GET /events HTTP/" + version + "\r\nHost: test\r\n\r\n");
        return one;
    }
    /// The next event; empty if there is none before the connection ends.
    event_stream_reader::event next(subscriber& of) {
        std::optional<event_stream_reader::event> found;
        EXPECT_TRUE(pump([&] {
            of.connection.work();
            of.reader.feed(of.connection.take_unread());
            found = of.reader.next();
            return found || of.connection.ended();
        }));
        return found.value_or(event_stream_reader::event{});
    }
    event_stream_reader::event next(subscriber& of, std::string_view kind) {
        for (;;) {
            auto found = next(of);
            if (found.kind == kind || (found.kind.empty() && found.data.empty())) return found;
        }
    }
    bool ends(subscriber& one) {
        return pump([&] {
            one.connection.work();
            one.reader.feed(one.connection.take_unread());
            return one.connection.ended();
        });
    }
};

TEST_F(status_events_of_a_server, begin_with_the_whole_and_go_on_with_what_changed) {
    serve({.routes = {.snapshot_age = 0ms, .event_interval = 20ms}});
    frames = 1;
    auto one = subscribe();
    const auto first = next(one);
    EXPECT_THAT(one.reader.head(), testing::AllOf(testing::StartsWith("HTTP/1.1 200 OK\r\n"),
                                                  HasSubstr("Content-Type: text/event-stream\r\n"),
                                                  HasSubstr("Cache-Control: no-store\r\n")));
    EXPECT_TRUE(one.reader.is_chunked());
    EXPECT_EQ(first.kind, "status");
    EXPECT_EQ(first.json().at("streams").at(0).at("rx_frame_count"), 1);
    EXPECT_TRUE(first.json().as_object().contains("devices"));

    const auto second = next(one);
    EXPECT_EQ(second.kind, "status");
    EXPECT_TRUE(second.json().at("process").as_object().contains("uptime_seconds"));
    EXPECT_FALSE(second.json().at("process").as_object().contains("pid"));
    EXPECT_FALSE(second.json().as_object().contains("devices"));
    frames = 2;
    for (int i = 0;; ++i) {
        ASSERT_LT(i, 100);
        const auto later = next(one).json();
        if (!later.as_object().contains("streams")) continue;
        EXPECT_EQ(later.at("streams").at(0).at("rx_frame_count"), 2);
        break;
    }
}

TEST_F(status_events_of_a_server, tell_of_a_devices_event_as_soon_as_the_source_is_notified) {
    serve({.routes = {.event_interval = 1h}});
    happen("before");
    auto one = subscribe();
    EXPECT_EQ(next(one).kind, "status");
    happen("port 1: down");
    happen("port 1: active");
    source.notify();
    const auto down = next(one);
    EXPECT_EQ(down.kind, "device");
    EXPECT_EQ(down.json().at("device"), "soft:127.0.0.2");
    EXPECT_EQ(down.json().at("text"), "port 1: down");
    EXPECT_TRUE(down.json().at("time").is_string());
    EXPECT_EQ(next(one).json().at("text"), "port 1: active");
    happen("queue pair 17: access error");
    source.notify();
    EXPECT_EQ(next(one).json().at("text"), "queue pair 17: access error");
}

TEST_F(status_events_of_a_server, tell_of_a_devices_event_with_the_next_status_if_nobody_notifies) {
    serve({.routes = {.event_interval = 20ms}});
    auto one = subscribe();
    next(one);
    happen("port 1: down");
    EXPECT_EQ(next(one, "device").json().at("text"), "port 1: down");
}

TEST_F(status_events_of_a_server, tell_only_of_the_events_that_are_still_kept) {
    serve({.routes = {.event_interval = 1h}});
    auto one = subscribe();
    next(one);
    happen("kept");
    happened_so_far = 1000;
    source.notify();
    EXPECT_EQ(next(one).json().at("text"), "kept");
    happen("next");
    source.notify();
    EXPECT_EQ(next(one).json().at("text"), "next");
}

TEST_F(status_events_of_a_server, make_no_more_snapshots_for_many_notifications_than_for_a_few) {
    serve({.routes = {.snapshot_age = 200ms, .event_interval = 1h}});
    auto one = subscribe();
    next(one);
    const auto before = calls;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::steady_clock::now() - begin; };
    EXPECT_TRUE(pump([&] {
        source.notify();
        return elapsed() > 600ms;
    }));
    // One per age, and those of the rates.
    EXPECT_LE(calls - before, elapsed() / 200ms + elapsed() / 500ms + 2);
}

TEST_F(status_events_of_a_server, beat_while_there_is_nothing_to_tell) {
    serve({.routes = {.event_interval = 1h, .heartbeat = 20ms}});
    auto one = subscribe();
    next(one);
    for (int i = 0; i < 3; ++i) {
        const auto beat = next(one);
        EXPECT_EQ(beat.kind, "");
        EXPECT_EQ(beat.data, ":");
    }
}

TEST_F(status_events_of_a_server, go_on_when_a_provider_throws) {
    serve({.routes = {.snapshot_age = 0ms, .event_interval = 20ms}});
    auto failing = source.add([](status_snapshot&) { throw std::runtime_error("device\nwent away"); });
    auto one = subscribe();
    EXPECT_EQ(next(one).data, ": device went away");
    failing.reset();
    EXPECT_TRUE(next(one, "status").json().as_object().contains("devices")) << "not the whole";
}

TEST_F(status_events_of_a_server, are_for_no_more_subscribers_than_allowed) {
    serve({.routes = {.max_subscribers = 2, .event_interval = 5ms}});
    std::vector<subscriber> all;
    for (int i = 0; i < 2; ++i) {
        all.push_back(subscribe());
        EXPECT_EQ(next(all.back()).kind, "status");
    }
    EXPECT_EQ(server->snapshot().subscribers, 2U);
    auto third = client();
    const auto refused = get(third, "/events");
    EXPECT_EQ(refused.status, 503U);
    EXPECT_TRUE(refused.has("retry-after"));
    EXPECT_EQ(json_of(refused).at("status"), 503);
    EXPECT_EQ(get(third, "/healthz").body, "ok");
    all.pop_back();
    EXPECT_TRUE(pump([&] { return server->snapshot().subscribers == 1; }));
    auto next_one = subscribe();
    EXPECT_EQ(next(next_one).kind, "status");
}

TEST_F(status_events_of_a_server, are_cut_off_from_a_reader_that_does_not_read) {
    std::uint64_t n = 0;
    const auto large = source.add([&](status_snapshot& s) {
        status_of_size((8 << 20) + ++n)(s); // another each time
    });
    serve({.write_timeout = 200ms, .routes = {.event_interval = 5ms}});
    raw_http_client slow(1024);
    slow.connect(address, server->port());
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 1; }));
    slow.get("/events");
    EXPECT_TRUE(pump([&] { return server->snapshot().timeouts == 1 && server->snapshot().sessions == 0; }));
    EXPECT_EQ(server->snapshot().subscribers, 0U);
}

TEST_F(status_events_of_a_server, end_as_a_whole_body_when_the_server_stops) {
    serve({.routes = {.event_interval = 1h}});
    auto one = subscribe();
    next(one);
    context.poll(); // the server hears that it is written
    server->stop();
    EXPECT_TRUE(ends(one));
    EXPECT_TRUE(one.reader.ended());
    context.run();
    EXPECT_TRUE(context.stopped());
    EXPECT_EQ(server->snapshot().subscribers, 0U);
}

TEST_F(status_events_of_a_server, in_http_1_0_end_with_the_connection) {
    serve({.routes = {.event_interval = 20ms}});
    auto one = subscribe("1.0");
    EXPECT_EQ(next(one).kind, "status");
    EXPECT_FALSE(one.reader.is_chunked());
    EXPECT_EQ(next(one).kind, "status");
    server->stop();
    EXPECT_TRUE(ends(one));
}

TEST_F(status_events_of_a_server, have_a_head_without_a_body) {
    serve();
    auto c = client();
    c.send("HEAD /events HTTP/1.1\r\nHost: test\r\n\r\n");
    const auto r = response(c, true);
    EXPECT_EQ(r.status, 200U);
    EXPECT_EQ(r.header("content-type"), "text/event-stream");
    EXPECT_EQ(get(c, "/healthz").body, "ok");
    EXPECT_EQ(server->snapshot().subscribers, 0U);
}

TEST_F(status_events_of_a_server, may_end_with_their_context) {
    auto own_context = std::make_unique<asio::io_context>();
    status_server_config config{.address = address};
    std::optional<status_server> own(std::in_place, *own_context, source, config);
    raw_http_client c(address, own->port());
    c.get("/events");
    EXPECT_TRUE(pump([&] {
        own_context->poll();
        c.work();
        return c.unread() > 0;
    }));
    own.reset(); // before its context, whose stop it does not await
    own_context.reset();
    source.notify();
    EXPECT_TRUE(pump([&] {
        c.work();
        return c.ended();
    }));
}

TEST_F(status_events_of_a_server, are_not_evicted_for_another_client) {
    serve({.max_sessions = 2, .routes = {.event_interval = 20ms}});
    auto one = subscribe();
    next(one);
    for (int i = 0; i < 5; ++i) {
        auto c = client();
        EXPECT_EQ(get(c, "/healthz").body, "ok");
    }
    EXPECT_EQ(next(one).kind, "status");
}

} // namespace
