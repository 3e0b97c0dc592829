#include "full_status.hpp"
#include "named_stream.hpp"

#include <rocio/status/status_json.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace rocio;
namespace json = boost::json;
using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

constexpr std::uint64_t past_double = (std::uint64_t{1} << 53) + 1;

std::vector<std::string> keys_of(const json::object& object) {
    std::vector<std::string> keys;
    for (const auto& entry : object) keys.emplace_back(entry.key_c_str());
    return keys;
}

/// As a client gets it: through text and a strict parser.
json::object through_text(const json::object& object) {
    return json::parse(json::serialize(object)).as_object();
}

receive_server_snapshot connected_stream() {
    receive_server_snapshot stream;
    stream.fpga_ip = "10.0.0.2";
    stream.fpga_gid = "0000:0000:0000:0000:0000:ffff:0a00:0002";
    stream.host_qpn = 0x123456;
    stream.host_gid = "0000:0000:0000:0000:0000:ffff:0a00:0001";
    stream.host_ip = "10.0.0.1";
    stream.mr_addr = 0xDEADBEEFCAFE;
    stream.mr_rkey = 0x1234;
    stream.rx_frame_count = past_double;
    stream.rx_byte_count = std::numeric_limits<std::uint64_t>::max();
    stream.max_payload = 4096;
    stream.rx_queue_depth = 256;
    stream.host_rq_psn = 0xABCDEF;
    stream.host_sq_psn = 0xABCDEF;
    stream.fpga_qpn = 0x010203;
    stream.fpga_lkey = 0x11112222;
    stream.mr_len = 1048576;
    stream.name = "camera";
    stream.device = "soft:10.0.0.1";
    stream.state = "connected";
    return stream;
}

TEST(status_json, of_nothing_has_every_part_all_the_same) {
    const auto document = through_text(to_json(status_snapshot{}));
    EXPECT_THAT(keys_of(document), ElementsAre("schema_version", "process", "stale", "engines", "devices",
                                               "queue_pairs", "streams", "stream_variables", "rings",
                                               "sensors", "services", "callers", "fpgas", "handshakes"));
    for (const auto& [key, value] : document) {
        if (value.is_array()) {
            EXPECT_TRUE(value.as_array().empty()) << key;
        }
    }
}

TEST(status_json, of_the_process_has_version_uptime_time_and_pid) {
    status_snapshot status;
    status.process.name = "rocio recv";
    status.process.version = "1.2.3";
    status.process.build = "a compiler";
    status.process.uptime = std::chrono::milliseconds(2500);
    status.process.now = std::chrono::system_clock::time_point(std::chrono::milliseconds(1700000000007));
    status.process.pid = 4711;
    const auto process = through_text(to_json(status)).at("process").as_object();
    EXPECT_EQ(process, (json::object{{"name", "rocio recv"},
                                     {"version", "1.2.3"},
                                     {"build", "a compiler"},
                                     {"uptime_seconds", 2.5},
                                     {"time", "2023-11-14T22:13:20.007Z"},
                                     {"pid", 4711}}));
}

TEST(status_json, of_a_stream_starts_with_its_name_and_has_the_fifteen_variables) {
    const auto stream = through_text(to_json(connected_stream()));
    EXPECT_EQ(keys_of(stream).front(), "name");
    const json::object expected{{"name", "camera"},
                                {"fpga_ip", "10.0.0.2"},
                                {"fpga_gid", "0000:0000:0000:0000:0000:ffff:0a00:0002"},
                                {"host_qpn", 0x123456},
                                {"host_gid", "0000:0000:0000:0000:0000:ffff:0a00:0001"},
                                {"host_ip", "10.0.0.1"},
                                {"mr_addr", "0x0000deadbeefcafe"},
                                {"mr_rkey", "0x00001234"},
                                {"rx_frame_count", past_double},
                                {"rx_byte_count", std::numeric_limits<std::uint64_t>::max()},
                                {"max_payload", 4096},
                                {"rx_queue_depth", 256},
                                {"host_rq_psn", 0xABCDEF},
                                {"host_sq_psn", 0xABCDEF},
                                {"fpga_qpn", 0x010203},
                                {"fpga_lkey", "0x11112222"},
                                {"mr_len", 1048576},
                                {"device", "soft:10.0.0.1"},
                                {"state", "connected"}};
    for (const auto& [key, value] : expected) EXPECT_EQ(stream.at(key), value) << key;
}

TEST(status_json, keeps_counters_past_what_a_double_holds) {
    const auto text = json::serialize(to_json(connected_stream()));
    EXPECT_THAT(text, testing::HasSubstr("\"rx_frame_count\":9007199254740993,"));
    EXPECT_THAT(text, testing::HasSubstr("\"rx_byte_count\":18446744073709551615,"));
    const auto read = json::parse(text).as_object();
    EXPECT_EQ(read.at("rx_frame_count").to_number<std::uint64_t>(), past_double);
}

TEST(status_json, of_memory_tells_what_was_got_and_what_could_not_be_had) {
    auto stream = test::some_stream();
    const auto memory = to_json(stream).at("memory");
    EXPECT_EQ(memory, (json::value{{"bytes", 2097152},
                                   {"huge_pages", "thp"},
                                   {"page_size", 4096},
                                   {"huge_bytes", 2097152},
                                   {"numa_node", 1},
                                   {"prefaulted", true},
                                   {"locked", false},
                                   {"warnings", json::array{"this much cannot be locked"}}}));
    stream.memory = {};
    EXPECT_EQ(to_json(stream).at("memory").at("huge_bytes"), nullptr);
    EXPECT_EQ(to_json(stream).at("memory").at("numa_node"), nullptr);
}

TEST(status_json, of_a_stream_tells_slots_views_and_what_stalls) {
    auto stream = connected_stream();
    stream.slots_posted = 0;
    stream.slots_lent = 250;
    stream.slots_free = 6;
    stream.stalled_by = "channel 7";
    stream.unclaimed = 11;
    stream.views = {{.name = "all", .delivered = past_double, .dropped = 2, .queued = 3}};
    const auto document = through_text(to_json(stream));
    EXPECT_EQ(document.at("slots"), (json::value{{"posted", 0}, {"lent", 250}, {"free", 6}}));
    EXPECT_EQ(document.at("stalled_by"), "channel 7");
    EXPECT_EQ(document.at("unclaimed"), 11);
    const json::object view{{"name", "all"}, {"queued", 3}, {"delivered", past_double}, {"dropped", 2}};
    EXPECT_EQ(document.at("views"), (json::array{view}));
}

TEST(status_json, of_a_stream_has_null_for_no_stall_no_error_and_no_counters) {
    const auto stream = through_text(to_json(connected_stream()));
    EXPECT_TRUE(stream.at("stalled_by").is_null());
    EXPECT_TRUE(stream.at("last_error").is_null());
    EXPECT_TRUE(stream.at("counters").is_null());
}

TEST(status_json, of_a_stream_tells_the_last_error_with_its_sentence) {
    auto stream = connected_stream();
    stream.last_error = {errc::peer_lost, "the peer at 10.0.0.2 is gone"};
    const auto error = through_text(to_json(stream)).at("last_error").as_object();
    EXPECT_EQ(error.at("code"), static_cast<int>(errc::peer_lost));
    EXPECT_EQ(error.at("category"), "rocio");
    EXPECT_EQ(error.at("text"), "the peer at 10.0.0.2 is gone");
}

TEST(status_json, of_a_stream_has_each_queue_pair_counter_under_its_own_name) {
    auto stream = connected_stream();
    stream.has_counters = true;
    stream.counters = {.messages_sent = 1,
                       .messages_received = 2,
                       .bytes_sent = 3,
                       .bytes_received = 4,
                       .packets_sent = 5,
                       .packets_received = 6,
                       .retransmits = 7,
                       .timeouts = 8,
                       .duplicates = 9,
                       .out_of_sequence = 10,
                       .rnr_naks_sent = 11,
                       .rnr_naks_received = 12,
                       .sequence_naks_sent = 13,
                       .sequence_naks_received = 14,
                       .other_naks_sent = 15,
                       .other_naks_received = 16,
                       .psn_gaps = 17,
                       .psns_missed = 18,
                       .interrupted_messages = 19,
                       .dropped_out_of_message = 20,
                       .dropped_without_receive = 21,
                       .dropped_without_access = 22,
                       .dropped_bad_length = 23};
    const json::object expected{{"messages_sent", 1},
                                {"messages_received", 2},
                                {"bytes_sent", 3},
                                {"bytes_received", 4},
                                {"packets_sent", 5},
                                {"packets_received", 6},
                                {"retransmits", 7},
                                {"timeouts", 8},
                                {"duplicates", 9},
                                {"out_of_sequence", 10},
                                {"rnr_naks_sent", 11},
                                {"rnr_naks_received", 12},
                                {"sequence_naks_sent", 13},
                                {"sequence_naks_received", 14},
                                {"other_naks_sent", 15},
                                {"other_naks_received", 16},
                                {"psn_gaps", 17},
                                {"psns_missed", 18},
                                {"interrupted_messages", 19},
                                {"dropped_out_of_message", 20},
                                {"dropped_without_receive", 21},
                                {"dropped_without_access", 22},
                                {"dropped_bad_length", 23}};
    EXPECT_EQ(through_text(to_json(stream)).at("counters"), expected);
}

TEST(status_json, of_an_engine_has_every_field) {
    engine_snapshot engine;
    engine.policy = "hybrid";
    engine.turns = past_double;
    engine.longest_gap = std::chrono::microseconds(3);
    engine.outstanding = 4;
    const auto document = through_text(to_json(engine));
    EXPECT_THAT(keys_of(document), UnorderedElementsAreArray({"name",
                                                              "policy",
                                                              "turns",
                                                              "sweeps",
                                                              "empty_sweeps",
                                                              "completions",
                                                              "upcalls",
                                                              "stale_completions",
                                                              "incomplete_drains",
                                                              "arms",
                                                              "waits",
                                                              "wakes",
                                                              "late_turns",
                                                              "longest_gap_ns",
                                                              "gaps",
                                                              "in_turn_seconds",
                                                              "turn_due_seconds",
                                                              "cpu_seconds",
                                                              "cpu_share",
                                                              "outstanding",
                                                              "queue_pairs",
                                                              "devices"}));
    EXPECT_EQ(document.at("policy"), "hybrid");
    EXPECT_EQ(document.at("turns"), past_double);
    EXPECT_EQ(document.at("longest_gap_ns"), 3000);
    EXPECT_EQ(document.at("outstanding"), 4);
}

TEST(status_json, of_a_device_lists_its_gids) {
    device_snapshot device;
    device.name = "rxe0";
    device.kind = "verbs";
    device.port_state = "active";
    device.active_mtu = 1024;
    device.gids = {{.index = 1, .value = *gid::parse("10.0.0.1"), .netdev = "eth0", .prefix = 24},
                   {.index = 5, .value = *gid::parse("fe80::1"), .type = gid_type::roce_v1}};
    const auto document = through_text(to_json(device));
    EXPECT_EQ(document.at("name"), "rxe0");
    EXPECT_EQ(document.at("active_mtu"), 1024);
    const json::array expected{{{"index", 1},
                                {"gid", "0000:0000:0000:0000:0000:ffff:0a00:0001"},
                                {"address", "10.0.0.1"},
                                {"type", "RoCE v2"},
                                {"netdev", "eth0"},
                                {"prefix", 24}},
                               {{"index", 5},
                                {"gid", "fe80:0000:0000:0000:0000:0000:0000:0001"},
                                {"address", "fe80::1"},
                                {"type", "RoCE v1"},
                                {"netdev", ""},
                                {"prefix", nullptr}}};
    EXPECT_EQ(document.at("gids"), expected);
}

TEST(status_json, groups_device_counters_by_what_stands_before_the_dot) {
    device_snapshot device;
    device.counters = {{"packets_received", past_double}, {"drops.bad_icrc", 1}, {"drops.no_queue_pair", 2}};
    const json::object expected{{"packets_received", past_double},
                                {"drops", {{"bad_icrc", 1}, {"no_queue_pair", 2}}}};
    EXPECT_EQ(through_text(to_json(device)).at("counters"), expected);
}

TEST(status_json, takes_names_with_quotes_newlines_and_bytes_that_are_not_text) {
    auto stream = connected_stream();
    stream.name = "a\"b\nc\xFF";
    stream.stalled_by = "\xFF";
    stream.views.push_back({.name = "\xC3"});
    device_snapshot device;
    device.name = stream.name;
    device.counters = {{"drops.\xFF", 1}};
    status_snapshot status;
    status.devices = {device};
    status.streams = {stream};
    const auto document = through_text(to_json(status));
    EXPECT_EQ(document.at("streams").at(0).at("name"), "a\"b\nc\xEF\xBF\xBD");
    EXPECT_EQ(document.at("devices").at(0).at("name"), "a\"b\nc\xEF\xBF\xBD");
    EXPECT_EQ(document.at("devices").at(0).at("counters").at("drops").at("\xEF\xBF\xBD"), 1);
}

TEST(status_json, of_a_slac_board_tells_its_session_with_the_time_of_the_last_error) {
    fpga_session_snapshot board{"camera", "10.0.0.2", "10.0.0.2:8192 by srp-udp", 3, {}};
    fpga::slac_engine_snapshot session;
    session.state = "failed";
    session.stage = "QP RTR";
    session.fpga_qpn = 0x10203;
    session.lkey = 0x11112222;
    session.last_error = {errc::refused_by_peer, "QP RTR was refused"};
    session.last_error_time = std::chrono::system_clock::time_point(std::chrono::seconds(1700000000));
    board.session = session;
    const auto j = through_text(to_json(board));
    EXPECT_EQ(j.at("name"), "camera");
    EXPECT_EQ(j.at("registers"), "10.0.0.2:8192 by srp-udp");
    EXPECT_EQ(j.at("attempts"), 3);
    const auto& s = j.at("session").as_object();
    EXPECT_EQ(s.at("kind"), "slac");
    EXPECT_EQ(s.at("state"), "failed");
    EXPECT_EQ(s.at("stage"), "QP RTR");
    EXPECT_EQ(s.at("fpga_qpn"), 0x10203);
    EXPECT_EQ(s.at("lkey"), "0x11112222");
    EXPECT_EQ(s.at("last_error").at("text"), "QP RTR was refused");
    EXPECT_EQ(s.at("last_error_time"), "2023-11-14T22:13:20.000Z");
}

TEST(status_json, of_a_board_without_an_error_has_null_for_it_and_its_time) {
    const auto j = to_json(fpga_session_snapshot{});
    EXPECT_TRUE(j.at("session").at("last_error").is_null());
    EXPECT_TRUE(j.at("session").at("last_error_time").is_null());
    EXPECT_TRUE(j.at("session").at("last_warning").is_null());
}

TEST(status_json, of_an_hsb_board_tells_its_version_and_pages) {
    fpga_session_snapshot board;
    fpga::hsb_channel_snapshot session;
    session.state = "streaming";
    session.ip_version = 0x2603;
    session.pages = 4;
    session.failures = past_double;
    board.session = session;
    const auto j = through_text(to_json(board));
    EXPECT_EQ(j.at("session").at("kind"), "hsb");
    EXPECT_EQ(j.at("session").at("ip_version"), "0x2603");
    EXPECT_EQ(j.at("session").at("pages"), 4);
    EXPECT_EQ(j.at("session").at("failures"), past_double);
}

TEST(status_json, keeps_the_streams_in_their_order) {
    status_snapshot status;
    for (const auto* name : {"left", "right", "left"}) status.streams.push_back(test::named_stream(name));
    const auto streams = through_text(to_json(status)).at("streams").as_array();
    std::vector<std::string> names;
    for (const auto& stream : streams) names.emplace_back(stream.at("name").as_string().c_str());
    EXPECT_THAT(names, ElementsAre("left", "right", "left"));
}

TEST(status_json, lists_the_queue_pairs_of_streams_and_rings_beside_the_users_own) {
    auto status = test::full_status();
    queue_pair_snapshot own;
    own.number = 5;
    own.type = "uc";
    status.queue_pairs = {own};
    const auto pairs = through_text(to_json(status)).at("queue_pairs").as_array();
    std::vector<std::string> owners;
    for (const auto& pair : pairs) owners.emplace_back(pair.at("owner").as_string().c_str());
    EXPECT_THAT(owners, ElementsAre("", "camera", "ring"));
    EXPECT_EQ(pairs[1].at("number"), 17);
    EXPECT_EQ(pairs[1].at("peer_number"), 18);
    EXPECT_EQ(pairs[1].at("counters").at("rnr_naks_sent"), 3);
    EXPECT_TRUE(pairs[0].at("counters").is_null());
}

TEST(status_json, tells_what_is_stale_and_for_how_long) {
    const auto stale = through_text(to_json(test::full_status())).at("stale");
    EXPECT_EQ(stale, (json::array{json::object{{"part", "engine data plane"},
                                               {"age_seconds", 3.2},
                                               {"reason", "its turn lasts for 3.2 s"}}}));
}

TEST(status_json, of_a_histogram_lists_the_buckets_that_hold_something) {
    const auto gaps = through_text(to_json(test::some_engine())).at("gaps").as_object();
    EXPECT_EQ(gaps.at("count"), 4);
    EXPECT_EQ(gaps.at("sum_ns"), 924000);
    const auto bucket = [](int below, int count) {
        return json::object{{"below_ns", below}, {"count", count}};
    };
    EXPECT_EQ(gaps.at("buckets"),
              (json::array{bucket(1024, 1), bucket(4096, 1), bucket(32768, 1), bucket(1048576, 1)}));
}

TEST(status_json, of_a_stream_lists_channels_with_null_for_gaps_nobody_can_know) {
    const auto channels = through_text(to_json(test::some_stream())).at("channels").as_array();
    ASSERT_EQ(channels.size(), 2U);
    EXPECT_EQ(channels[0].at("channel"), 3);
    EXPECT_EQ(channels[0].at("gaps"), 4);
    EXPECT_TRUE(channels[1].at("gaps").is_null());
    EXPECT_TRUE(channels[1].at("rates").at("frames_per_second").at("last_1s").is_null());
}

} // namespace
