#pragma once

#include <rocio/rpc/function_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// One function of a HOST_CALL table, laid out as CUDA-Q's `cudaq_function_entry_t` on 64-bit machines. The
/// handler writes its whole response, header included, into the send slot; `slot_size` is that of either
/// slot.
struct host_call_entry {
    static constexpr std::uint8_t host_call = 2; ///< The dispatch mode of functions that run here.

    void (*handler)(const void* rx_slot, void* tx_slot, std::size_t slot_size) = nullptr;
    std::uint32_t function_id = 0;
    std::uint8_t dispatch_mode = 0;
    std::array<std::uint8_t, 3> reserved{};
    std::array<std::byte, 148> schema{}; ///< Never looked at when a request comes, as in the original.
};
static_assert(sizeof(host_call_entry) == 168 && offsetof(host_call_entry, function_id) == 8 &&
              offsetof(host_call_entry, dispatch_mode) == 12 && offsetof(host_call_entry, schema) == 16);

/// Where a table of handlers is found.
struct handler_source {
    std::string library; ///< A file, or a name that the dynamic linker finds.
    /// A function `void f(cudaq_function_entry_t* entries)` that fills the table, such as the original's
    /// `setup_rpc_increment_function_table_host`, or the table itself as an object. The library's symbol
    /// table tells which of both it is.
    std::string symbol;
    /// Entries. Default: 1 for a function, as many as the object has for an object.
    std::optional<std::uint32_t> count{};

    static constexpr std::uint32_t most_entries = 256;
};

/// Reads "LIB.so:SYMBOL" or "LIB.so:SYMBOL:COUNT". Throws rocio::exception(errc::invalid_argument).
handler_source parse_handler_source(const std::string& text);

/// Loads the library, which runs its initialisers, and adds its functions to the table. It stays loaded as
/// long as they live. Throws rocio::exception(errc::invalid_argument) with a sentence when there is no such
/// library or symbol, when the table has more or fewer entries than told, or one that is no HOST_CALL
/// function. An answer must carry the response magic and a status of 0 or above: else there is none; request
/// id and timestamp are echoed whatever the handler does.
void add_handlers(rpc::function_table& table, const handler_source& source);

} // namespace rocio::tools
