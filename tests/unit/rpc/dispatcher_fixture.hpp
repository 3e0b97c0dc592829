#pragma once

#include "rpc_messages.hpp"

#include <rocio/rpc/dispatcher.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace rocio::rpc {

/// Two slots, and a dispatcher over the functions that a test adds before its first request.
class dispatcher_fixture : public ::testing::Test {
  protected:
    static constexpr std::size_t slot_size = 128;

    function_table table;
    dispatcher_config config;
    test::byte_vector rx = test::byte_vector(slot_size, std::byte{0xEE});
    test::byte_vector tx = test::byte_vector(slot_size, std::byte{0xAB});

    dispatcher& server() {
        if (!server_) server_.emplace(std::move(table), config);
        return *server_;
    }

    /// Dispatches a request that lies in the receive slot.
    outcome dispatch(const test::byte_vector& request) {
        std::ranges::copy(request, rx.begin());
        return server().dispatch(rx, tx);
    }

    /// A response header with this status and no results is the whole answer.
    void expect_refusal(const outcome& result, verdict what, status s) {
        EXPECT_EQ(result.what, what);
        EXPECT_EQ(result.status, static_cast<std::int32_t>(s));
        ASSERT_EQ(result.length, response_header::size);
        const auto response = test::response_of(tx);
        EXPECT_EQ(response.status, static_cast<std::int32_t>(s));
        EXPECT_EQ(response.result_len, 0U);
    }

    void expect_silence(const outcome& result, verdict what) {
        EXPECT_EQ(result.what, what);
        EXPECT_FALSE(result.answered());
    }

    function_snapshot counts(std::string_view name) {
        for (auto& f : server().snapshot().functions) {
            if (f.name == name) return f;
        }
        ADD_FAILURE() << "no function " << name;
        return {};
    }

  private:
    std::optional<dispatcher> server_;
};

} // namespace rocio::rpc
