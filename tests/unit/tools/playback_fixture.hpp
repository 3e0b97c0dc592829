#pragma once

#include "cudaq/playback.hpp"
#include "scripted_board.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

class playback_test : public ::testing::Test {
  protected:
    static constexpr std::chrono::seconds patience{60};

    boost::asio::io_context context;
    test::scripted_board board{context, "127.42.2.2"};
    std::vector<std::string> lines{};

    playback_config config(std::uint32_t messages = 10) {
        playback_config c;
        c.control = board.endpoint();
        c.emulator = true;
        c.queue_pair = 0x15;
        c.remote_key = 0x1234;
        c.messages = messages;
        c.poll_interval = std::chrono::milliseconds(1);
        c.tell = [this](const std::string& line) { lines.push_back(line); };
        return c;
    }

    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    void begin(playback& p) {
        boost::asio::co_spawn(context, p.run(), [this](std::exception_ptr e, playback_report r) {
            failure = std::move(e);
            report = std::move(r);
        });
    }
    playback_report play(const playback_config& c) {
        playback p(context.get_executor(), c);
        begin(p);
        run_until([this] { return report || failure; });
        if (failure) std::rethrow_exception(std::exchange(failure, {}));
        return *std::exchange(report, {});
    }
    std::uint32_t registered(std::uint32_t address) const { return board.board().registers().read(address); }

    std::optional<playback_report> report{};
    std::exception_ptr failure{};
};

} // namespace rocio::tools
