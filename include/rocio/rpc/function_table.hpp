#pragma once

#include <rocio/rpc/detail/callables.hpp>
#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/function_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rocio::rpc {

struct function_options {
    /// Where the handler runs. Empty: on the strand that polls the ring, which it must not hold up. Otherwise
    /// the request is copied and the handler called there; answers may then come in another order than their
    /// requests, and if the executor runs several things at once the handler is called by several threads at
    /// once. A dispatcher alone (without ring_dispatcher) calls every handler inline.
    boost::asio::any_io_executor executor{};
};

/// The functions that peers may call, by FNV-1a of their names. Filled first, then moved into a dispatcher or
/// ring_dispatcher. Move-only; one thread at a time.
///
/// Every add throws rocio::exception(errc::invalid_argument) for an empty name, a name whose id the table
/// already has (the sentence names both: different names can share an id), or a schema that cannot be.
class function_table {
  public:
    function_table();
    ~function_table();
    function_table(function_table&&) noexcept;
    function_table& operator=(function_table&&) noexcept;

    /// A C++ callable; the schema follows from the signature: `add<std::int64_t(std::int64_t,
    /// std::int64_t)>("addThem", f)`. Arguments are decoded before the call, the result is written after it.
    /// Views among the arguments look into the request and end with the call. `f` may throw: status_error
    /// answers with that status, anything else with status::handler_failed.
    template <handler_signature Signature, class F>
    function_table& add(std::string_view name, F f, function_options options = {}) {
        using callable = detail::typed_function<Signature, F>;
        return insert(std::make_unique<callable>(std::move(f), std::string(name), function_id(name),
                                                 schema_of<Signature>(), std::move(options.executor)));
    }

    /// The same, for a schema that was agreed on elsewhere: throws as above, with the sentence of compare(),
    /// if the signature's own differs from it in any field.
    template <handler_signature Signature, class F>
    function_table& add(std::string_view name, const handler_schema& agreed, F f,
                        function_options options = {}) {
        require_same(name, agreed, schema_of<Signature>());
        return add<Signature>(name, std::move(f), std::move(options));
    }

    /// A handler over bytes: `raw_reply f(std::span<const std::byte> arguments, std::span<std::byte>
    /// results)`, or the same with a `const request_header&` in front. `results` is all that the send slot
    /// has behind the header. On a ring whose receive and send slots are the same memory both spans begin at
    /// the same address: it must read a byte before it writes it. With a schema the lengths of arguments and
    /// results are checked.
    template <detail::raw_handler F>
    function_table& add_raw(std::string_view name, F f, std::optional<handler_schema> schema = {},
                            function_options options = {}) {
        return insert(std::make_unique<detail::raw_function<F>>(
            std::move(f), std::string(name), function_id(name), schema, std::move(options.executor)));
    }

    /// A handler over whole slots that writes its response header itself, as the original's HOST_CALL
    /// handlers do: `void f(std::span<const std::byte> rx_slot, std::span<std::byte> tx_slot)`. If it leaves
    /// no response to this request in the send slot the answer is status::handler_failed.
    template <detail::slot_handler F>
    function_table& add_slot_handler(std::string_view name, F f, std::optional<handler_schema> schema = {},
                                     function_options options = {}) {
        return insert(std::make_unique<detail::slot_function<F>>(
            std::move(f), std::string(name), function_id(name), schema, std::move(options.executor)));
    }

    /// The same for a function of which only the number is known, as in the original's tables; `name` is what
    /// the status and errors call it.
    template <detail::slot_handler F>
    function_table& add_slot_handler(function_id id, std::string_view name, F f,
                                     std::optional<handler_schema> schema = {},
                                     function_options options = {}) {
        return insert(std::make_unique<detail::slot_function<F>>(std::move(f), std::string(name), id, schema,
                                                                 std::move(options.executor)));
    }

    std::size_t size() const noexcept { return entries_.size(); }
    /// True if a handler runs on an executor of its own.
    bool hands_over() const noexcept;
    /// Null if there is none. A few steps; at most as many as there are functions, whatever id a peer
    /// chooses.
    detail::function_entry* find(function_id id) const noexcept;
    /// In the order of adding. The schema of a raw handler may be missing.
    std::optional<handler_schema> schema(function_id id) const;
    std::vector<function_snapshot> snapshot() const;

  private:
    function_table& insert(std::unique_ptr<detail::function_entry> entry);
    static void require_same(std::string_view name, const handler_schema& agreed, const handler_schema& own);
    void rebuild();

    std::vector<std::unique_ptr<detail::function_entry>> entries_;
    // Open addressing over a power of two, at most half full.
    std::vector<detail::function_entry*> places_;
};

} // namespace rocio::rpc
