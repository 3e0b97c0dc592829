#include "capi/roce_transceiver.hpp"

#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>

using rocio::capi::roce_transceiver;
using rocio::capi::transceiver_settings;

namespace {

roce_transceiver* of(cpu_roce_transceiver_t handle) noexcept {
    return static_cast<roce_transceiver*>(handle);
}

/// No exception crosses the C boundary.
template <class Result, class F>
Result guarded(Result otherwise, F f) noexcept {
    try {
        return f();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "cpu_roce: %s\n", e.what());
    } catch (...) {
        std::fprintf(stderr, "cpu_roce: unknown exception\n");
    }
    return otherwise;
}

template <class F>
void guarded(F f) noexcept {
    (void)guarded(0, [&] { return f(), 0; });
}

/// The ring's own answer, or `otherwise` for a null handle and without a ring.
template <class Result, class F>
Result of_ring(cpu_roce_transceiver_t handle, Result otherwise, F f) noexcept {
    return guarded(otherwise, [&] {
        const auto ring = handle != nullptr ? of(handle)->ring() : nullptr;
        return ring ? f(*ring) : otherwise;
    });
}

const char* text_or_empty(const char* text) noexcept {
    return text != nullptr ? text : "";
}

} // namespace

extern "C" {

cpu_roce_transceiver_t cpu_roce_create_transceiver(const char* device_name, int ib_port, unsigned tx_ibv_qp,
                                                   size_t frame_size, size_t page_size, unsigned num_pages,
                                                   const char* peer_ip, int forward, int rx_only, int tx_only,
                                                   int unified, cpu_roce_tx_mode_t tx_mode,
                                                   uint64_t peer_rx_base_addr, uint32_t peer_rx_rkey) {
    return guarded(static_cast<cpu_roce_transceiver_t>(nullptr), [&]() -> cpu_roce_transceiver_t {
        constexpr auto most = std::numeric_limits<std::uint32_t>::max();
        if ((forward != 0) + (rx_only != 0) + (tx_only != 0) + (unified != 0) > 1) return nullptr;
        if (!std::has_single_bit(num_pages) || frame_size == 0 || frame_size > page_size || page_size > most)
            return nullptr;
        transceiver_settings s;
        s.device = text_or_empty(device_name);
        s.port = static_cast<std::uint8_t>(ib_port);
        s.peer_queue_pair = tx_ibv_qp;
        s.peer_ip = text_or_empty(peer_ip);
        s.peer_base = peer_rx_base_addr;
        s.peer_rkey = peer_rx_rkey;
        s.ring.name = "cpu_roce";
        s.ring.slots = num_pages;
        s.ring.slot_size = static_cast<std::uint32_t>(page_size);
        s.ring.frame_size = static_cast<std::uint32_t>(frame_size);
        s.ring.mode = forward != 0   ? rocio::ring_mode::forward
                      : rx_only != 0 ? rocio::ring_mode::rx_only
                      : tx_only != 0 ? rocio::ring_mode::tx_only
                      : unified != 0 ? rocio::ring_mode::unified
                                     : rocio::ring_mode::duplex;
        if (tx_mode == CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM)
            s.ring.tx_mode = rocio::ring_tx_mode::write_with_immediate;
        s.ring.rearm = rocio::ring_rearm::on_publish;
        s.ring.tx_clear = rocio::ring_tx_clear::on_claim;
        return new roce_transceiver(std::move(s));
    });
}

void cpu_roce_destroy_transceiver(cpu_roce_transceiver_t handle) {
    guarded([&] { delete of(handle); });
}

int cpu_roce_setup(cpu_roce_transceiver_t handle) {
    return guarded(0, [&] { return handle != nullptr && of(handle)->setup() ? 1 : 0; });
}

int cpu_roce_connect(cpu_roce_transceiver_t handle, unsigned peer_qp, const char* peer_ip,
                     uint32_t peer_rx_rkey) {
    return guarded(0, [&] {
        return handle != nullptr && of(handle)->connect(peer_qp, text_or_empty(peer_ip), peer_rx_rkey) ? 1
                                                                                                       : 0;
    });
}

int cpu_roce_start(cpu_roce_transceiver_t handle) {
    if (cpu_roce_setup(handle) == 0) return 0;
    const auto& s = of(handle)->settings();
    return cpu_roce_connect(handle, s.peer_queue_pair, s.peer_ip.c_str(), s.peer_rkey);
}

void cpu_roce_close(cpu_roce_transceiver_t handle) {
    if (handle != nullptr) guarded([&] { of(handle)->close(); });
}

void cpu_roce_blocking_monitor(cpu_roce_transceiver_t handle) {
    if (handle != nullptr) guarded([&] { of(handle)->monitor(); });
}

void cpu_roce_set_local_ip(cpu_roce_transceiver_t handle, const char* local_ip) {
    if (handle != nullptr) guarded([&] { (void)of(handle)->set_local_ip(text_or_empty(local_ip)); });
}

uint32_t cpu_roce_get_qp_number(cpu_roce_transceiver_t handle) {
    return of_ring(handle, std::uint32_t{0}, [](auto& ring) { return ring.local().queue_pair.value(); });
}

uint32_t cpu_roce_get_rkey(cpu_roce_transceiver_t handle) {
    return of_ring(handle, std::uint32_t{0}, [](auto& ring) { return ring.local().region.key.value; });
}

uint64_t cpu_roce_get_buffer_addr(cpu_roce_transceiver_t) {
    return 0;
}

void* cpu_roce_get_rx_ring_data_addr(cpu_roce_transceiver_t handle) {
    return of_ring(handle, static_cast<void*>(nullptr),
                   [](auto& ring) -> void* { return ring.rx_data().data(); });
}

uint64_t* cpu_roce_get_rx_ring_flag_addr(cpu_roce_transceiver_t handle) {
    return of_ring(handle, static_cast<uint64_t*>(nullptr), [](auto& ring) { return ring.rx_flags(); });
}

void* cpu_roce_get_tx_ring_data_addr(cpu_roce_transceiver_t handle) {
    return of_ring(handle, static_cast<void*>(nullptr),
                   [](auto& ring) -> void* { return ring.tx_data().data(); });
}

uint64_t* cpu_roce_get_tx_ring_flag_addr(cpu_roce_transceiver_t handle) {
    return of_ring(handle, static_cast<uint64_t*>(nullptr), [](auto& ring) { return ring.tx_flags(); });
}

size_t cpu_roce_get_page_size(cpu_roce_transceiver_t handle) {
    return handle != nullptr ? of(handle)->settings().ring.slot_size : 0;
}

unsigned cpu_roce_get_num_pages(cpu_roce_transceiver_t handle) {
    return handle != nullptr ? of(handle)->settings().ring.slots : 0;
}

void cpu_roce_set_unified_dispatch(cpu_roce_transceiver_t handle, cpu_roce_unified_dispatch_fn_t fn,
                                   void* context) {
    if (handle != nullptr) guarded([&] { of(handle)->set_dispatch(fn, context); });
}

int cpu_roce_rx_poll(cpu_roce_transceiver_t handle, uint32_t* out_slot) {
    if (handle == nullptr || out_slot == nullptr) return 0;
    return guarded(0, [&] { return of(handle)->rx_poll(*out_slot) ? 1 : 0; });
}

int cpu_roce_tx_publish(cpu_roce_transceiver_t handle, uint32_t slot) {
    if (handle == nullptr) return 0;
    return guarded(0, [&] { return of(handle)->tx_publish(slot) ? 1 : 0; });
}

const char* rocio_cpu_roce_last_error(cpu_roce_transceiver_t handle) {
    if (handle == nullptr) return "";
    return guarded("", [&] {
        thread_local std::string text;
        text = of(handle)->last_error();
        return text.c_str();
    });
}

int rocio_cpu_roce_get_statistics(cpu_roce_transceiver_t handle, rocio_cpu_roce_statistics_t* out) {
    if (handle == nullptr || out == nullptr || out->size < sizeof out->size) return 0;
    return guarded(0, [&] {
        rocio_cpu_roce_statistics_t all{};
        all.size = out->size;
        if (const auto ring = of(handle)->ring()) {
            const auto s = ring->snapshot();
            all.received = s.received;
            all.sent = s.sent;
            all.overwritten = s.overwritten;
            all.bad_flag = s.bad_flag;
            all.bad_immediate = s.bad_immediate;
            all.send_errors = s.send_errors;
            all.receive_errors = s.receive_errors;
            all.receives_posted = s.receives_posted;
            all.rx_held = s.rx_held;
            all.tx_in_flight = s.tx_in_flight;
            all.connected = s.state == "connected" ? 1 : 0;
        }
        std::memcpy(out, &all, std::min(out->size, sizeof all));
        return 1;
    });
}

int rocio_cpu_roce_set_option(cpu_roce_transceiver_t handle, const char* name, const char* value) {
    if (handle == nullptr || name == nullptr || value == nullptr) return 0;
    return guarded(0, [&] { return of(handle)->set_option(name, value) ? 1 : 0; });
}

void rocio_cpu_roce_notify(cpu_roce_transceiver_t handle) {
    if (handle != nullptr) guarded([&] { of(handle)->notify(); });
}

} // extern "C"
