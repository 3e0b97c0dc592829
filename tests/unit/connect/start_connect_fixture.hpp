#pragma once

#include "connect_script.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace rocio::test {

/// One target, one handshake, one attempt to connect them.
class StartConnect : public ::testing::Test {
  protected:
    StartConnect() {
        script = std::make_shared<handshake_script>(*context, events);
        target = std::make_shared<scripted_target>(*context, events);
    }

    void start() { start(script); }
    void start(std::shared_ptr<handshake_script> how) {
        auto handler = asio::bind_cancellation_slot(signal.slot(), [this](const error_code& ec) {
            events.push_back("handler");
            outcome = {true, ec};
        });
        detail::start_connect(
            target, scripted_handshake(std::move(how)),
            async::control_handler<void(error_code)>(std::move(handler), context->get_executor()));
    }

    /// Runs all that can run without outside help.
    void settle() {
        context->restart();
        context->poll();
    }
    /// Until nothing is left to do: all is undone, nobody waits.
    void expect_idle() {
        context->restart();
        context->run_for(std::chrono::seconds(20));
        EXPECT_TRUE(context->stopped()) << "something still waits";
    }
    void connect() {
        start();
        settle();
        ASSERT_TRUE(outcome.done);
        ASSERT_FALSE(outcome.ec) << outcome.ec.message();
        events.clear();
    }
    /// Only the test itself still holds target and script.
    void expect_no_leftovers() {
        EXPECT_EQ(target.use_count(), 1);
        EXPECT_EQ(script.use_count(), 1);
    }

    event_log events;
    std::optional<asio::io_context> context{std::in_place};
    asio::cancellation_signal signal;
    std::shared_ptr<handshake_script> script;
    std::shared_ptr<scripted_target> target;
    connect_outcome outcome;
};

} // namespace rocio::test
