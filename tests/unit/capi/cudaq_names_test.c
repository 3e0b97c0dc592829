/* A bridge as existing builds have it: their header's name, their library's name, their order of calls; and a
 * caller beside it that asks so many times. usage: cudaq_names_test --count N */
#include "c_test.h"

#include <cudaq/realtime/cpu_transport/roce_wrapper.h>
#include <pthread.h>
#include <string.h>

enum { PAGE = 256, PAGES = 64 };

static void* monitor(void* handle) {
    cpu_roce_blocking_monitor(handle);
    return NULL;
}

struct dispatcher {
    cpu_roce_transceiver_t bridge;
    _Atomic int stop;
    unsigned long answered;
};

/* The dispatcher thread of a ring: takes slots in order, answers in the same slot. */
static void* dispatch(void* argument) {
    struct dispatcher* d = argument;
    uint64_t* rx_flags = cpu_roce_get_rx_ring_flag_addr(d->bridge);
    uint64_t* tx_flags = cpu_roce_get_tx_ring_flag_addr(d->bridge);
    unsigned char* tx = cpu_roce_get_tx_ring_data_addr(d->bridge);
    unsigned slot = 0;
    while (!atomic_load(&d->stop)) {
        const uint64_t request = load(&rx_flags[slot]);
        if (request == 0) {
            sched_yield();
            continue;
        }
        uint64_t value;
        memcpy(&value, (const void*)(uintptr_t)request, sizeof value);
        ++value;
        memcpy(tx + slot * PAGE, &value, sizeof value);
        store(&tx_flags[slot], (uint64_t)(uintptr_t)(tx + slot * PAGE));
        store(&rx_flags[slot], 0);
        ++d->answered;
        slot = (slot + 1) % PAGES;
    }
    return NULL;
}

int main(int argc, char** argv) {
    CHECK(argc == 3 && strcmp(argv[1], "--count") == 0);
    const unsigned long count = strtoul(argv[2], NULL, 10);
    cpu_roce_transceiver_t bridge =
        cpu_roce_create_transceiver("soft:127.98.1.1", 1, 0, 64, PAGE, PAGES, "127.98.1.2", 0, 0, 0, 0,
                                    CPU_ROCE_TX_MODE_SEND_FOR_FPGA, 0, 0);
    cpu_roce_transceiver_t caller =
        cpu_roce_create_transceiver("soft:127.98.1.2", 1, 0, 64, PAGE, PAGES, "127.98.1.1", 0, 0, 0, 0,
                                    CPU_ROCE_TX_MODE_WRITE_WITH_IMM_FOR_PEER, 0, 0);
    CHECK(cpu_roce_setup(bridge) == 1 && cpu_roce_setup(caller) == 1);
    CHECK(cpu_roce_connect(bridge, cpu_roce_get_qp_number(caller), "127.98.1.2", cpu_roce_get_rkey(caller)) ==
          1);
    CHECK(cpu_roce_connect(caller, cpu_roce_get_qp_number(bridge), "127.98.1.1", cpu_roce_get_rkey(bridge)) ==
          1);

    struct dispatcher d = {.bridge = bridge};
    pthread_t threads[3];
    CHECK(pthread_create(&threads[0], NULL, monitor, bridge) == 0);
    CHECK(pthread_create(&threads[1], NULL, monitor, caller) == 0);
    CHECK(pthread_create(&threads[2], NULL, dispatch, &d) == 0);

    uint64_t* rx_flags = cpu_roce_get_rx_ring_flag_addr(caller);
    uint64_t* tx_flags = cpu_roce_get_tx_ring_flag_addr(caller);
    unsigned char* rx = cpu_roce_get_rx_ring_data_addr(caller);
    unsigned char* tx = cpu_roce_get_tx_ring_data_addr(caller);
    const unsigned window = 32; /* many on their way: four threads share the processors */
    for (unsigned long sent = 0, taken = 0; taken < count;) {
        for (; sent < count && sent < taken + window; ++sent) {
            const unsigned slot = (unsigned)(sent % PAGES);
            const uint64_t value = 3 * sent;
            wait_for_flag(&tx_flags[slot], 0);
            memcpy(tx + slot * PAGE, &value, sizeof value);
            store(&tx_flags[slot], (uint64_t)(uintptr_t)(tx + slot * PAGE));
        }
        const unsigned slot = (unsigned)(taken % PAGES);
        uint64_t value;
        wait_for_flag(&rx_flags[slot], 1);
        memcpy(&value, rx + slot * PAGE, sizeof value);
        CHECK(value == 3 * taken + 1);
        store(&rx_flags[slot], 0);
        ++taken;
    }

    atomic_store(&d.stop, 1);
    pthread_join(threads[2], NULL);
    cpu_roce_close(bridge);
    cpu_roce_close(caller);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK(d.answered == count);
    cpu_roce_destroy_transceiver(bridge);
    cpu_roce_destroy_transceiver(caller);
    printf("%lu requests answered\n", count);
    return 0;
}
