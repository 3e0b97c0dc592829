#pragma once

#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/function_snapshot.hpp>
#include <rocio/rpc/handler_schema.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>
#include <rocio/rpc/rpc_error.hpp>
#include <rocio/types/latency_histogram.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace rocio::rpc {

/// What a raw handler says about its answer.
struct raw_reply {
    std::int32_t status = 0;    ///< 0, or above 0 for a status of its own.
    std::size_t result_len = 0; ///< Bytes it wrote into its result span.
};

namespace detail {

/// A request whose lengths were checked, and where its answer goes. Both slots may be the same memory.
struct call_frame {
    const request_header& header;
    std::span<const std::byte> rx_slot;
    std::span<std::byte> tx_slot; ///< At least a header long.

    std::span<const std::byte> arguments() const noexcept {
        return rx_slot.subspan(request_header::size, header.arg_len);
    }
    std::span<std::byte> results() const noexcept { return tx_slot.subspan(response_header::size); }
};

inline raw_reply refuse(status s) noexcept {
    return {static_cast<std::int32_t>(s), 0};
}

struct function_counters {
    relaxed_counter calls, succeeded, failed, exceptions, bad_length, too_large;
    latency_histogram latency;
};

/// A function of a table without its callable's type.
class function_entry {
  public:
    function_entry(std::string name, function_id id, std::optional<handler_schema> schema,
                   boost::asio::any_io_executor executor)
        : name_(std::move(name)), id_(id), schema_(schema), executor_(std::move(executor)) {}
    virtual ~function_entry() = default;
    function_entry(const function_entry&) = delete;
    function_entry& operator=(const function_entry&) = delete;

    /// Writes results, not the header. May throw.
    virtual raw_reply call(const call_frame& frame) = 0;

    const std::string& name() const noexcept { return name_; }
    function_id id() const noexcept { return id_; }
    const std::optional<handler_schema>& schema() const noexcept { return schema_; }
    /// Empty: inline.
    const boost::asio::any_io_executor& executor() const noexcept { return executor_; }
    bool accepts_arguments(std::size_t length) const noexcept {
        return !schema_ || schema_->argument_length().accepts(length);
    }
    function_counters& counters() noexcept { return counters_; }
    function_snapshot snapshot() const {
        const auto& c = counters_;
        return {name_,
                id_.value(),
                c.calls.value(),
                c.succeeded.value(),
                c.failed.value(),
                c.exceptions.value(),
                c.bad_length.value(),
                c.too_large.value(),
                c.latency.summary()};
    }

  private:
    std::string name_;
    function_id id_;
    std::optional<handler_schema> schema_;
    boost::asio::any_io_executor executor_;
    function_counters counters_;
};

} // namespace detail
} // namespace rocio::rpc
