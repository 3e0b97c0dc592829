#include "metric_parts.hpp"

#include <chrono>
#include <string>

namespace rocio::detail {

namespace {

double seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

} // namespace

void add_process(metric_table& t, const status_snapshot& s) {
    t.gauge({"build_info", "What this program's rocio is; the value is always 1.", {"version", "build"}},
            {s.process.version, s.process.build}, 1);
    t.gauge({"uptime_seconds", "How long the program shows its status."}, {}, seconds(s.process.uptime));
    t.gauge({"stale_parts", "Parts of the status that are old, because what they show does not answer."}, {},
            static_cast<double>(s.stale.size()));
}

void add_engine(metric_table& t, const engine_snapshot& e) {
    const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        t.counter({name, help, {"engine"}}, {e.name}, value);
    };
    count("engine_turns_total", "Handlers of the completion engine on its context.", e.turns);
    count("engine_sweeps_total", "Rounds over all devices and completion queues.", e.sweeps);
    count("engine_empty_sweeps_total", "Rounds that found nothing.", e.empty_sweeps);
    count("engine_completions_total", "Completions taken from devices.", e.completions);
    count("engine_upcalls_total", "Handlers of the user called.", e.upcalls);
    count("engine_arms_total", "Times the completion queues were armed.", e.arms);
    count("engine_waits_total", "Times the engine waited in the kernel.", e.waits);
    count("engine_wakes_total", "Times the engine was woken.", e.wakes);
    count("engine_late_turns_total", "Gaps above half of what a peer tolerates.", e.late_turns);
    t.histogram({"engine_gap_seconds", "Between turns while something was outstanding.", {"engine"}},
                {e.name}, e.gaps);
    t.gauge({"engine_longest_gap_seconds", "The longest time between two turns so far.", {"engine"}},
            {e.name}, seconds(e.longest_gap));
    t.counter({"engine_cpu_seconds_total", "CPU time of the thread that runs the engine.", {"engine"}},
              {e.name}, seconds(e.cpu_time));
    t.gauge({"engine_outstanding", "Operations and objects that keep the engine turning.", {"engine"}},
            {e.name}, e.outstanding);
    t.gauge({"engine_queue_pairs", "Queue pairs that the engine serves.", {"engine"}}, {e.name},
            e.queue_pairs);
}

void add_device(metric_table& t, const device_snapshot& d) {
    t.gauge({"device_up", "1 if the port is active.", {"device", "kind"}}, {d.name, d.kind},
            d.port_state == "active" ? 1 : 0);
    for (const auto& c : d.counters) {
        const std::string_view name = c.name;
        if (name.starts_with("drops.")) {
            t.counter({"device_drops_total", "Packets dropped, by reason.", {"device", "reason"}},
                      {d.name, name.substr(6)}, c.value);
            continue;
        }
        t.counter({"device_activity_total", "What the device counts, by name.", {"device", "name"}},
                  {d.name, name}, c.value);
    }
    t.counter({"device_events_total", "Asynchronous events of the device.", {"device"}}, {d.name},
              d.events_so_far);
}

void add_queue_pair(metric_table& t, const queue_pair_snapshot& q) {
    if (!q.counters) return;
    const auto number = std::to_string(q.number);
    const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        t.counter({name, help, {"owner", "device", "number"}}, {q.owner, q.device, number}, value);
    };
    const auto& c = *q.counters;
    count("queue_pair_messages_received_total", "Messages received whole.", c.messages_received);
    count("queue_pair_messages_sent_total", "Messages sent and, where that is so, acknowledged.",
          c.messages_sent);
    count("queue_pair_received_bytes_total", "Bytes of messages received.", c.bytes_received);
    count("queue_pair_sent_bytes_total", "Bytes of messages sent.", c.bytes_sent);
    count("queue_pair_retransmits_total", "Packets sent again.", c.retransmits);
    count("queue_pair_timeouts_total", "Times no acknowledgement came in time.", c.timeouts);
    count("queue_pair_duplicates_total", "Packets received again.", c.duplicates);
    count("queue_pair_out_of_sequence_total", "Packets received after a hole.", c.out_of_sequence);
    count("queue_pair_missed_total", "Packets of a UC queue pair that never came.", c.psns_missed);
    const auto naks = [&](std::string_view kind, std::uint64_t sent, std::uint64_t received) {
        const metric_table::description what{"queue_pair_naks_total",
                                             "Negative acknowledgements, by kind and direction.",
                                             {"owner", "device", "number", "kind", "direction"}};
        t.counter(what, {q.owner, q.device, number, kind, "sent"}, sent);
        t.counter(what, {q.owner, q.device, number, kind, "received"}, received);
    };
    naks("rnr", c.rnr_naks_sent, c.rnr_naks_received);
    naks("sequence", c.sequence_naks_sent, c.sequence_naks_received);
    naks("other", c.other_naks_sent, c.other_naks_received);
}

void add_fpga(metric_table& t, const fpga_session_snapshot& f) {
    const bool is_slac = std::holds_alternative<fpga::slac_engine_snapshot>(f.session);
    const auto& state = is_slac ? std::get<fpga::slac_engine_snapshot>(f.session).state
                                : std::get<fpga::hsb_channel_snapshot>(f.session).state;
    t.gauge({"fpga_session_up", "1 if the board is set up and sends.", {"fpga", "kind"}},
            {f.name, is_slac ? "slac" : "hsb"}, state == "armed" || state == "streaming" ? 1 : 0);
    t.counter({"fpga_attempts_total", "Connections with the board begun.", {"fpga"}}, {f.name}, f.attempts);
}

void add_handshake(metric_table& t, const handshake_snapshot& h) {
    const auto count = [&](std::string_view outcome, std::uint64_t value) {
        t.counter({"handshakes_total", "Connections made and not made.", {"name", "kind", "outcome"}},
                  {h.name, h.kind, outcome}, value);
    };
    count("established", h.established);
    count("failed", h.failed);
}

} // namespace rocio::detail
