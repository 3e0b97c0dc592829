// `rocio bridge` as a process; this test is the FPGA.

#include "bridge_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace rocio::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Bridge : public bridge_fixture {};

class BridgeInEveryMode : public bridge_fixture, public ::testing::WithParamInterface<const char*> {
  protected:
    words mode() const {
        return std::string(GetParam()).empty() ? words{} : words{std::string("--") + GetParam()};
    }
    int net(int base) const { return base + (mode().empty() ? 0 : 1); }
};
INSTANTIATE_TEST_SUITE_P(Modes, BridgeInEveryMode, ::testing::Values("", "unified"),
                         [](const auto& mode) { return *mode.param ? std::string(mode.param) : "plain"; });

TEST_P(BridgeInEveryMode, answers_requests_over_several_laps_of_the_ring) {
    meet_on(net(1));
    start_bridge(mode());
    for (std::uint32_t id = 0; id < 5 * slots; ++id) {
        send(increment_request(id, 1 + id % payload));
        expect_increment(id, 1 + id % payload);
    }
    EXPECT_EQ(end(), 0);
    EXPECT_THAT(last_words(), HasSubstr("Packets dispatched: 40\n"));
}

TEST_P(BridgeInEveryMode, answers_a_whole_ring_of_requests_sent_at_once) {
    meet_on(net(3));
    start_bridge(mode());
    for (std::uint32_t id = 0; id < slots; ++id) send(increment_request(id));
    for (std::uint32_t id = 0; id < slots; ++id) expect_increment(id);
    EXPECT_EQ(end(), 0);
}

TEST_P(BridgeInEveryMode, has_no_answer_for_requests_that_are_wrong) {
    meet_on(net(5));
    start_bridge(joined(mode(), {"--json"}));
    auto bad_magic = increment_request(1);
    bad_magic[0] = std::byte{0};
    send(bad_magic);
    send(request_bytes("no_such_function", byte_vector(8), 2));
    auto too_long = increment_request(3);
    too_long[9] = std::byte{0x7F}; // 0x7F08 bytes of arguments in a slot of 384
    send(too_long);
    send(increment_request(4));
    // The first thing to come is the answer to the last.
    expect_increment(4);
    EXPECT_EQ(end(), 0);
    EXPECT_THAT(last_words(), HasSubstr("Packets dispatched: 1\n"));
    EXPECT_THAT(last_words(),
                HasSubstr("\"dispatched\":1,\"silent\":3,\"bad_magic\":1,\"unknown_function\":1"));
}

TEST_P(BridgeInEveryMode, echoes_request_id_and_timestamp) {
    meet_on(net(7));
    start_bridge(mode());
    send(increment_request(77, 8, 0x1122334455667788));
    const auto header = response_of(receive());
    EXPECT_EQ(header.request_id, 77U);
    EXPECT_EQ(header.timestamp, 0x1122334455667788U);
    EXPECT_EQ(end(), 0);
}

TEST_F(Bridge, spins_on_a_thread_of_its_own) {
    meet_on(9);
    start_bridge({"--poll", "spin"});
    for (std::uint32_t id = 0; id < 20; ++id) {
        send(increment_request(id));
        expect_increment(id);
    }
    EXPECT_EQ(end(SIGINT), 0);
    EXPECT_THAT(last_words(), HasSubstr("Packets dispatched: 20\n"));
}

TEST_F(Bridge, sends_everything_back_in_forward_mode) {
    meet_on(10);
    start_bridge({"--forward"});
    for (std::uint32_t id = 0; id < 2 * slots; ++id) {
        auto message = increment_request(id, payload);
        if (id % 2 == 1) message[0] = std::byte{0xEE}; // whatever it is
        send(message);
        const auto back = receive();
        EXPECT_TRUE(std::ranges::equal(message, std::span(back).first(message.size()))) << id;
    }
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(last_words(), "\n=== Shutting down ===\nDone.\n") << "nothing is dispatched here";
}

/// What lies in a slot behind what came is as it was before.
std::size_t length_of(const byte_vector& slot, std::byte before) {
    auto length = slot.size();
    while (length > 0 && slot[length - 1] == before) --length;
    return length;
}

TEST_P(BridgeInEveryMode, sends_whole_frames_with_zeros_behind_a_short_answer) {
    meet_on(net(11));
    std::ranges::fill(fpga->rx_data(), std::byte{0xFF});
    start_bridge(mode());
    send(increment_request(1, payload)); // leaves an answer as long as the frame in the bridge's slot 0
    EXPECT_EQ(length_of(receive(), std::byte{0xFF}), 24U + payload);
    for (std::uint32_t id = 2; id <= slots; ++id) {
        send(increment_request(id));
        (void)receive();
    }
    std::ranges::fill(fpga->rx_data(), std::byte{0xFF});
    send(increment_request(9, 8)); // in slot 0 again
    const auto bytes = receive();
    EXPECT_EQ(length_of(bytes, std::byte{0xFF}), 24U + payload);
    for (std::size_t j = 32; j < 24U + payload; ++j) EXPECT_EQ(bytes[j], std::byte{0}) << "byte " << j;
    EXPECT_EQ(end(), 0);
}

TEST_P(BridgeInEveryMode, calls_the_functions_of_a_library_beside_its_own) {
    meet_on(net(13));
    std::ranges::fill(fpga->rx_data(), std::byte{0xFF});
    start_bridge(
        joined(mode(), {"--handlers", library() + ":setup_five:5", "--handlers", library() + ":setup_one"}));
    const auto answer_to = [&](std::uint32_t function) {
        send(request_bytes(rpc::function_id(function), byte_vector(8), function));
        return receive();
    };
    EXPECT_EQ(answer_to(0x1001)[24], std::byte{0xA0});
    EXPECT_EQ(answer_to(0x2001)[24], std::byte{0xB0});
    const auto whole = answer_to(0x2002);
    EXPECT_EQ(response_of(whole).result_len, slot_size - 24);
    EXPECT_EQ(whole.back(), std::byte{0xCC}) << "longer than the frame and yet not cut";
    const auto refused = response_of(answer_to(0x2003));
    EXPECT_EQ(refused.status, 7);
    EXPECT_EQ(refused.request_id, 0x2003U);
    const auto forgetful = response_of(answer_to(0x2005));
    EXPECT_EQ(forgetful.request_id, 0x2005U) << "the echo does not depend on the handler";
    // A handler that writes nothing has no answer, least of all that of another request.
    send(request_bytes(rpc::function_id(0x2004), byte_vector(8), 1));
    send(increment_request(5));
    expect_increment(5);
    EXPECT_EQ(end(), 0);
    EXPECT_THAT(last_words(), HasSubstr("Packets dispatched: 6\n"));
}

TEST_F(Bridge, takes_a_table_that_is_an_object) {
    meet_on(15);
    start_bridge({"--handlers", library() + ":handler_table"});
    send(request_bytes(rpc::function_id(0x1002), byte_vector(8), 1));
    EXPECT_EQ(receive()[24], std::byte{0xB0});
    EXPECT_EQ(end(), 0);
}

TEST_F(Bridge, lets_a_library_replace_its_own_function) {
    meet_on(16);
    start_bridge({"--handlers", library() + ":setup_other_increment"});
    send(increment_request(1));
    EXPECT_EQ(receive()[24], std::byte{0xA0});
    EXPECT_EQ(end(), 0);
}

// What it says.

TEST_F(Bridge, says_what_the_original_says) {
    meet_on(18);
    start({original("hsb_bridge_cpu")});
    send(increment_request(0));
    expect_increment(0);
    EXPECT_EQ(end(), 0);
    std::array<char, 16> remote{};
    const auto number = fpga->local().queue_pair.value();
    const auto hex_end = std::to_chars(remote.data(), remote.data() + remote.size(), number, 16).ptr;
    const auto& said = bridge->said();
    EXPECT_THAT(said, StartsWith("=== HSB CPU Bridge (Phase 1) ===\n"
                                 "Device:        soft:127.41.18.1\n"
                                 "Peer IP:       127.41.18.2\n"
                                 "Remote QP:     0x" +
                                 std::string(remote.data(), hex_end) +
                                 "\n"
                                 "Pages:         8\n"
                                 "Page size:     384 bytes\n"
                                 "Frame size:    64 bytes\n"
                                 "Mode:          3-thread\n"
                                 "\n=== Bridge Ready ===\n"
                                 "  QP Number: 0x"));
    EXPECT_THAT(said, EndsWith("  Buffer Addr: 0x0\n"
                               "\nWaiting (Ctrl+C to stop, timeout=60s)...\n"
                               "\n=== Shutting down ===\n"
                               "Packets dispatched: 1\n"
                               "Done.\n"));
    EXPECT_EQ(std::ranges::count(said, '\n'), 19);
}

TEST_F(Bridge, names_its_mode) {
    meet_on(19);
    for (const auto& [option, name] :
         {std::pair("--unified", "UNIFIED"), std::pair("--forward", "FORWARD")}) {
        child_program it(joined({original("hsb_bridge_cpu"), option, "--timeout=0"}, arguments()));
        EXPECT_EQ(it.wait_for_end(limit), 0);
        EXPECT_THAT(it.said(), HasSubstr(std::string("Mode:          ") + name + "\n"));
        EXPECT_THAT(it.said(), HasSubstr("\nTimeout reached (0s)\n\n=== Shutting down ===\n"));
    }
}

TEST_F(Bridge, ends_with_one_line_of_json) {
    meet_on(20);
    start_bridge({"--json"});
    send(increment_request(0));
    expect_increment(0);
    EXPECT_EQ(end(), 0);
    EXPECT_THAT(last_words(),
                ::testing::MatchesRegex("\n=== Shutting down ===\nPackets dispatched: 1\nDone.\n"
                                        "\\{\"device\":\"soft:127.41.20.1\",.*\"sent\":1,.*\\}\n"));
}

// What it refuses.

class BridgeRefuses : public bridge_fixture {
  protected:
    /// Exit status and what was said, of a bridge that cannot even begin.
    std::pair<int, std::string> outcome(words command) {
        child_program it(std::move(command));
        const int status = it.wait_for_end(limit);
        return {status, it.said()};
    }
    std::pair<int, std::string> bridge_with(const words& more) {
        return outcome(joined(joined({program(), "bridge"}, arguments()), more));
    }
    void expect_refused(const words& more, const std::string& why) {
        const auto [status, said] = bridge_with(more);
        EXPECT_EQ(status, 1) << said;
        EXPECT_THAT(said, HasSubstr(why));
        EXPECT_THAT(said, EndsWith("\n"));
    }
};

TEST_F(BridgeRefuses, handlers_that_are_not_there) {
    meet_on(21);
    expect_refused({"--handlers", "/no/such.so:setup"}, "cannot load /no/such.so");
    expect_refused({"--handlers", library() + ":no_such_symbol"}, "has no symbol no_such_symbol");
    expect_refused({"--handlers", library()}, "is not LIB.so:SYMBOL[:COUNT]");
    expect_refused({"--handlers", library() + ":setup_one:0"}, "COUNT being 1 to 256");
    expect_refused({"--handlers", library() + ":setup_one:257"}, "COUNT being 1 to 256");
}

TEST_F(BridgeRefuses, tables_of_another_length_than_told) {
    meet_on(21);
    expect_refused({"--handlers", library() + ":setup_five"}, "setup_five fills more than 1 entry");
    expect_refused({"--handlers", library() + ":setup_five:4"}, "setup_five fills more than 4 entries");
    expect_refused({"--handlers", library() + ":setup_five:6"}, "entry 6 of 6 of setup_five");
    expect_refused({"--handlers", library() + ":handler_table:3"}, "handler_table of");
}

TEST_F(BridgeRefuses, handlers_for_a_gpu_and_one_id_twice) {
    meet_on(21);
    expect_refused({"--handlers", library() + ":setup_on_a_gpu"}, "dispatch mode 0, only HOST_CALL (2)");
    expect_refused({"--handlers", library() + ":setup_one", "--handlers", library() + ":handler_table"},
                   "\"0x1001\": the table has it already");
}

TEST_F(BridgeRefuses, numbers_that_no_ring_has) {
    meet_on(21);
    expect_refused({"--num-pages", "3"}, "slots is 3, allowed is a power of two");
    expect_refused({"--page-size", "32"}, "frame_size is 64");
    expect_refused({"--payload-size", "4294967295"}, "payload size is 4294967295");
    expect_refused({"--remote-qp", "0x1000000"}, "remote QP is 16777216");
    expect_refused({"--remote-qp", "0"}, "queue pair");
    expect_refused({"--peer-ip", "nobody"}, "peer IP 'nobody' is no IPv4 address");
    expect_refused({"--device", "mlx5_99"}, "mlx5_99");
    EXPECT_EQ(bridge_with({"--num-pages", "many"}).first, 2);
    EXPECT_EQ(bridge_with({"--drop", "2"}).first, 2);
    EXPECT_EQ(bridge_with({"--no-such-option"}).first, 2);
}

TEST_F(BridgeRefuses, two_modes_at_once) {
    const auto expected =
        std::pair(1, std::string("ERROR: --unified and --forward are mutually exclusive\n"));
    EXPECT_EQ(outcome({program(), "bridge", "--unified", "--forward"}), expected);
    EXPECT_EQ(outcome({original("hsb_bridge_cpu"), "--unified", "--forward"}), expected);
}

// By the original's name.

TEST_F(BridgeRefuses, by_its_original_name_what_that_did_not_know) {
    const auto unknown = [](const std::string& argument) {
        return std::pair(0, "Unknown argument: " + argument + "  (use --help)\n");
    };
    const auto name = original("hsb_bridge_cpu");
    EXPECT_EQ(outcome({name, "--no-such-option=1"}), unknown("--no-such-option=1"));
    EXPECT_EQ(outcome({name, "--json"}), unknown("--json")) << "an option of ours";
    EXPECT_EQ(outcome({name, "--device", "soft:127.41.21.1"}), unknown("--device")) << "two words";
    EXPECT_EQ(outcome({name, "--unified=1"}), unknown("--unified=1"));
    EXPECT_EQ(outcome({name, "word"}), unknown("word"));
}

TEST_F(BridgeRefuses, by_its_original_name_in_its_words) {
    meet_on(21);
    const auto name = original("hsb_bridge_cpu");
    const auto [status, said] = outcome(joined({name}, joined(arguments(), {"--num-pages=3"})));
    EXPECT_EQ(status, 1);
    EXPECT_THAT(said, HasSubstr("ERROR: slots is 3"));
    EXPECT_EQ(outcome({name, "--num-pages=many"}).first, 1);
    const auto help = outcome({name, "--help"});
    EXPECT_EQ(help.first, 0);
    for (const auto* option : {"--device", "--peer-ip", "--remote-qp", "--num-pages", "--page-size",
                               "--payload-size", "--timeout", "--unified", "--forward"})
        EXPECT_THAT(help.second, HasSubstr(option));
    EXPECT_THAT(help.second, ::testing::Not(HasSubstr("--handlers")));
}

TEST_F(BridgeRefuses, nothing_that_emulator_and_playback_ignored) {
    for (const auto* name : {"hsb_fpga_emulator", "hsb_fpga_playback"}) {
        const auto help = outcome({original(name), "--no-such-option", "--help"});
        EXPECT_EQ(help.first, 0) << name;
        EXPECT_THAT(help.second, HasSubstr("--page-size")) << name;
    }
}

} // namespace
} // namespace rocio::test
