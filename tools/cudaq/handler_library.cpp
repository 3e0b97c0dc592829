#include "cudaq/handler_library.hpp"

#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>
#include <rocio/types/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace rocio::tools {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw exception({errc::invalid_argument, "--handlers: " + why});
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

std::string hex(std::uint32_t value) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

using library_handle = std::shared_ptr<void>;

library_handle load(const std::string& name) {
    // Without a slash the dynamic linker would not look in the current folder.
    const bool here = name.find('/') == std::string::npos && std::filesystem::exists(name);
    void* const handle = ::dlopen((here ? "./" + name : name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) refuse("cannot load " + name + ": " + ::dlerror());
    return {handle, [](void* h) { ::dlclose(h); }};
}

struct symbol {
    void* address = nullptr;
    bool is_function = false;
    std::size_t size = 0; ///< Bytes of an object.
};

symbol find(void* library, const handler_source& source) {
    void* const address = ::dlsym(library, source.symbol.c_str());
    if (address == nullptr) refuse(source.library + " has no symbol " + source.symbol);
    Dl_info info{};
    void* entry = nullptr;
    if (::dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
        info.dli_saddr != address)
        refuse(source.symbol + " of " + source.library + " is neither a function nor an object");
    const auto& found = *static_cast<const ElfW(Sym)*>(entry);
    const auto type = ELF64_ST_TYPE(found.st_info); // the same bits for 32 and 64
    if (type == STT_FUNC || type == STT_GNU_IFUNC) return {address, true, 0};
    if (type == STT_OBJECT) return {address, false, found.st_size};
    refuse(source.symbol + " of " + source.library + " is neither a function nor an object");
}

std::vector<host_call_entry> ask(const symbol& function, const handler_source& source) {
    using fill = void (*)(host_call_entry*);
    const auto count = source.count.value_or(1);
    // Room behind the table shows, instead of breaking, a function that fills more than it was told to.
    std::vector<host_call_entry> entries(count + handler_source::most_entries);
    reinterpret_cast<fill>(function.address)(entries.data());
    const auto behind = std::as_bytes(std::span(entries).subspan(count));
    if (std::ranges::any_of(behind, [](std::byte b) { return b != std::byte{0}; }))
        refuse(source.symbol + " fills more than " + std::to_string(count) +
               (count == 1 ? " entry" : " entries") + "; give their number as LIB:SYMBOL:COUNT");
    entries.resize(count);
    return entries;
}

std::vector<host_call_entry> copy(const symbol& object, const handler_source& source) {
    const auto has = object.size / sizeof(host_call_entry);
    const auto count = source.count.value_or(
        static_cast<std::uint32_t>(std::min<std::size_t>(has, handler_source::most_entries)));
    if (count == 0 || count > has)
        refuse(source.symbol + " of " + source.library + " has " + std::to_string(has) + " entries of " +
               std::to_string(sizeof(host_call_entry)) + " bytes, asked for were " +
               std::to_string(source.count.value_or(1)));
    std::vector<host_call_entry> entries(count);
    std::memcpy(entries.data(), object.address, count * sizeof(host_call_entry));
    return entries;
}

void check(const host_call_entry& entry, std::size_t index, std::size_t count, const handler_source& source) {
    const auto which = "entry " + std::to_string(index + 1) + " of " + std::to_string(count) + " of " +
                       source.symbol + " in " + source.library;
    if (entry.handler == nullptr) refuse(which + " has no handler");
    if (entry.dispatch_mode != host_call_entry::host_call)
        refuse(which + " has dispatch mode " + std::to_string(entry.dispatch_mode) +
               ", only HOST_CALL (2) can run here");
}

/// Calls a handler of the table. The rest of the rules is the table's own.
struct host_call {
    library_handle library;
    decltype(host_call_entry::handler) handler;

    void operator()(std::span<const std::byte> rx, std::span<std::byte> tx) const {
        // An answer of an earlier request must not pass for this one's.
        std::ranges::fill(tx.first(rpc::response_header::size), std::byte{0});
        handler(rx.data(), tx.data(), std::min(rx.size(), tx.size()));
        auto response = rpc::response_header::decode(tx);
        const auto request = rpc::request_header::decode(rx);
        if (!response || !request) return;
        response->request_id = request->request_id;
        (void)response->encode(tx);
    }
};

} // namespace

handler_source parse_handler_source(const std::string& text) {
    const auto wrong = [&] {
        refuse("\"" + text + "\" is not LIB.so:SYMBOL[:COUNT], COUNT being 1 to " +
               std::to_string(handler_source::most_entries));
    };
    handler_source out;
    auto rest = text;
    if (const auto colon = rest.rfind(':'); colon != std::string::npos) {
        out.count = number(std::string_view(rest).substr(colon + 1));
        if (out.count) rest.resize(colon);
    }
    const auto colon = rest.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size()) wrong();
    if (out.count && (*out.count == 0 || *out.count > handler_source::most_entries)) wrong();
    out.library = rest.substr(0, colon);
    out.symbol = rest.substr(colon + 1);
    return out;
}

void add_handlers(rpc::function_table& table, const handler_source& source) {
    const auto library = load(source.library);
    const auto found = find(library.get(), source);
    const auto entries = found.is_function ? ask(found, source) : copy(found, source);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& entry = entries[i];
        check(entry, i, entries.size(), source);
        table.add_slot_handler(rpc::function_id(entry.function_id), hex(entry.function_id),
                               host_call{library, entry.handler});
    }
}

} // namespace rocio::tools
