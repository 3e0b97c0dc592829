/* Every function of the C interface, in C: refusals, wrong order, and messages in every mode. */
#include "c_test.h"

#include <rocio/c/roce_wrapper.h>

#include <pthread.h>
#include <string.h>

enum mode { DUPLEX, FORWARD, RX_ONLY, TX_ONLY, UNIFIED };

static cpu_roce_transceiver_t make(const char* device, enum mode mode, cpu_roce_tx_mode_t tx_mode) {
    return cpu_roce_create_transceiver(device, 1, 2, 64, 256, 8, "127.97.0.9", mode == FORWARD,
                                       mode == RX_ONLY, mode == TX_ONLY, mode == UNIFIED, tx_mode, 0, 0);
}

static void* run_monitor(void* handle) {
    cpu_roce_blocking_monitor(handle);
    return NULL;
}

static void null_handles_are_harmless(void) {
    uint32_t slot = 7;
    rocio_cpu_roce_statistics_t statistics = {.size = sizeof statistics};
    cpu_roce_destroy_transceiver(NULL);
    cpu_roce_close(NULL);
    cpu_roce_blocking_monitor(NULL);
    cpu_roce_set_local_ip(NULL, "127.0.0.1");
    cpu_roce_set_unified_dispatch(NULL, NULL, NULL);
    rocio_cpu_roce_notify(NULL);
    CHECK(cpu_roce_setup(NULL) == 0);
    CHECK(cpu_roce_start(NULL) == 0);
    CHECK(cpu_roce_connect(NULL, 2, "127.0.0.1", 1) == 0);
    CHECK(cpu_roce_get_qp_number(NULL) == 0);
    CHECK(cpu_roce_get_rkey(NULL) == 0);
    CHECK(cpu_roce_get_buffer_addr(NULL) == 0);
    CHECK(cpu_roce_get_rx_ring_data_addr(NULL) == NULL);
    CHECK(cpu_roce_get_rx_ring_flag_addr(NULL) == NULL);
    CHECK(cpu_roce_get_tx_ring_data_addr(NULL) == NULL);
    CHECK(cpu_roce_get_tx_ring_flag_addr(NULL) == NULL);
    CHECK(cpu_roce_get_page_size(NULL) == 0);
    CHECK(cpu_roce_get_num_pages(NULL) == 0);
    CHECK(cpu_roce_rx_poll(NULL, &slot) == 0 && slot == 7);
    CHECK(cpu_roce_tx_publish(NULL, 0) == 0);
    CHECK(rocio_cpu_roce_last_error(NULL)[0] == 0);
    CHECK(rocio_cpu_roce_get_statistics(NULL, &statistics) == 0);
    CHECK(rocio_cpu_roce_set_option(NULL, "cpu", "0") == 0);
}

static void create_refuses_what_cannot_be(void) {
    const char* d = "soft:127.97.1.1";
    const cpu_roce_tx_mode_t send = CPU_ROCE_TX_MODE_RDMA_SEND;
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 64, 256, 8, "127.97.1.2", 1, 1, 0, 0, send, 0, 0) == NULL);
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 64, 256, 8, "127.97.1.2", 0, 0, 1, 1, send, 0, 0) == NULL);
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 64, 256, 0, "127.97.1.2", 0, 0, 0, 0, send, 0, 0) == NULL);
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 64, 256, 6, "127.97.1.2", 0, 0, 0, 0, send, 0, 0) == NULL);
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 0, 256, 8, "127.97.1.2", 0, 0, 0, 0, send, 0, 0) == NULL);
    CHECK(cpu_roce_create_transceiver(d, 1, 2, 257, 256, 8, "127.97.1.2", 0, 0, 0, 0, send, 0, 0) == NULL);
    /* No names, and WRITE without base and key: refused later, not here. */
    cpu_roce_transceiver_t nameless = cpu_roce_create_transceiver(NULL, 1, 2, 64, 256, 8, NULL, 0, 0, 0, 0,
                                                                  CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM, 0, 0);
    CHECK(nameless != NULL);
    CHECK(cpu_roce_setup(nameless) == 0);
    CHECK(rocio_cpu_roce_last_error(nameless)[0] != 0);
    cpu_roce_destroy_transceiver(nameless);
}

static void wrong_order_is_refused(void) {
    uint32_t slot = 0;
    cpu_roce_transceiver_t t = make("soft:127.97.2.1", DUPLEX, CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM);
    CHECK(t != NULL);
    CHECK(cpu_roce_get_page_size(t) == 256 && cpu_roce_get_num_pages(t) == 8);
    CHECK(cpu_roce_get_qp_number(t) == 0 && cpu_roce_get_rkey(t) == 0);
    CHECK(cpu_roce_get_rx_ring_data_addr(t) == NULL && cpu_roce_get_tx_ring_flag_addr(t) == NULL);
    CHECK(cpu_roce_connect(t, 2, "127.97.2.2", 1) == 0);
    cpu_roce_blocking_monitor(t); /* returns at once */
    cpu_roce_close(t);
    CHECK(cpu_roce_setup(t) == 1 && cpu_roce_setup(t) == 1);
    CHECK(cpu_roce_get_qp_number(t) >= 2 && cpu_roce_get_rkey(t) != 0);
    CHECK(cpu_roce_get_rx_ring_data_addr(t) != NULL && cpu_roce_get_tx_ring_data_addr(t) != NULL);
    CHECK(cpu_roce_rx_poll(t, &slot) == 0 && cpu_roce_tx_publish(t, 0) == 0); /* not unified */
    CHECK(cpu_roce_connect(t, 2, "127.97.2.2", 0) == 0);                      /* WRITE without a key */
    CHECK(cpu_roce_get_qp_number(t) == 0);                                    /* everything was released */
    CHECK(cpu_roce_setup(t) == 1);
    CHECK(cpu_roce_connect(t, 2, "not an address", 1) == 0);
    CHECK(cpu_roce_setup(t) == 1);
    CHECK(cpu_roce_connect(t, 2, "127.97.2.2", 1) == 1);
    CHECK(cpu_roce_connect(t, 0, NULL, 0) == 1); /* connected already: the arguments are ignored */
    cpu_roce_close(t);
    cpu_roce_close(t);
    cpu_roce_destroy_transceiver(t);
}

static void the_local_ip_chooses_the_gid(void) {
    cpu_roce_transceiver_t t = make("soft:127.97.3.1", DUPLEX, CPU_ROCE_TX_MODE_RDMA_SEND);
    cpu_roce_set_local_ip(t, "127.97.3.1");
    cpu_roce_set_local_ip(t, "nonsense"); /* the former one stays */
    CHECK(cpu_roce_setup(t) == 1);
    cpu_roce_destroy_transceiver(t);
    t = make("soft:127.97.3.1", DUPLEX, CPU_ROCE_TX_MODE_RDMA_SEND);
    cpu_roce_set_local_ip(t, "127.97.3.77"); /* not the device's */
    CHECK(cpu_roce_setup(t) == 0);
    CHECK(strstr(rocio_cpu_roce_last_error(t), "127.97.3.77") != NULL);
    cpu_roce_set_local_ip(t, NULL);
    CHECK(cpu_roce_setup(t) == 1);
    cpu_roce_destroy_transceiver(t);
}

static void options_are_checked(void) {
    cpu_roce_transceiver_t t = make("soft:127.97.4.1", DUPLEX, CPU_ROCE_TX_MODE_RDMA_SEND);
    CHECK(rocio_cpu_roce_set_option(t, "rearm", "release") == 1);
    CHECK(rocio_cpu_roce_set_option(t, "rearm", "never") == 0);
    CHECK(rocio_cpu_roce_set_option(t, "polling", "park") == 1);
    CHECK(rocio_cpu_roce_set_option(t, "polling", "") == 0);
    CHECK(rocio_cpu_roce_set_option(t, "cpu", "0") == 1);
    CHECK(rocio_cpu_roce_set_option(t, "cpu", "first") == 0);
    CHECK(rocio_cpu_roce_set_option(t, "cpu", "") == 1);
    CHECK(rocio_cpu_roce_set_option(t, "speed", "high") == 0);
    setenv("ROCIO_CPU_ROCE_POLLING", "sometimes", 1);
    CHECK(cpu_roce_setup(t) == 0);
    setenv("ROCIO_CPU_ROCE_POLLING", "hybrid", 1);
    CHECK(cpu_roce_setup(t) == 1);
    unsetenv("ROCIO_CPU_ROCE_POLLING");
    cpu_roce_destroy_transceiver(t);
}

/* Two transceivers that know each other. */
struct pair {
    cpu_roce_transceiver_t a, b;
    pthread_t a_monitor, b_monitor;
    int b_has_monitor;
};

static void join(struct pair* p, const char* a_ip, const char* b_ip, cpu_roce_transceiver_t b) {
    char a_name[64];
    snprintf(a_name, sizeof a_name, "soft:%s", a_ip);
    p->a = make(a_name, DUPLEX, CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM);
    p->b = b;
    CHECK(cpu_roce_setup(p->a) == 1 && cpu_roce_setup(p->b) == 1);
    CHECK(cpu_roce_connect(p->a, cpu_roce_get_qp_number(p->b), b_ip, cpu_roce_get_rkey(p->b)) == 1);
    CHECK(cpu_roce_connect(p->b, cpu_roce_get_qp_number(p->a), a_ip, cpu_roce_get_rkey(p->a)) == 1);
    CHECK(pthread_create(&p->a_monitor, NULL, run_monitor, p->a) == 0);
    p->b_has_monitor = 0;
}

static void serve(struct pair* p) {
    CHECK(pthread_create(&p->b_monitor, NULL, run_monitor, p->b) == 0);
    p->b_has_monitor = 1;
}

static void part(struct pair* p) {
    cpu_roce_close(p->a);
    cpu_roce_close(p->b);
    pthread_join(p->a_monitor, NULL);
    if (p->b_has_monitor) pthread_join(p->b_monitor, NULL);
    CHECK(cpu_roce_get_qp_number(p->a) == 0);
    cpu_roce_destroy_transceiver(p->a);
    cpu_roce_destroy_transceiver(p->b);
}

static void publish(cpu_roce_transceiver_t t, unsigned slot, const char* text) {
    char* data = (char*)cpu_roce_get_tx_ring_data_addr(t) + slot * cpu_roce_get_page_size(t);
    uint64_t* flag = cpu_roce_get_tx_ring_flag_addr(t) + slot;
    wait_for_flag(flag, 0);
    snprintf(data, 64, "%s", text);
    store(flag, (uint64_t)(uintptr_t)data);
}

static void expect(cpu_roce_transceiver_t t, unsigned slot, const char* text) {
    char* data = (char*)cpu_roce_get_rx_ring_data_addr(t) + slot * cpu_roce_get_page_size(t);
    uint64_t* flag = cpu_roce_get_rx_ring_flag_addr(t) + slot;
    wait_for_flag(flag, 1);
    CHECK(load(flag) == (uint64_t)(uintptr_t)data);
    CHECK(strcmp(data, text) == 0);
    store(flag, 0);
}

static void duplex_carries_messages_by_flags(void) {
    struct pair p;
    rocio_cpu_roce_statistics_t s = {.size = sizeof s};
    join(&p, "127.97.5.1", "127.97.5.2", make("soft:127.97.5.2", DUPLEX, CPU_ROCE_TX_MODE_RDMA_SEND));
    serve(&p);
    for (unsigned i = 0; i < 40; ++i) {
        char text[32];
        snprintf(text, sizeof text, "message %u", i);
        publish(p.a, i % 8, text);
        expect(p.b, i % 8, text);
        publish(p.b, i % 8, "back");
        expect(p.a, i % 8, "back");
    }
    CHECK(rocio_cpu_roce_get_statistics(p.b, &s) == 1);
    CHECK(s.received == 40 && s.sent >= 39 && s.connected == 1 && s.overwritten == 0);
    s.size = 2 * sizeof(size_t);
    s.sent = 99;
    CHECK(rocio_cpu_roce_get_statistics(p.a, &s) == 1 &&
          s.sent == 99); /* no more than asked for is written */
    part(&p);
}

static void forward_returns_what_comes(void) {
    struct pair p;
    join(&p, "127.97.6.1", "127.97.6.2", make("soft:127.97.6.2", FORWARD, CPU_ROCE_TX_MODE_RDMA_SEND));
    serve(&p);
    for (unsigned i = 0; i < 24; ++i) {
        publish(p.a, i % 8, "boomerang");
        expect(p.a, i % 8, "boomerang");
    }
    part(&p);
}

static void one_way_modes_work(void) {
    struct pair p;
    join(&p, "127.97.7.1", "127.97.7.2", make("soft:127.97.7.2", RX_ONLY, CPU_ROCE_TX_MODE_RDMA_SEND));
    serve(&p);
    publish(p.a, 3, "one way");
    expect(p.b, 3, "one way");
    part(&p);
    join(&p, "127.97.7.3", "127.97.7.4", make("soft:127.97.7.4", TX_ONLY, CPU_ROCE_TX_MODE_RDMA_SEND));
    serve(&p);
    publish(p.b, 0, "the other way");
    expect(p.a, 0, "the other way");
    part(&p);
}

static size_t answer(void* context, const void* rx_slot, void* tx_slot, size_t slot_size) {
    CHECK(slot_size == 256);
    ++*(unsigned*)context;
    if (strcmp(rx_slot, "no answer") == 0) return 0;
    snprintf(tx_slot, slot_size, "re: %s", (const char*)rx_slot);
    return 1000; /* more than a slot is cut to it */
}

static void unified_calls_the_function(void) {
    struct pair p;
    unsigned calls = 0;
    cpu_roce_transceiver_t b = make("soft:127.97.8.2", UNIFIED, CPU_ROCE_TX_MODE_RDMA_SEND);
    cpu_roce_set_unified_dispatch(b, answer, &calls);
    join(&p, "127.97.8.1", "127.97.8.2", b);
    serve(&p);
    for (unsigned i = 0; i < 20; ++i) {
        publish(p.a, (2 * i) % 8, "no answer");
        publish(p.a, (2 * i + 1) % 8, "hello");
        expect(p.a, i % 8, "re: hello"); /* a SEND comes into the next slot, whatever it answers */
    }
    part(&p);
    CHECK(calls == 40);
}

static void unified_is_polled(void) {
    struct pair p;
    uint32_t slot = 99;
    join(&p, "127.97.9.1", "127.97.9.2", make("soft:127.97.9.2", UNIFIED, CPU_ROCE_TX_MODE_RDMA_SEND));
    cpu_roce_blocking_monitor(p.b); /* returns at once */
    CHECK(cpu_roce_rx_poll(p.b, &slot) == 0 && slot == 99);
    for (unsigned i = 0; i < 20; ++i) {
        const time_t until = time(NULL) + 10;
        publish(p.a, i % 8, "poll");
        while (cpu_roce_rx_poll(p.b, &slot) == 0) CHECK(time(NULL) <= until);
        CHECK(slot == i % 8);
        char* tx = (char*)cpu_roce_get_tx_ring_data_addr(p.b) + slot * 256;
        snprintf(tx, 64, "polled %u", i);
        CHECK(cpu_roce_tx_publish(p.b, slot) == 1);
        char text[32];
        snprintf(text, sizeof text, "polled %u", i);
        expect(p.a, i % 8, text);
    }
    CHECK(cpu_roce_tx_publish(p.b, 8) == 0);
    part(&p);
}

static void a_second_monitor_returns_at_once(void) {
    struct pair p;
    join(&p, "127.97.10.1", "127.97.10.2", make("soft:127.97.10.2", DUPLEX, CPU_ROCE_TX_MODE_RDMA_SEND));
    serve(&p);
    publish(p.a, 0, "both run");
    expect(p.b, 0, "both run");
    cpu_roce_blocking_monitor(p.a);
    part(&p);
}

static void start_is_setup_and_connect(void) {
    cpu_roce_transceiver_t t =
        cpu_roce_create_transceiver("soft:127.97.11.1", 1, 5, 64, 256, 8, "127.97.11.2", 0, 0, 0, 0,
                                    CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM, 0, 1234);
    CHECK(cpu_roce_start(t) == 1 && cpu_roce_start(t) == 1);
    cpu_roce_destroy_transceiver(t);
    t = cpu_roce_create_transceiver("soft:127.97.11.1", 1, 5, 64, 256, 8, "127.97.11.2", 0, 0, 0, 0,
                                    CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM, 0, 0);
    CHECK(cpu_roce_start(t) == 0);
    cpu_roce_destroy_transceiver(t);
}

int main(void) {
    null_handles_are_harmless();
    create_refuses_what_cannot_be();
    wrong_order_is_refused();
    the_local_ip_chooses_the_gid();
    options_are_checked();
    duplex_carries_messages_by_flags();
    forward_returns_what_comes();
    one_way_modes_work();
    unified_calls_the_function();
    unified_is_polled();
    a_second_monitor_returns_at_once();
    start_is_setup_and_connect();
    puts("all passed");
    return 0;
}
