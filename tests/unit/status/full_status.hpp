#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio::test {

inline latency_summary some_latency() {
    latency_histogram h;
    for (const int us : {1, 3, 20, 900}) h.record(std::chrono::microseconds(us));
    return h.summary();
}

inline device_queue_pair_counters some_counters() {
    device_queue_pair_counters c;
    c.messages_received = 100;
    c.bytes_received = (std::uint64_t{1} << 53) + 1;
    c.retransmits = 7;
    c.rnr_naks_sent = 3;
    return c;
}

inline engine_snapshot some_engine() {
    engine_snapshot e;
    e.name = "data plane";
    e.policy = "hybrid";
    e.turns = 12;
    e.completions = 34;
    e.longest_gap = std::chrono::microseconds(900);
    e.gaps = some_latency();
    e.in_turn = std::chrono::milliseconds(3200);
    e.cpu_time = std::chrono::milliseconds(1500);
    e.cpu_share_1s = 0.75;
    e.outstanding = 1;
    return e;
}

inline device_snapshot some_device() {
    device_snapshot d;
    d.name = "soft:127.0.0.2";
    d.kind = "soft";
    d.port_state = "active";
    d.active_mtu = 4096;
    d.gids.push_back({.index = 0, .value = *gid::parse("127.0.0.2"), .netdev = "lo", .prefix = 8});
    d.limits = {{"max_queue_pairs", 4096}};
    d.counters = {{"packets_received", 9}, {"drops.bad_icrc", 2}, {"drops.socket_overflow", 1}};
    d.events = {
        {std::chrono::system_clock::time_point(std::chrono::milliseconds(1700000000123)), "port 1: active"}};
    d.events_so_far = 1;
    return d;
}

inline memory_snapshot some_memory() {
    memory_snapshot m;
    m.bytes = 2097152;
    m.pages = huge_pages::transparent;
    m.page_size = 4096;
    m.huge_bytes = 2097152;
    m.numa_node = 1;
    m.prefaulted = true;
    m.warnings = {"this much cannot be locked"};
    return m;
}

inline receive_server_snapshot some_stream() {
    receive_server_snapshot s;
    s.name = "camera";
    s.device = "soft:127.0.0.2";
    s.state = "connected";
    s.fpga_ip = "127.0.0.3";
    s.host_qpn = 17;
    s.fpga_qpn = 18;
    s.rx_frame_count = 1000;
    s.rx_byte_count = 4096000;
    s.slots_posted = 200;
    s.slots_lent = 50;
    s.slots_free = 6;
    s.oldest_lease = std::chrono::milliseconds(2);
    s.last_error = {errc::peer_lost, "the peer is gone"};
    s.channels = {{.number = 3, .frames = 600, .bytes = 2457600, .gaps = 4, .rates = {}},
                  {.number = 7, .frames = 400, .bytes = 1638400, .gaps = {}, .rates = {}}};
    s.views = {{.name = "all", .delivered = 990, .dropped = 2, .queued = 8}};
    s.memory = some_memory();
    s.has_counters = true;
    s.counters = some_counters();
    return s;
}

inline ring_snapshot some_ring() {
    ring_snapshot r;
    r.name = "ring";
    r.device = "soft:127.0.0.2";
    r.mode = "duplex";
    r.state = "connected";
    r.slots = 64;
    r.local.queue_pair = qpn(19);
    r.peer.emplace();
    r.peer->queue_pair = qpn(20);
    r.received = 5;
    r.sent = 4;
    r.held = some_latency();
    r.device_counters = some_counters();
    return r;
}

inline sensor_receiver_snapshot some_sensor() {
    sensor_receiver_snapshot s;
    s.name = "sensor";
    s.policy = "latest";
    s.state = "connected";
    s.frames = 11;
    s.lost = 1;
    return s;
}

inline status_snapshot::service some_service() {
    status_snapshot::service s;
    s.name = "answers";
    s.rpc.requests = 10;
    s.rpc.answered = 9;
    s.rpc.silent = 1;
    rpc::function_snapshot f;
    f.name = "echo";
    f.id = 0x1234;
    f.calls = f.succeeded = 9;
    f.latency = some_latency();
    s.rpc.functions = {f};
    return s;
}

inline status_snapshot::caller some_caller() {
    status_snapshot::caller c;
    c.name = "asks";
    c.client.calls = c.client.succeeded = 8;
    c.client.latency = some_latency();
    return c;
}

inline handshake_snapshot some_handshake() {
    handshake_snapshot h;
    h.name = "camera";
    h.kind = "tcp";
    h.endpoint = "127.0.0.1:18515";
    h.attempts = 3;
    h.established = 2;
    h.failed = 1;
    h.last_error = {errc::handshake_timed_out, "no hello in time"};
    h.last_error_peer = "127.0.0.1:40000";
    h.last_error_time = std::chrono::system_clock::time_point(std::chrono::seconds(1700000000));
    return h;
}

/// Something in every part, with names that try what a name may be.
inline status_snapshot full_status() {
    status_snapshot s;
    s.process.name = "a \"test\"\n\xFF";
    s.process.version = "1.2.3";
    s.process.build = "test";
    s.process.now = std::chrono::system_clock::time_point(std::chrono::milliseconds(1700000000123));
    s.process.pid = 4711;
    s.stale = {{"engine data plane", std::chrono::milliseconds(3200), "its turn lasts for 3.2 s"}};
    s.engines = {some_engine()};
    s.devices = {some_device()};
    s.streams = {some_stream()};
    s.rings = {some_ring()};
    s.sensors = {some_sensor()};
    s.services = {some_service()};
    s.callers = {some_caller()};
    s.fpgas.resize(2);
    s.fpgas[0].name = "camera";
    fpga::slac_engine_snapshot slac;
    slac.state = "armed";
    s.fpgas[0].session = slac;
    s.fpgas[1].name = "sensor";
    fpga::hsb_channel_snapshot hsb;
    hsb.state = "streaming";
    s.fpgas[1].session = hsb;
    s.handshakes = {some_handshake()};
    return s;
}

} // namespace rocio::test
