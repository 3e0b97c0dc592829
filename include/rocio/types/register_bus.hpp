#pragma once

#include <rocio/types/error.hpp>

#include <concepts>
#include <cstdint>

namespace rocio {

namespace archetype {

struct register_value_handler {
    void operator()(error_code, std::uint32_t) {}
};
struct register_written_handler {
    void operator()(error_code) {}
};

} // namespace archetype

/// Reads and writes the 32-bit registers of a board, whatever carries the words: SRPv3 over UDP or RSSI,
/// rogue's memory bridge, the HSB control channel, a test.
///
/// - `async_read(address)` → `void(error_code, std::uint32_t)`: the register's value; 0 with an error.
/// - `async_write(address, value)` → `void(error_code)`: complete once the board has acknowledged it.
/// - `last_error()`: the sentence for the last failure, to be asked from its handler.
///
/// Addresses are in bytes and multiples of 4. Each operation ends within the bus's own deadline, never
/// completes inside the call, and supports `terminal` and `total` cancellation: what was sent may still be
/// carried out. A write may be carried out more than once where the bus repeats what was not answered. Users
/// of a bus have one operation outstanding at a time.
template <class B>
concept register_bus = requires(B& bus, const B& same, std::uint32_t address, std::uint32_t value) {
    bus.async_read(address, archetype::register_value_handler{});
    bus.async_write(address, value, archetype::register_written_handler{});
    bus.get_executor();
    { same.last_error() } -> std::convertible_to<error_info>;
};

} // namespace rocio
