#pragma once

#include "rpc_messages.hpp"

#include <rocio/rpc/client.hpp>
#include <rocio/rpc/dispatcher.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::test {

/// Puts bytes of any origin through a dispatcher, as a request, and through a client with calls in flight, as
/// an answer, and finds broken promises. Slots are heap blocks of exactly their length, so that a sanitizer
/// sees every byte read or written beyond them. Shared by the hostile-input tests and the fuzzer.
class rpc_examiner {
  public:
    rpc_examiner() : server_(functions()) {}

    /// The promise that does not hold for these bytes, or nothing.
    std::optional<std::string> broken_promise(std::span<const std::byte> bytes) {
        if (auto broken = broken_dispatch(bytes, 96)) return broken;
        if (auto broken = broken_dispatch(bytes, 30)) return broken;
        if (auto broken = broken_in_place(bytes)) return broken;
        return broken_call(bytes);
    }

  private:
    static rpc::function_table functions() {
        rpc::function_table table;
        table
            .add<std::int64_t(std::int64_t, std::int64_t)>("addThem",
                                                           [](auto a, auto b) {
                                                               return static_cast<std::int64_t>(
                                                                   static_cast<std::uint64_t>(a) +
                                                                   static_cast<std::uint64_t>(b));
                                                           })
            .add<std::vector<float>(std::vector<float>, std::uint8_t)>("floats",
                                                                       [](auto v, auto) { return v; })
            .add<std::bitset<13>(rpc::packed_view<double>, std::bitset<13>)>("bits",
                                                                             [](auto v, auto b) {
                                                                                 double sum = 0;
                                                                                 for (const double x : v)
                                                                                     sum += x;
                                                                                 return sum == 0 ? b : ~b;
                                                                             })
            .add_raw("rpc_increment",
                     [](std::span<const std::byte> in, std::span<std::byte> out) {
                         const auto n = std::min(in.size(), out.size());
                         for (std::size_t i = 0; i < n; ++i) out[i] = in[i] ^ std::byte{1};
                         return rpc::raw_reply{0, n};
                     })
            .add_raw("claims",
                     [](std::span<const std::byte> in, std::span<std::byte>) {
                         return rpc::raw_reply{static_cast<std::int32_t>(in.size()) - 2, in.size() * 1000};
                     })
            .add_slot_handler("slots", [](std::span<const std::byte> in, std::span<std::byte> out) {
                std::copy_n(in.begin(), std::min(in.size(), out.size()), out.begin());
                if (in.size() > 48 && out.size() >= 24) std::copy_n(in.begin() + 24, 24, out.begin());
            });
        return table;
    }

    std::optional<std::string> broken_dispatch(std::span<const std::byte> bytes, std::size_t tx_size) {
        const std::vector<std::byte> rx(bytes.begin(), bytes.end());
        std::vector<std::byte> tx(tx_size, std::byte{0x5A});
        return broken_answer(bytes, server_.dispatch(rx, tx), tx);
    }
    std::optional<std::string> broken_in_place(std::span<const std::byte> bytes) {
        std::vector<std::byte> slot(bytes.begin(), bytes.end());
        return broken_answer(bytes, server_.dispatch(slot, slot), slot);
    }

    static std::optional<std::string> broken_answer(std::span<const std::byte> request_bytes,
                                                    const rpc::outcome& result,
                                                    std::span<const std::byte> tx) {
        const auto request = rpc::request_header::decode(request_bytes);
        if (!request) return result.answered() ? std::optional("answered what is no request") : std::nullopt;
        if (!result.answered()) {
            return tx.size() >= 24 ? std::optional("silent to a request") : std::nullopt;
        }
        if (result.length > tx.size()) return "an answer longer than its slot";
        const auto response = rpc::response_header::decode(tx.first(result.length));
        if (!response) return "an answer without a response header";
        if (response->request_id != request->request_id || response->timestamp != request->timestamp) {
            return "the echo differs";
        }
        if (24 + std::size_t{response->result_len} != result.length) return "result_len is not the answer's";
        if (response->status != result.status) return "the status is not the outcome's";
        if (response->status < 0 && response->result_len != 0) return "a refusal with results";
        if (request->arg_len > request_bytes.size() - 24 && response->status >= 0) {
            return "called with arguments beyond the slot";
        }
        return std::nullopt;
    }

    /// One slot, whose message nobody reads.
    struct deaf_ring {
        std::array<std::byte, 64> bytes{};
        std::uint32_t slot_count() const { return 4; }
        std::span<const std::byte> rx_slot(std::uint32_t) const { return bytes; }
        std::span<std::byte> tx_slot(std::uint32_t) { return bytes; }
        bool tx_free(std::uint32_t) const { return true; }
        error_code publish(std::uint32_t, std::size_t) { return {}; }
        void release(std::uint32_t) {}
    };

    std::optional<std::string> broken_call(std::span<const std::byte> bytes) {
        deaf_ring ring;
        rpc::client<deaf_ring> caller(context_, ring, {.first_id = 1});
        int ended = 0;
        const auto count = [&ended](error_code, auto&&...) { ++ended; };
        caller.async_call<std::int64_t(std::int64_t, std::int64_t)>("addThem", 1, 2, rpc::no_deadline, count);
        caller.async_call<std::vector<float>()>("floats", rpc::no_deadline, count);
        caller.async_call<std::tuple<std::uint8_t, std::bitset<13>>()>("bits", rpc::no_deadline, count);
        caller.async_call<void()>("noop", rpc::no_deadline, count);
        run();
        const std::vector<std::byte> slot(bytes.begin(), bytes.end());
        const auto what = caller.on_response(slot);
        const bool delivered = what == rpc::answer::delivered;
        if (ended != (delivered ? 1 : 0)) return "an answer ended another number of calls than it says";
        if (delivered && caller.on_response(slot) != rpc::answer::duplicate)
            return "an answer was taken twice";
        if (!rpc::response_header::decode(bytes) && what != rpc::answer::not_answer) {
            return "took what is no answer for one";
        }
        caller.cancel();
        run();
        return ended == 4 ? std::nullopt : std::optional<std::string>("a call was lost");
    }
    void run() {
        context_.restart();
        context_.poll();
    }

    boost::asio::io_context context_;
    rpc::dispatcher server_;
};

} // namespace rocio::test
