#include "metric_parts.hpp"

#include <chrono>
#include <string>

namespace rocio::detail {

namespace {

void add_slots(metric_table& t, const receive_server_snapshot& s) {
    const auto slots = [&](std::string_view state, std::uint32_t value) {
        t.gauge({"stream_slots", "Slots by where they are.", {"stream", "state"}}, {s.name, state}, value);
    };
    slots("posted", s.slots_posted);
    slots("lent", s.slots_lent);
    slots("free", s.slots_free);
    t.gauge({"stream_oldest_lease_seconds", "How long the slot lent for longest has been lent.", {"stream"}},
            {s.name}, std::chrono::duration<double>(s.oldest_lease).count());
}

void add_refusals(metric_table& t, const receive_server_snapshot& s) {
    const auto refused = [&](std::string_view reason, std::uint64_t value) {
        t.counter({"stream_refused_total", "Messages that are no frames, by reason.", {"stream", "reason"}},
                  {s.name, reason}, value);
    };
    refused("without immediate", s.without_immediate);
    refused("bad length", s.bad_length);
    refused("unexpected opcode", s.unexpected_opcode);
}

void add_channels(metric_table& t, const receive_server_snapshot& s) {
    for (const auto& c : s.channels) {
        const auto number = std::to_string(c.number);
        t.counter({"stream_channel_frames_total", "Frames received on a channel.", {"stream", "channel"}},
                  {s.name, number}, c.frames);
        t.counter({"stream_channel_bytes_total", "Bytes received on a channel.", {"stream", "channel"}},
                  {s.name, number}, c.bytes);
        if (!c.gaps) continue;
        t.counter({"stream_channel_gaps_total",
                   "Frames missing in a channel's sequence of counters.",
                   {"stream", "channel"}},
                  {s.name, number}, *c.gaps);
    }
}

void add_views(metric_table& t, const receive_server_snapshot& s) {
    for (const auto& v : s.views) {
        t.gauge({"stream_view_queued", "Frames that wait in a view.", {"stream", "view"}}, {s.name, v.name},
                v.queued);
        t.counter({"stream_view_delivered_total", "Frames taken from a view.", {"stream", "view"}},
                  {s.name, v.name}, v.delivered);
        t.counter(
            {"stream_view_dropped_total", "Frames that a view dropped for newer ones.", {"stream", "view"}},
            {s.name, v.name}, v.dropped);
    }
}

} // namespace

void add_stream(metric_table& t, const receive_server_snapshot& s) {
    t.counter({"stream_frames_total", "Frames received.", {"stream"}}, {s.name}, s.rx_frame_count);
    t.counter({"stream_bytes_total", "Bytes of payload received.", {"stream"}}, {s.name}, s.rx_byte_count);
    t.gauge({"stream_connected", "1 while the stream is connected.", {"stream"}}, {s.name},
            s.state == "connected" ? 1 : 0);
    t.counter({"stream_sessions_total", "Connections made.", {"stream"}}, {s.name}, s.sessions);
    t.counter({"stream_unclaimed_total", "Frames that no view took.", {"stream"}}, {s.name}, s.unclaimed);
    add_slots(t, s);
    add_refusals(t, s);
    add_channels(t, s);
    add_views(t, s);
}

void add_ring(metric_table& t, const ring_snapshot& r) {
    t.counter({"ring_received_total", "Messages received.", {"ring"}}, {r.name}, r.received);
    t.counter({"ring_sent_total", "Messages sent.", {"ring"}}, {r.name}, r.sent);
    t.gauge({"ring_connected", "1 while the ring is connected.", {"ring"}}, {r.name},
            r.state == "connected" ? 1 : 0);
    t.gauge({"ring_slots_held", "Filled slots that nobody has released.", {"ring"}}, {r.name}, r.rx_held);
    t.gauge({"ring_sends_in_flight", "Sends that the device is not done with.", {"ring"}}, {r.name},
            r.tx_in_flight);
    t.counter({"ring_overwritten_total", "Messages that came into a slot still held.", {"ring"}}, {r.name},
              r.overwritten);
    const auto errors = [&](std::string_view kind, std::uint64_t value) {
        t.counter({"ring_errors_total", "What should not happen, by kind.", {"ring", "kind"}}, {r.name, kind},
                  value);
    };
    errors("bad immediate", r.bad_immediate);
    errors("unexpected", r.unexpected);
    errors("bad flag", r.bad_flag);
    errors("send", r.send_errors);
    errors("receive", r.receive_errors);
    t.histogram({"ring_held_seconds", "How long filled slots were held.", {"ring"}}, {r.name}, r.held);
}

void add_sensor(metric_table& t, const sensor_receiver_snapshot& s) {
    const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        t.counter({name, help, {"sensor"}}, {s.name}, value);
    };
    count("sensor_frames_total", "Frames that arrived whole.", s.frames);
    count("sensor_bytes_total", "Bytes of data in them.", s.bytes);
    count("sensor_lost_total", "Frame numbers of which nothing arrived.", s.lost);
    count("sensor_dropped_total", "Frames whose page was written again before they were taken.", s.dropped);
    count("sensor_skipped_total", "Frames not given out because a newer one was there.", s.skipped);
    count("sensor_overwritten_total", "Pages written again while somebody held their frame.", s.overwritten);
    t.gauge({"sensor_connected", "1 while the sensor is connected.", {"sensor"}}, {s.name},
            s.state == "connected" ? 1 : 0);
}

void add_service(metric_table& t, const status_snapshot::service& s) {
    t.counter({"rpc_silent_total", "Requests without an answer.", {"service"}}, {s.name}, s.rpc.silent);
    t.counter({"rpc_unknown_function_total", "Requests for a function that is not there.", {"service"}},
              {s.name}, s.rpc.unknown_function);
    for (const auto& f : s.rpc.functions) {
        const auto calls = [&](std::string_view outcome, std::uint64_t value) {
            t.counter({"rpc_calls_total", "Requests answered.", {"service", "function", "outcome"}},
                      {s.name, f.name, outcome}, value);
        };
        calls("succeeded", f.succeeded);
        calls("failed", f.failed);
        calls("exception", f.exceptions);
        calls("bad length", f.bad_length);
        calls("too large", f.too_large);
        t.histogram(
            {"rpc_latency_seconds", "From a request's arrival to its answer.", {"service", "function"}},
            {s.name, f.name}, f.latency);
    }
}

void add_caller(metric_table& t, const status_snapshot::caller& c) {
    const auto calls = [&](std::string_view outcome, std::uint64_t value) {
        t.counter({"client_calls_total", "Calls by how they ended.", {"client", "outcome"}},
                  {c.name, outcome}, value);
    };
    calls("succeeded", c.client.succeeded);
    calls("failed", c.client.failed);
    calls("bad response", c.client.bad_responses);
    calls("deadline exceeded", c.client.deadline_exceeded);
    calls("cancelled", c.client.cancelled);
    calls("refused", c.client.refused);
    t.gauge({"client_calls_in_flight", "Calls that wait for their answer.", {"client"}}, {c.name},
            c.client.in_flight);
    t.histogram({"client_latency_seconds", "From a call to its answer.", {"client"}}, {c.name},
                c.client.latency);
}

} // namespace rocio::detail
