#include <rocio/device/device.hpp>

namespace rocio {

namespace {

error_info unsupported(const device& d, const char* what) {
    return {errc::not_supported, d.name() + " (a " + d.kind() + " device) does not implement " + what};
}

} // namespace

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
