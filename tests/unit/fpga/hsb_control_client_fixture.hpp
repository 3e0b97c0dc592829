#pragma once

#include "hsb_control_script.hpp"

#include <rocio/fpga/hsb_control_client.hpp>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace rocio::fpga {

class hsb_control_client_test : public ::testing::Test {
  protected:
    using seen_request = test::hsb_control_script::seen_request;
    using script = test::hsb_control_script;
    static constexpr std::chrono::seconds patience{20};

    boost::asio::io_context context;
    std::optional<script> board{std::in_place, context, "127.42.1.1"};

    /// For tests in which tries go unanswered.
    static hsb_control_config quick(unsigned tries) {
        hsb_control_config c;
        c.answer_deadline = std::chrono::milliseconds(60);
        c.tries = tries;
        return c;
    }
    /// Long enough that a slow machine causes no retry.
    static hsb_control_config patient() {
        hsb_control_config c;
        c.answer_deadline = std::chrono::seconds(20);
        c.tries = 1;
        return c;
    }

    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }

    struct read_result {
        error_code ec;
        std::uint32_t value = 0;
    };
    read_result read(hsb_control_client& client, std::uint32_t address) {
        std::optional<read_result> result;
        client.async_read(address, [&](const error_code& ec, std::uint32_t value) {
            result = read_result{ec, value};
        });
        run_until([&] { return result.has_value(); });
        return result.value_or(read_result{});
    }
    error_code write(hsb_control_client& client, std::uint32_t address, std::uint32_t value) {
        return wait([&](auto handler) { client.async_write(address, value, handler); });
    }
    template <class Begin>
    error_code wait(Begin begin) {
        std::optional<error_code> result;
        begin([&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
};

} // namespace rocio::fpga
