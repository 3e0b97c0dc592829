// A user's handler library as CUDA-Q's programs have it: tables of HOST_CALL functions, laid out as
// cudaq_function_entry_t, without anything of rocio.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

struct type_desc {
    std::uint8_t type_id, reserved[3];
    std::uint32_t size_bytes, num_elements;
};
struct function_entry {
    void (*host_fn)(const void* rx_slot, void* tx_slot, std::size_t slot_size);
    std::uint32_t function_id;
    std::uint8_t dispatch_mode, reserved[3];
    std::uint8_t num_args, num_results;
    std::uint16_t more;
    type_desc args[8], results[4];
};
static_assert(sizeof(function_entry) == 168);

constexpr std::uint8_t device_call = 0, host_call = 2;

struct header {
    std::uint32_t magic, function_or_status, length, request_id;
    std::uint64_t timestamp;
};

/// Answers with `length` bytes of `fill`.
void answer(const void* rx, void* tx, std::uint32_t length, std::uint8_t fill, std::int32_t status = 0) {
    header request{}, response{};
    std::memcpy(&request, rx, sizeof request);
    response.magic = 0x43555153;
    std::memcpy(&response.function_or_status, &status, sizeof status);
    response.length = length;
    response.request_id = request.request_id;
    response.timestamp = request.timestamp;
    std::memcpy(tx, &response, sizeof response);
    std::memset(static_cast<char*>(tx) + sizeof response, fill, length);
}

void give_a(const void* rx, void* tx, std::size_t) {
    answer(rx, tx, 4, 0xA0);
}
void give_b(const void* rx, void* tx, std::size_t) {
    answer(rx, tx, 4, 0xB0);
}
/// As long as the slot allows.
void fill_slot(const void* rx, void* tx, std::size_t slot_size) {
    answer(rx, tx, static_cast<std::uint32_t>(slot_size - sizeof(header)), 0xCC);
}
void refuse_with_seven(const void* rx, void* tx, std::size_t) {
    answer(rx, tx, 0, 0, 7);
}
void write_nothing(const void*, void*, std::size_t) {}
/// Of a library that knows no request id.
void forget_the_id(const void* rx, void* tx, std::size_t) {
    answer(rx, tx, 4, 0xD0);
    std::memset(static_cast<char*>(tx) + 12, 0, 12);
}

void fill(function_entry& entry, std::uint32_t id, decltype(function_entry::host_fn) function,
          std::uint8_t mode = host_call) {
    std::memset(&entry, 0, sizeof entry);
    entry.host_fn = function;
    entry.function_id = id;
    entry.dispatch_mode = mode;
    // What the original's own set-up functions leave in the schema: sizes of 0.
    entry.num_args = entry.num_results = 1;
    entry.args[0].type_id = entry.results[0].type_id = 0x20;
}

} // namespace

extern "C" {

extern function_entry handler_table[2];
function_entry handler_table[2] = {
    {give_a, 0x1001, host_call, {}, 0, 0, 0, {}, {}},
    {give_b, 0x1002, host_call, {}, 0, 0, 0, {}, {}},
};

void setup_one(function_entry* entries);
void setup_one(function_entry* entries) {
    fill(entries[0], 0x1001, give_a);
}

void setup_five(function_entry* entries);
void setup_five(function_entry* entries) {
    fill(entries[0], 0x2001, give_b);
    fill(entries[1], 0x2002, fill_slot);
    fill(entries[2], 0x2003, refuse_with_seven);
    fill(entries[3], 0x2004, write_nothing);
    fill(entries[4], 0x2005, forget_the_id);
}

/// fnv1a("rpc_increment"): takes the place of the built-in one.
void setup_other_increment(function_entry* entries);
void setup_other_increment(function_entry* entries) {
    fill(entries[0], 0x191b6322, give_a);
}

void setup_on_a_gpu(function_entry* entries);
void setup_on_a_gpu(function_entry* entries) {
    fill(entries[0], 0x3001, give_a, device_call);
}

} // extern "C"
