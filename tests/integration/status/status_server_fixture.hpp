#pragma once

#include "named_stream.hpp"
#include "raw_http_client.hpp"

#include <rocio/status/status_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace rocio::test {

/// Serves and asks in one thread: pump() runs the context until something holds.
class status_server_fixture : public testing::Test {
  protected:
    static constexpr const char* address = "127.50.0.1";

    asio::io_context context{1};
    status_source source{};
    std::optional<status_server> server{};

    status_server& serve(status_server_config config = {}) {
        config.address = address;
        config.routes.hosts.emplace_back("test");
        return server.emplace(context, source, std::move(config));
    }

    raw_http_client client() { return {address, server->port()}; }

    /// Runs the context until `holds()`; a failure after a time that no working server needs.
    template <class Condition>
    [[nodiscard]] bool pump(Condition holds) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > give_up) return false;
            if (context.stopped()) context.restart();
            context.run_one_for(std::chrono::milliseconds(5));
        }
        return true;
    }

    /// The next response on `from`, status 0 if there is none.
    http_response response(raw_http_client& from, bool to_head = false) {
        std::optional<http_response> result;
        const bool came = pump([&] {
            from.work();
            result = from.next_response(to_head);
            return result.has_value() || from.ended();
        });
        EXPECT_TRUE(came && result) << "no response";
        return result.value_or(http_response{});
    }

    http_response get(raw_http_client& from, std::string_view target) {
        from.get(target);
        return response(from);
    }

    /// True once the server has closed `from`, having sent nothing that is not read yet.
    bool closes(raw_http_client& from) {
        return pump([&] {
                   from.work();
                   return from.ended();
               }) &&
               from.unread() == 0;
    }

    /// What one request given as bytes on a connection of its own gets.
    http_response answer_to(std::string_view request) {
        auto one = client();
        one.send(request);
        return response(one);
    }
};

/// A status whose JSON has at least so many bytes, in a text that nothing else is made of.
inline status_source::provider status_of_size(std::size_t bytes) {
    return [bytes](status_snapshot& s) {
        s.streams.push_back(named_stream("large"));
        s.streams.back().host_gid = std::string(bytes, 'x');
    };
}

inline boost::json::value json_of(const http_response& response) {
    EXPECT_EQ(response.header("content-type"), "application/json");
    return boost::json::parse(response.body);
}

} // namespace rocio::test
