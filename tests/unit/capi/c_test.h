/* What both C programs use. */
#ifndef ROCIO_TESTS_C_TEST_H
#define ROCIO_TESTS_C_TEST_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static uint64_t load(uint64_t* flag) {
    return atomic_load_explicit((_Atomic uint64_t*)flag, memory_order_acquire);
}

static void store(uint64_t* flag, uint64_t value) {
    atomic_store_explicit((_Atomic uint64_t*)flag, value, memory_order_release);
}

/* Spins until the flag is set (or clear), at most ten seconds. */
static void wait_for_flag(uint64_t* flag, int set) {
    const time_t until = time(NULL) + 10;
    while ((load(flag) != 0) != set) {
        CHECK(time(NULL) <= until);
        sched_yield(); /* the monitors spin too, and processors may be fewer */
    }
}

#endif
