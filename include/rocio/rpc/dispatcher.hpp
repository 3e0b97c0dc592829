#pragma once

#include <rocio/rpc/dispatcher_config.hpp>
#include <rocio/rpc/function_table.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/rpc_error.hpp>
#include <rocio/rpc/rpc_snapshot.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::rpc {

/// What became of a request.
enum class verdict : std::uint8_t {
    called,              ///< The handler answered, with 0 or a status of its own.
    bad_magic,           ///< Not a request. Always silence.
    short_slot,          ///< The receive or the send slot has no room for a header. Always silence.
    unknown_function,    ///< status::unknown_function.
    bad_argument_length, ///< status::bad_argument_length.
    result_too_large,    ///< status::result_too_large.
    handler_failed,      ///< status::handler_failed.
};

struct outcome {
    verdict what = verdict::called;
    std::int32_t status = 0;
    std::size_t length = 0; ///< Bytes of the answer in the send slot; 0: silence.

    bool answered() const noexcept { return length > 0; }
};

/// A request that was looked at, and the function it names.
struct inspected_request {
    verdict what = verdict::called; ///< called: it may be.
    request_header header{};
    detail::function_entry* function = nullptr;
};

/// Answers requests: bytes of one slot in, bytes of another out. Knows no ring, waits for nothing, allocates
/// nothing but what a handler does.
///
/// Lengths are checked against the slots, never against a completion: 24 + arg_len within the receive slot
/// and arg_len what the function's schema says, 24 + results within the send slot. Request id and timestamp
/// are echoed whatever the handler does. Both slots may be the same memory.
///
/// Thread safety: dispatch(), inspect() and account() on one strand; execute() as its handler allows;
/// snapshot() from any thread. The functions' handlers are destroyed with the dispatcher.
class dispatcher {
  public:
    explicit dispatcher(function_table functions, const dispatcher_config& config = {});
    dispatcher(const dispatcher&) = delete;
    dispatcher& operator=(const dispatcher&) = delete;

    /// Looks at a request, calls its handler inline, writes the answer. What a handler throws does not come
    /// out.
    outcome dispatch(std::span<const std::byte> rx_slot, std::span<std::byte> tx_slot) noexcept;

    // The steps of dispatch(), for those who call the handler elsewhere.
    inspected_request inspect(std::span<const std::byte> rx_slot) const noexcept;
    outcome execute(const inspected_request& request, std::span<const std::byte> rx_slot,
                    std::span<std::byte> tx_slot) const noexcept;
    /// The answer status::handler_failed, for a request whose handler never ran.
    outcome fail(const inspected_request& request, std::span<std::byte> tx_slot) const noexcept;
    void account(const inspected_request& request, const outcome& result,
                 std::chrono::steady_clock::time_point arrived) noexcept;

    std::chrono::steady_clock::time_point now() const noexcept { return config_.now(); }
    const dispatcher_config& config() const noexcept { return config_; }
    const function_table& functions() const noexcept { return functions_; }
    rpc_snapshot snapshot() const;

  private:
    outcome finish(const inspected_request& request, verdict what, raw_reply reply,
                   std::span<std::byte> tx_slot) const noexcept;

    function_table functions_;
    dispatcher_config config_;
    relaxed_counter requests_, answered_, silent_, bad_magic_, short_slots_, unknown_function_;
};

} // namespace rocio::rpc
