#include "dispatcher_fixture.hpp"
#include "hex.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace rocio::rpc {
namespace {

using test::packed;
using test::request_bytes;
using test::response_of;
using test::to_hex;
using test::value_behind_header;
using ::testing::Each;

using add_signature = std::int64_t(std::int64_t, std::int64_t);

class dispatcher_test : public dispatcher_fixture {
  protected:
    void add_them() {
        table.add<add_signature>("addThem", [this](std::int64_t a, std::int64_t b) {
            ++calls;
            return a + b;
        });
    }
    void add_increment() {
        table.add_raw("rpc_increment", [this](std::span<const std::byte> in, std::span<std::byte> out) {
            ++calls;
            const auto n = std::min(in.size(), out.size());
            for (std::size_t i = 0; i < n; ++i) out[i] = std::byte(std::to_integer<unsigned>(in[i]) + 1);
            return raw_reply{0, n};
        });
    }

    test::byte_vector two_and_three = packed(std::int64_t{2}, std::int64_t{3});
    int calls = 0;
};

TEST_F(dispatcher_test, answers_the_bytes_of_the_original) {
    add_them();
    rx = test::from_hex(
        "52515543 1e906c5a 10000000 2a000000 8877665544332211 0200000000000000 0300000000000000");
    const auto result = server().dispatch(rx, tx);
    EXPECT_EQ(result.what, verdict::called);
    EXPECT_EQ(to_hex(std::span(tx).first(result.length)),
              "5351554300000000080000002a00000088776655443322110500000000000000");
}

TEST_F(dispatcher_test, calls_a_typed_function) {
    add_them();
    const auto result = dispatch(request_bytes("addThem", two_and_three));
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.length, 32U);
    EXPECT_EQ(response_of(tx).result_len, 8U);
    EXPECT_EQ(value_behind_header<std::int64_t>(tx), 5);
}

TEST_F(dispatcher_test, echoes_request_id_and_timestamp) {
    add_them();
    for (const std::uint32_t id : {0U, 1U, 0xFFFFFFFFU}) {
        dispatch(request_bytes("addThem", two_and_three, id, 0xF000000000000000U + id));
        EXPECT_EQ(response_of(tx).request_id, id);
        EXPECT_EQ(response_of(tx).timestamp, 0xF000000000000000U + id);
    }
}

TEST_F(dispatcher_test, answers_without_results) {
    table.add<void()>("noop", [this] { ++calls; });
    const auto result = dispatch(request_bytes("noop", {}));
    EXPECT_EQ(result.length, 24U);
    EXPECT_EQ(response_of(tx).status, 0);
    EXPECT_EQ(calls, 1);
}

TEST_F(dispatcher_test, answers_with_several_results) {
    table.add<std::tuple<std::int32_t, double>(std::int32_t)>(
        "half", [](std::int32_t x) { return std::tuple(x / 2, x / 2.0); });
    dispatch(request_bytes("half", packed(std::int32_t{7})));
    EXPECT_EQ(response_of(tx).result_len, 12U);
    EXPECT_EQ(value_behind_header<std::int32_t>(tx), 3);
    EXPECT_EQ(value_behind_header<double>(tx, 4), 3.5);
}

TEST_F(dispatcher_test, hands_arrays_and_bits_over) {
    table.add<std::bitset<10>(std::array<std::uint8_t, 2>, std::bitset<10>)>(
        "mock_decode", [](std::array<std::uint8_t, 2> syndrome, std::bitset<10> mask) {
            return std::bitset<10>(syndrome[0] | syndrome[1] << 8U) & mask;
        });
    dispatch(request_bytes("mock_decode",
                           packed(std::array<std::uint8_t, 2>{0xF0, 0x03}, std::bitset<10>(0b1100110000))));
    EXPECT_EQ(value_behind_header<std::bitset<10>>(tx), std::bitset<10>(0b1100110000));
}

TEST_F(dispatcher_test, hands_the_bytes_over_where_they_lie) {
    const void* seen = nullptr;
    table.add<void(std::span<const std::uint8_t>)>("look", [&](auto bytes) { seen = bytes.data(); });
    dispatch(request_bytes("look", packed(std::uint8_t{1})));
    EXPECT_EQ(seen, rx.data() + 24);
}

TEST_F(dispatcher_test, answers_as_many_elements_as_the_function_gives) {
    table.add<std::vector<std::int32_t>(std::int32_t)>(
        "count", [](std::int32_t n) { return std::vector<std::int32_t>(static_cast<std::size_t>(n), n); });
    for (const std::int32_t n : {0, 1, 26}) {
        dispatch(request_bytes("count", packed(n)));
        EXPECT_EQ(response_of(tx).result_len, 4U * static_cast<unsigned>(n));
    }
    expect_refusal(dispatch(request_bytes("count", packed(std::int32_t{27}))), verdict::result_too_large,
                   status::result_too_large);
}

TEST_F(dispatcher_test, calls_a_raw_handler_with_the_arguments_and_the_room_for_results) {
    table.add_raw("sizes",
                  [&](const request_header& header, std::span<const std::byte> in, std::span<std::byte> out) {
                      EXPECT_EQ(header.request_id, 99U);
                      EXPECT_EQ(in.size(), 3U);
                      EXPECT_EQ(out.size(), slot_size - 24);
                      return raw_reply{5, 0};
                  });
    const auto result = dispatch(request_bytes("sizes", test::from_hex("010203"), 99));
    EXPECT_EQ(result.what, verdict::called);
    EXPECT_EQ(response_of(tx).status, 5);
}

TEST_F(dispatcher_test, increments_as_the_originals_test_function) {
    add_increment();
    const auto result = dispatch(request_bytes("rpc_increment", test::from_hex("00fe7fff")));
    EXPECT_EQ(to_hex(std::span(tx).first(result.length).subspan(24)), "01ff8000");
}

// Silence.

TEST_F(dispatcher_test, is_silent_to_every_other_magic) {
    add_them();
    const auto good = request_bytes("addThem", two_and_three);
    for (unsigned bit = 0; bit < 32; ++bit) {
        auto damaged = good;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        expect_silence(dispatch(damaged), verdict::bad_magic);
    }
    EXPECT_THAT(tx, Each(std::byte{0xAB})) << "a silent request wrote into the send slot";
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(server().snapshot().bad_magic, 32U);
}

TEST_F(dispatcher_test, is_silent_to_a_slot_without_room_for_a_header) {
    add_them();
    const auto request = request_bytes("addThem", two_and_three);
    for (std::size_t n = 0; n < 24; ++n) {
        expect_silence(server().dispatch(std::span(request).first(n), tx), verdict::short_slot);
        expect_silence(server().dispatch(request, std::span(tx).first(n)), verdict::short_slot);
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(server().snapshot().short_slots, 48U);
}

TEST_F(dispatcher_test, does_not_call_a_response) {
    add_them();
    expect_silence(dispatch(test::response_bytes({}, two_and_three)), verdict::bad_magic);
}

// Refusals.

TEST_F(dispatcher_test, answers_an_unknown_function_with_a_negative_status) {
    add_them();
    expect_refusal(dispatch(request_bytes("no_such_function", two_and_three, 3, 4)),
                   verdict::unknown_function, status::unknown_function);
    EXPECT_EQ(response_of(tx).request_id, 3U);
    EXPECT_EQ(response_of(tx).timestamp, 4U);
    EXPECT_EQ(server().snapshot().unknown_function, 1U);
}

TEST_F(dispatcher_test, knows_no_function_when_its_table_is_empty) {
    expect_refusal(dispatch(request_bytes("addThem", two_and_three)), verdict::unknown_function,
                   status::unknown_function);
}

TEST_F(dispatcher_test, refuses_every_argument_length_but_the_schemas) {
    add_them();
    for (std::size_t n = 0; n <= slot_size - 24; ++n) {
        const auto result = dispatch(request_bytes("addThem", test::byte_vector(n)));
        if (n == 16) {
            EXPECT_EQ(result.what, verdict::called);
        } else {
            expect_refusal(result, verdict::bad_argument_length, status::bad_argument_length);
        }
    }
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(counts("addThem").bad_length, slot_size - 24);
}

TEST_F(dispatcher_test, refuses_arguments_longer_than_the_slot) {
    add_increment();
    for (const std::uint32_t length : {105U, 128U, 0x7FFFFFFFU, 0xFFFFFFE8U, 0xFFFFFFFFU}) {
        request_header header{.function = fnv1a("rpc_increment"), .arg_len = length};
        ASSERT_TRUE(header.encode(rx));
        expect_refusal(server().dispatch(rx, tx), verdict::bad_argument_length, status::bad_argument_length);
    }
    EXPECT_EQ(calls, 0);
}

TEST_F(dispatcher_test, takes_arguments_that_fill_the_slot) {
    add_increment();
    const auto result = dispatch(request_bytes("rpc_increment", test::byte_vector(104)));
    EXPECT_EQ(result.length, 128U);
}

TEST_F(dispatcher_test, refuses_half_an_element) {
    table.add<void(std::int32_t, packed_view<double>)>("view", [this](auto, auto) { ++calls; });
    for (std::size_t n = 0; n <= 40; ++n) {
        const bool whole = n >= 4 && (n - 4) % 8 == 0;
        const auto result = dispatch(request_bytes("view", test::byte_vector(n)));
        EXPECT_EQ(result.what, whole ? verdict::called : verdict::bad_argument_length) << n;
    }
    EXPECT_EQ(calls, 5);
}

TEST_F(dispatcher_test, refuses_before_the_call_when_a_fixed_result_does_not_fit) {
    add_them();
    const auto request = request_bytes("addThem", two_and_three);
    for (std::size_t n = 24; n < 32; ++n) {
        const auto result = server().dispatch(request, std::span(tx).first(n));
        expect_refusal(result, verdict::result_too_large, status::result_too_large);
    }
    EXPECT_EQ(calls, 0) << "a function ran although its answer could not leave";
    EXPECT_EQ(server().dispatch(request, std::span(tx).first(32)).length, 32U);
    EXPECT_EQ(counts("addThem").too_large, 8U);
}

TEST_F(dispatcher_test, refuses_a_raw_result_longer_than_the_slot) {
    table.add_raw("long",
                  [](auto, std::span<std::byte> out) {
                      return raw_reply{0, out.size() + 1};
                  })
        .add_raw("huge", [](auto, std::span<std::byte>) {
            return raw_reply{0, ~std::size_t{0}};
        });
    expect_refusal(dispatch(request_bytes("long", {})), verdict::result_too_large, status::result_too_large);
    expect_refusal(dispatch(request_bytes("huge", {})), verdict::result_too_large, status::result_too_large);
}

TEST_F(dispatcher_test, holds_a_raw_handler_to_its_schema) {
    const auto schema = schema_of<std::int32_t(std::int64_t)>();
    std::size_t claimed = 4;
    std::int32_t own_status = 0;
    table.add_raw(
        "raw",
        [&](auto, std::span<std::byte>) {
            return raw_reply{own_status, claimed};
        },
        schema);
    const auto good = request_bytes("raw", test::byte_vector(8));

    EXPECT_EQ(dispatch(good).what, verdict::called);
    for (const std::size_t wrong : {0, 3, 5, 8}) {
        claimed = wrong;
        expect_refusal(dispatch(good), verdict::handler_failed, status::handler_failed);
    }
    own_status = 3;
    claimed = 0;
    EXPECT_EQ(dispatch(good).what, verdict::called) << "a status of its own needs no result";
    claimed = 2;
    expect_refusal(dispatch(good), verdict::handler_failed, status::handler_failed);
    expect_refusal(dispatch(request_bytes("raw", test::byte_vector(7))), verdict::bad_argument_length,
                   status::bad_argument_length);
    expect_refusal(server().dispatch(good, std::span(tx).first(27)), verdict::result_too_large,
                   status::result_too_large);
}

TEST_F(dispatcher_test, lets_no_handler_speak_for_the_protocol) {
    table.add_raw("negative", [](auto, std::span<std::byte>) { return raw_reply{-1, 8}; });
    expect_refusal(dispatch(request_bytes("negative", {})), verdict::handler_failed, status::handler_failed);
    EXPECT_EQ(counts("negative").exceptions, 1U);
}

// Handlers that throw.

TEST_F(dispatcher_test, answers_an_exception_with_a_negative_status) {
    table.add<void()>("throws", [] { throw std::runtime_error("no"); }).add<void()>("throws an int", [] {
        throw 1;
    });
    expect_refusal(dispatch(request_bytes("throws", {})), verdict::handler_failed, status::handler_failed);
    expect_refusal(dispatch(request_bytes("throws an int", {})), verdict::handler_failed,
                   status::handler_failed);
    EXPECT_EQ(counts("throws").exceptions, 1U);
    EXPECT_EQ(counts("throws").calls, 1U);
    EXPECT_EQ(counts("throws").succeeded, 0U);
}

TEST_F(dispatcher_test, answers_a_status_that_was_thrown) {
    std::int32_t thrown = 9;
    table.add<std::int32_t()>("throws", [&]() -> std::int32_t { throw status_error(thrown); });
    const auto result = dispatch(request_bytes("throws", {}));
    EXPECT_EQ(result.what, verdict::called);
    EXPECT_EQ(result.length, 24U);
    EXPECT_EQ(response_of(tx).status, 9);
    EXPECT_EQ(counts("throws").failed, 1U);
    for (const std::int32_t refused : {0, -1, -77}) {
        thrown = refused;
        expect_refusal(dispatch(request_bytes("throws", {})), verdict::handler_failed,
                       status::handler_failed);
    }
}

TEST_F(dispatcher_test, answers_the_next_request_after_an_exception) {
    add_them();
    table.add<void()>("throws", [] { throw std::runtime_error("no"); });
    dispatch(request_bytes("throws", {}));
    EXPECT_EQ(dispatch(request_bytes("addThem", two_and_three)).what, verdict::called);
}

// Slot handlers.

TEST_F(dispatcher_test, lets_a_slot_handler_write_its_whole_response) {
    table.add_slot_handler("host_call", [](std::span<const std::byte> in, std::span<std::byte> out) {
        const auto request = test::request_of(in);
        const response_header response{.status = 0, .result_len = 2, .request_id = request.request_id};
        ASSERT_TRUE(response.encode(out));
        out[24] = std::byte{0x11};
        out[25] = std::byte{0x22};
    });
    const auto result = dispatch(request_bytes("host_call", {}, 5, 0xABCD));
    EXPECT_EQ(result.length, 26U);
    EXPECT_EQ(to_hex(std::span(tx).subspan(24, 2)), "1122");
    EXPECT_EQ(response_of(tx).timestamp, 0xABCDU) << "the echo does not depend on the handler";
}

TEST_F(dispatcher_test, sends_no_stale_bytes_for_a_slot_handler_that_writes_nothing) {
    table.add_slot_handler("lazy", [](auto, auto) {});
    expect_refusal(dispatch(request_bytes("lazy", {}, 1)), verdict::handler_failed, status::handler_failed);
    // Now an answer to request 1 lies in the slot.
    expect_refusal(dispatch(request_bytes("lazy", {}, 2)), verdict::handler_failed, status::handler_failed);
}

TEST_F(dispatcher_test, checks_what_a_slot_handler_claims) {
    response_header claimed;
    table.add_slot_handler("claims", [&](std::span<const std::byte>, std::span<std::byte> out) {
        ASSERT_TRUE(claimed.encode(out));
    });
    claimed = {.result_len = 105, .request_id = 7};
    expect_refusal(dispatch(request_bytes("claims", {})), verdict::result_too_large,
                   status::result_too_large);
    claimed = {.result_len = 0xFFFFFFFF, .request_id = 7};
    expect_refusal(dispatch(request_bytes("claims", {})), verdict::result_too_large,
                   status::result_too_large);
    claimed = {.status = -3, .request_id = 7};
    expect_refusal(dispatch(request_bytes("claims", {})), verdict::handler_failed, status::handler_failed);
    claimed = {.status = 4, .result_len = 104, .request_id = 7};
    EXPECT_EQ(dispatch(request_bytes("claims", {})).length, 128U);
}

// Receive and send slot in the same memory.

TEST_F(dispatcher_test, works_in_place_for_typed_functions) {
    add_them();
    for (std::int64_t i = 0; i < 50; ++i) {
        std::ranges::copy(request_bytes("addThem", packed(i, 2 * i), static_cast<std::uint32_t>(i)),
                          rx.begin());
        const auto result = server().dispatch(rx, rx);
        EXPECT_EQ(result.length, 32U);
        EXPECT_EQ(response_of(rx).request_id, static_cast<std::uint32_t>(i));
        EXPECT_EQ(value_behind_header<std::int64_t>(rx), 3 * i);
    }
}

TEST_F(dispatcher_test, decodes_every_argument_before_it_writes_in_place) {
    table.add<std::tuple<std::int32_t, std::int32_t, std::int32_t>(std::int32_t, std::int32_t, std::int32_t)>(
        "reverse", [](auto a, auto b, auto c) { return std::tuple(c, b, a); });
    std::ranges::copy(request_bytes("reverse", packed(1, 2, 3)), rx.begin());
    server().dispatch(rx, rx);
    EXPECT_EQ(to_hex(std::span(rx).subspan(24, 12)), "030000000200000001000000");
}

TEST_F(dispatcher_test, works_in_place_for_raw_handlers_and_refusals) {
    add_increment();
    std::ranges::copy(request_bytes("rpc_increment", test::from_hex("0102"), 11), rx.begin());
    EXPECT_EQ(server().dispatch(rx, rx).length, 26U);
    EXPECT_EQ(to_hex(std::span(rx).subspan(24, 2)), "0203");
    std::ranges::copy(request_bytes("no_such_function", {}, 12, 13), rx.begin());
    EXPECT_EQ(server().dispatch(rx, rx).length, 24U);
    EXPECT_EQ(response_of(rx).request_id, 12U);
    EXPECT_EQ(response_of(rx).timestamp, 13U);
}

TEST_F(dispatcher_test, fails_a_slot_handler_that_leaves_the_request_in_place) {
    table.add_slot_handler("lazy", [](auto, auto) {});
    std::ranges::copy(request_bytes("lazy", {}, 12), rx.begin());
    const auto result = server().dispatch(rx, rx);
    EXPECT_EQ(result.what, verdict::handler_failed);
    EXPECT_EQ(response_of(rx).status, static_cast<int>(status::handler_failed));
}

// The original's way.

class silent_dispatcher_test : public dispatcher_test {
  protected:
    silent_dispatcher_test() { config.on_refusal = refusals::silent; }
};

TEST_F(silent_dispatcher_test, says_nothing_to_any_refusal) {
    add_them();
    table.add<void()>("throws", [] { throw std::runtime_error("no"); })
        .add<std::vector<std::uint8_t>()>("long", [] { return std::vector<std::uint8_t>(105); });
    expect_silence(dispatch(request_bytes("no_such_function", {})), verdict::unknown_function);
    expect_silence(dispatch(request_bytes("addThem", {})), verdict::bad_argument_length);
    expect_silence(dispatch(request_bytes("throws", {})), verdict::handler_failed);
    expect_silence(dispatch(request_bytes("long", {})), verdict::result_too_large);
    expect_silence(dispatch(test::byte_vector(24)), verdict::bad_magic);
    EXPECT_THAT(tx, Each(std::byte{0xAB})) << "a silent refusal wrote into the send slot";
    const auto s = server().snapshot();
    EXPECT_EQ(s.silent, 5U);
    EXPECT_EQ(s.answered, 0U);
    EXPECT_EQ(s.requests, 5U);
}

TEST_F(silent_dispatcher_test, answers_what_a_handler_answers) {
    add_them();
    table.add<void()>("status", [] { throw status_error(1); });
    EXPECT_EQ(dispatch(request_bytes("addThem", two_and_three)).length, 32U);
    EXPECT_EQ(dispatch(request_bytes("status", {})).length, 24U);
    EXPECT_EQ(response_of(tx).status, 1);
}

// The rest of the slot.

TEST_F(dispatcher_test, leaves_the_rest_of_the_send_slot_alone) {
    add_them();
    const auto result = dispatch(request_bytes("addThem", two_and_three));
    EXPECT_THAT(std::span(tx).subspan(result.length), Each(std::byte{0xAB}));
}

TEST_F(dispatcher_test, clears_the_rest_of_the_send_slot_when_asked) {
    config.clear_tail = true;
    add_them();
    const auto result = dispatch(request_bytes("addThem", two_and_three));
    EXPECT_THAT(std::span(tx).subspan(result.length), Each(std::byte{0}));
    expect_refusal(dispatch(request_bytes("addThem", {})), verdict::bad_argument_length,
                   status::bad_argument_length);
    EXPECT_THAT(std::span(tx).subspan(24), Each(std::byte{0}));
}

// Counters.

TEST_F(dispatcher_test, counts_what_it_does) {
    add_them();
    table.add<void()>("noop", [] {});
    for (int i = 0; i < 3; ++i) dispatch(request_bytes("addThem", two_and_three));
    dispatch(request_bytes("addThem", {}));
    dispatch(request_bytes("noop", {}));
    dispatch(request_bytes("no_such_function", {}));
    dispatch(test::byte_vector(24));
    const auto s = server().snapshot();
    EXPECT_EQ(s.requests, 7U);
    EXPECT_EQ(s.answered, 6U);
    EXPECT_EQ(s.silent, 1U);
    EXPECT_EQ(s.bad_magic, 1U);
    EXPECT_EQ(s.unknown_function, 1U);
    EXPECT_EQ(counts("addThem").calls, 4U);
    EXPECT_EQ(counts("addThem").succeeded, 3U);
    EXPECT_EQ(counts("addThem").bad_length, 1U);
    EXPECT_EQ(counts("noop").calls, 1U);
}

TEST_F(dispatcher_test, measures_each_function_with_its_own_clock) {
    static std::chrono::steady_clock::time_point the_time;
    the_time = {};
    config.now = []() noexcept { return the_time; };
    table.add<void()>("slow", [] { the_time += std::chrono::microseconds(3); }).add<void()>("quick", [] {
        the_time += std::chrono::nanoseconds(20);
    });
    for (int i = 0; i < 10; ++i) dispatch(request_bytes("slow", {}));
    dispatch(request_bytes("quick", {}));
    EXPECT_EQ(counts("slow").latency.count, 10U);
    EXPECT_EQ(counts("slow").latency.max, std::chrono::microseconds(3));
    EXPECT_EQ(counts("slow").latency.p50, std::chrono::microseconds(3));
    EXPECT_EQ(counts("quick").latency.p999, std::chrono::nanoseconds(20));
}

} // namespace
} // namespace rocio::rpc
