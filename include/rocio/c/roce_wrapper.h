/* SPDX-License-Identifier: BSL-1.0
 *
 * The C interface of CUDA-Q's CPU RoCE transport, over any rocio device: names, types, return values and
 * refusals are those of its roce_wrapper.h, both generations of the unified mode together. What rocio adds is
 * called rocio_cpu_roce_*.
 *
 * Device names: an ibverbs name ("mlx5_0", "rxe0") or "soft:ADDRESS" for rocio's user-space device.
 *
 * Order: create, [set_local_ip, options], start (or setup, exchange of numbers, connect), then a thread in
 * cpu_roce_blocking_monitor(), close, join that thread, destroy. Strings are copied.
 *
 * Thread safety: close() from any thread; the getters from any thread; rx_poll() and tx_publish() from one
 * thread; everything else from one thread at a time. No exception leaves a function; what went wrong is said
 * on stderr and by rocio_cpu_roce_last_error().
 */
#ifndef ROCIO_C_ROCE_WRAPPER_H
#define ROCIO_C_ROCE_WRAPPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* cpu_roce_transceiver_t;

typedef enum {
    CPU_ROCE_TX_MODE_RDMA_SEND = 0,
    CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM = 1,
    /* The names of older versions. */
    CPU_ROCE_TX_MODE_SEND_FOR_FPGA = 0,
    CPU_ROCE_TX_MODE_WRITE_WITH_IMM_FOR_PEER = 1
} cpu_roce_tx_mode_t;

/* Gives the number of bytes of the answer in tx_slot; 0: none. More than slot_size is cut to it. */
typedef size_t (*cpu_roce_unified_dispatch_fn_t)(void* context, const void* rx_slot, void* tx_slot,
                                                 size_t slot_size);

/* NULL when more than one of forward, rx_only, tx_only and unified is set, num_pages is no power of two, or
 * frame_size is 0 or above page_size. Opens no device. The peer's base address is taken as it is; its key may
 * come with connect. */
cpu_roce_transceiver_t cpu_roce_create_transceiver(const char* device_name, int ib_port, unsigned tx_ibv_qp,
                                                   size_t frame_size, size_t page_size, unsigned num_pages,
                                                   const char* peer_ip, int forward, int rx_only, int tx_only,
                                                   int unified, cpu_roce_tx_mode_t tx_mode,
                                                   uint64_t peer_rx_base_addr, uint32_t peer_rx_rkey);
void cpu_roce_destroy_transceiver(cpu_roce_transceiver_t handle);
/* setup, then connect with the numbers of create. 1, or 0. */
int cpu_roce_start(cpu_roce_transceiver_t handle);
/* 1, again 1; 0 when the device cannot be used: everything is undone then. */
int cpu_roce_setup(cpu_roce_transceiver_t handle);
/* 1, again 1 (the arguments are then ignored); 0: before setup, a WRITE ring without key, no IPv4 address, or
 * the device refuses; then everything is released and setup is needed again. */
int cpu_roce_connect(cpu_roce_transceiver_t handle, unsigned peer_qp, const char* peer_ip,
                     uint32_t peer_rx_rkey);
/* Idempotent; ends cpu_roce_blocking_monitor(). */
void cpu_roce_close(cpu_roce_transceiver_t handle);
/* Serves the rings until close. Returns at once when not connected, already running, or unified without a
 * callback. */
void cpu_roce_blocking_monitor(cpu_roce_transceiver_t handle);
/* Before setup: the IPv4 address of the GID to use; NULL or "" lets any do. What is no IPv4 address is
 * refused, and the former value stays. */
void cpu_roce_set_local_ip(cpu_roce_transceiver_t handle, const char* local_ip);

/* 0 and NULL before setup, after close and for a null handle; size and number of pages are known from create
 * on. */
uint32_t cpu_roce_get_qp_number(cpu_roce_transceiver_t handle);
uint32_t cpu_roce_get_rkey(cpu_roce_transceiver_t handle);
uint64_t
cpu_roce_get_buffer_addr(cpu_roce_transceiver_t handle); /* Always 0: the peer's addresses begin there. */
void* cpu_roce_get_rx_ring_data_addr(cpu_roce_transceiver_t handle);
uint64_t* cpu_roce_get_rx_ring_flag_addr(cpu_roce_transceiver_t handle);
void* cpu_roce_get_tx_ring_data_addr(cpu_roce_transceiver_t handle);
uint64_t* cpu_roce_get_tx_ring_flag_addr(cpu_roce_transceiver_t handle);
size_t cpu_roce_get_page_size(cpu_roce_transceiver_t handle);
unsigned cpu_roce_get_num_pages(cpu_roce_transceiver_t handle);

/* Unified mode, older generation: cpu_roce_blocking_monitor() calls `fn` for every message. */
void cpu_roce_set_unified_dispatch(cpu_roce_transceiver_t handle, cpu_roce_unified_dispatch_fn_t fn,
                                   void* context);
/* Unified mode, newer generation. 1: *out_slot has a message. 0: none, or the slot's send flag is not 0, or
 * what was published there has not left. */
int cpu_roce_rx_poll(cpu_roce_transceiver_t handle, uint32_t* out_slot);
/* 1: frame_size bytes of the slot are on their way. */
int cpu_roce_tx_publish(cpu_roce_transceiver_t handle, uint32_t slot);

/* ---- What rocio adds */

/* Why the last call failed; "" when none did. Valid until the next call with this handle. */
const char* rocio_cpu_roce_last_error(cpu_roce_transceiver_t handle);

typedef struct {
    size_t size; /* Set by the caller to sizeof(rocio_cpu_roce_statistics_t); no more than that is written. */
    uint64_t received;
    uint64_t sent;
    uint64_t overwritten; /* Messages that came into a slot which was still being read. */
    uint64_t bad_flag;    /* Send flags that are no address in a ring. */
    uint64_t bad_immediate;
    uint64_t send_errors;
    uint64_t receive_errors;
    uint32_t receives_posted;
    uint32_t rx_held;
    uint32_t tx_in_flight;
    uint32_t connected;
} rocio_cpu_roce_statistics_t;
/* 1, or 0 for a null argument or a size below that of its first member. */
int rocio_cpu_roce_get_statistics(cpu_roce_transceiver_t handle, rocio_cpu_roce_statistics_t* out);

/* Options, before setup; each also by the environment, which wins. 1, or 0 for a value that there is not.
 *   rearm    ROCIO_CPU_ROCE_REARM    "publish" (as CUDA-Q does; the default) or "release" (a slot that is
 * being read is not overwritten by a SEND) polling  ROCIO_CPU_ROCE_POLLING  "spin" (the default), "hybrid" or
 * "park"; with the last two a program that writes a flag calls rocio_cpu_roce_notify() cpu ROCIO_CPU_ROCE_CPU
 * number of the CPU for the thread in cpu_roce_blocking_monitor(); "" for none */
int rocio_cpu_roce_set_option(cpu_roce_transceiver_t handle, const char* name, const char* value);
/* A flag was written; wakes a monitor that waits. */
void rocio_cpu_roce_notify(cpu_roce_transceiver_t handle);

#ifdef __cplusplus
}
#endif

#endif
