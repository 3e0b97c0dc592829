/* A caller in C, by the interface that CUDA-Q's own transport has: agrees on a peer over TCP (12 bytes each
 * way), writes a request into the peer's ring, reads the answer from its own. Start a service first: rocio
 * serve
 *
 * usage: 07_c_client [DEVICE LOCAL_IP [HOST PORT]] */
#include <rocio/c/roce_wrapper.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 64, SLOT_SIZE = 384, CALLS = 100 }; /* as the service has them */

struct request { /* little-endian, as is every machine this runs on */
    uint32_t magic, function_id, arg_len, request_id;
    uint64_t timestamp;
    int64_t a, b;
};
struct response {
    uint32_t magic;
    int32_t status;
    uint32_t result_len, request_id;
    uint64_t timestamp;
    int64_t sum;
};

static void fail(const char* what) {
    fprintf(stderr, "07_c_client: %s\n", what);
    exit(1);
}

/* All or nothing, both ways. */
static int exchange(int fd, const uint32_t* mine, uint32_t* theirs) {
    if (send(fd, mine, 12, MSG_NOSIGNAL) != 12) return 0;
    return recv(fd, theirs, 12, MSG_WAITALL) == 12;
}

static void rendezvous(cpu_roce_transceiver_t ring, const char* local_ip, const char* host, unsigned port) {
    const uint32_t mine[3] = {htonl(cpu_roce_get_qp_number(ring)), htonl(cpu_roce_get_rkey(ring)),
                              inet_addr(local_ip)};
    uint32_t theirs[3];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1) fail("HOST is no IPv4 address");
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct timeval limit = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr*)&to, sizeof to) != 0)
        fail("nobody listens there: start rocio serve");
    if (!exchange(fd, mine, theirs)) fail("the service said too little");
    close(fd);
    char address[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &theirs[2], address, sizeof address);
    if (!cpu_roce_connect(ring, ntohl(theirs[0]), address, ntohl(theirs[1])))
        fail(rocio_cpu_roce_last_error(ring));
}

static uint64_t load(uint64_t* flag) {
    return atomic_load_explicit((_Atomic uint64_t*)flag, memory_order_acquire);
}
static void store(uint64_t* flag, uint64_t value) {
    atomic_store_explicit((_Atomic uint64_t*)flag, value, memory_order_release);
}

/* A UC ring loses without telling: every wait needs an end. */
static uint64_t wait_for(uint64_t* flag, int set) {
    const time_t end = time(NULL) + 5;
    for (;;) {
        const uint64_t value = load(flag);
        if ((value != 0) == set) return value;
        if (time(NULL) > end) fail(set ? "no answer" : "the request did not leave");
    }
}

static int64_t add(cpu_roce_transceiver_t ring, uint32_t number, int64_t a, int64_t b) {
    const unsigned slot = number % SLOTS;
    uint64_t* tx_flag = cpu_roce_get_tx_ring_flag_addr(ring) + slot;
    uint64_t* rx_flag = cpu_roce_get_rx_ring_flag_addr(ring) + slot;
    unsigned char* tx = (unsigned char*)cpu_roce_get_tx_ring_data_addr(ring) + (size_t)slot * SLOT_SIZE;
    /* FNV-1a of "addThem". */
    const struct request request = {0x43555152, 0x5a6c901e, 16, number, 0, a, b};
    struct response response;

    wait_for(tx_flag, 0);
    memcpy(tx, &request, sizeof request);
    store(tx_flag, (uint64_t)(uintptr_t)tx);
    rocio_cpu_roce_notify(ring);
    memcpy(&response, (const void*)(uintptr_t)wait_for(rx_flag, 1), sizeof response);
    store(rx_flag, 0);
    rocio_cpu_roce_notify(ring);
    if (response.magic != 0x43555153 || response.request_id != number) fail("an answer to another request");
    if (response.status != 0 || response.result_len != 8) fail("the service refused");
    return response.sum;
}

static void* monitor(void* ring) {
    cpu_roce_blocking_monitor(ring);
    return NULL;
}

int main(int argc, char** argv) {
    const char* device = argc > 2 ? argv[1] : "soft:127.0.7.2";
    const char* local_ip = argc > 2 ? argv[2] : "127.0.7.2";
    const char* host = argc > 4 ? argv[3] : "127.0.0.1";
    const unsigned port = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 18516;

    cpu_roce_transceiver_t ring =
        cpu_roce_create_transceiver(device, 1, 0, sizeof(struct request), SLOT_SIZE, SLOTS, "", 0, 0, 0, 0,
                                    CPU_ROCE_TX_MODE_RDMA_WRITE_WITH_IMM, 0, 0);
    if (!ring) fail("create: impossible arguments");
    cpu_roce_set_local_ip(ring, local_ip);
    if (!cpu_roce_setup(ring)) fail(rocio_cpu_roce_last_error(ring));
    rendezvous(ring, local_ip, host, port);
    pthread_t thread;
    if (pthread_create(&thread, NULL, monitor, ring) != 0) fail("no thread");

    int64_t sum = 0;
    for (uint32_t i = 0; i < CALLS; ++i) sum = add(ring, i, sum, i);
    printf("the service added 0 to %d: %lld\n", CALLS - 1, (long long)sum);

    cpu_roce_close(ring);
    pthread_join(thread, NULL);
    cpu_roce_destroy_transceiver(ring);
    return sum == CALLS * (CALLS - 1) / 2 ? 0 : 1;
}
