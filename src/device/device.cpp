#include <rocio/device/device.hpp>

namespace rocio {

namespace {

error_info unsupported(const device& d, const char* what) {
    return {errc::not_supported, d.name() + " (a " + d.kind() + " device) does not implement " + what};
}

} // namespace

std::vector<device_snapshot::limit> to_snapshot(const device_limits& limits) {
    return {{"max_queue_pairs", limits.max_queue_pairs},
            {"max_work_requests", limits.max_work_requests},
            {"max_completions", limits.max_completions},
            {"max_inline", limits.max_inline},
            {"max_message", limits.max_message},
            {"max_region", limits.max_region},
            {"ports", limits.ports}};
}

error_info device::query_port(std::uint8_t, port_attributes&) const {
    return unsupported(*this, "port queries");
}

error_info device::gid_table(std::uint8_t, std::vector<gid_table_entry>&) const {
    return unsupported(*this, "a GID table");
}

error_info device::create_completion_queue(std::uint32_t, std::unique_ptr<device_completion_queue>&) {
    return unsupported(*this, "completion queues");
}

error_info device::create_queue_pair(const device_queue_pair_config&, std::unique_ptr<device_queue_pair>&) {
    return unsupported(*this, "queue pairs");
}

error_info device::register_memory(std::span<std::byte>, const memory_region_config&,
                                   std::unique_ptr<device_memory_region>&) {
    return unsupported(*this, "memory registration");
}

error_info device::create_connection_manager(std::unique_ptr<connection_manager>&) {
    return {errc::not_supported,
            name() + " (a " + kind() +
                " device) has no connection manager (rdma_cm): connect by the TCP rendezvous instead"};
}

device_queue_pair_counters&
device_queue_pair_counters::operator+=(const device_queue_pair_counters& more) noexcept {
    messages_sent += more.messages_sent;
    messages_received += more.messages_received;
    bytes_sent += more.bytes_sent;
    bytes_received += more.bytes_received;
    packets_sent += more.packets_sent;
    packets_received += more.packets_received;
    retransmits += more.retransmits;
    timeouts += more.timeouts;
    duplicates += more.duplicates;
    out_of_sequence += more.out_of_sequence;
    rnr_naks_sent += more.rnr_naks_sent;
    rnr_naks_received += more.rnr_naks_received;
    sequence_naks_sent += more.sequence_naks_sent;
    sequence_naks_received += more.sequence_naks_received;
    other_naks_sent += more.other_naks_sent;
    other_naks_received += more.other_naks_received;
    psn_gaps += more.psn_gaps;
    psns_missed += more.psns_missed;
    interrupted_messages += more.interrupted_messages;
    dropped_out_of_message += more.dropped_out_of_message;
    dropped_without_receive += more.dropped_without_receive;
    dropped_without_access += more.dropped_without_access;
    dropped_bad_length += more.dropped_bad_length;
    return *this;
}

std::string_view to_string(device_event_kind kind) noexcept {
    switch (kind) {
    case device_event_kind::port_active:
        return "port active";
    case device_event_kind::port_error:
        return "port error";
    case device_event_kind::gid_change:
        return "GID change";
    case device_event_kind::queue_pair_fatal:
        return "queue pair fatal";
    case device_event_kind::queue_pair_access_error:
        return "queue pair access error";
    case device_event_kind::communication_established:
        return "communication established";
    case device_event_kind::completion_queue_error:
        return "completion queue error";
    case device_event_kind::device_fatal:
        return "device fatal";
    }
    return "unknown";
}

} // namespace rocio
