#include <rocio/rpc/dispatcher.hpp>
#include <rocio/rpc/response_header.hpp>

#include <algorithm>
#include <utility>

namespace rocio::rpc {

namespace {

verdict verdict_of(std::int32_t s) noexcept {
    switch (static_cast<status>(s)) {
    case status::unknown_function:
        return verdict::unknown_function;
    case status::bad_argument_length:
        return verdict::bad_argument_length;
    case status::result_too_large:
        return verdict::result_too_large;
    case status::handler_failed:
        return verdict::handler_failed;
    default:
        return verdict::called;
    }
}

raw_reply call(detail::function_entry& function, const detail::call_frame& frame) noexcept {
    try {
        return function.call(frame);
    } catch (const status_error& e) {
        return e.value() > 0 ? raw_reply{e.value(), 0} : detail::refuse(status::handler_failed);
    } catch (...) {
        return detail::refuse(status::handler_failed);
    }
}

} // namespace

dispatcher::dispatcher(function_table functions, const dispatcher_config& config)
    : functions_(std::move(functions)), config_(config) {}

outcome dispatcher::dispatch(std::span<const std::byte> rx_slot, std::span<std::byte> tx_slot) noexcept {
    const auto arrived = now();
    const auto request = inspect(rx_slot);
    const auto result = execute(request, rx_slot, tx_slot);
    account(request, result, arrived);
    return result;
}

inspected_request dispatcher::inspect(std::span<const std::byte> rx_slot) const noexcept {
    if (rx_slot.size() < request_header::size) return {verdict::short_slot};
    const auto header = request_header::decode(rx_slot);
    if (!header) return {verdict::bad_magic};
    auto* function = functions_.find(function_id(header->function));
    if (!function) return {verdict::unknown_function, *header};
    if (header->arg_len > rx_slot.size() - request_header::size ||
        !function->accepts_arguments(header->arg_len)) {
        return {verdict::bad_argument_length, *header, function};
    }
    return {verdict::called, *header, function};
}

outcome dispatcher::execute(const inspected_request& request, std::span<const std::byte> rx_slot,
                            std::span<std::byte> tx_slot) const noexcept {
    if (request.what == verdict::bad_magic || request.what == verdict::short_slot) return {request.what};
    if (tx_slot.size() < response_header::size) return {verdict::short_slot};
    if (request.what == verdict::unknown_function) {
        return finish(request, request.what, detail::refuse(status::unknown_function), tx_slot);
    }
    if (request.what == verdict::bad_argument_length) {
        return finish(request, request.what, detail::refuse(status::bad_argument_length), tx_slot);
    }
    const auto reply = call(*request.function, {request.header, rx_slot, tx_slot});
    return finish(request, verdict_of(reply.status), reply, tx_slot);
}

outcome dispatcher::fail(const inspected_request& request, std::span<std::byte> tx_slot) const noexcept {
    return finish(request, verdict::handler_failed, detail::refuse(status::handler_failed), tx_slot);
}

outcome dispatcher::finish(const inspected_request& request, verdict what, raw_reply reply,
                           std::span<std::byte> tx_slot) const noexcept {
    if (reply.status < 0 && config_.on_refusal == refusals::silent) return {what, reply.status};
    const response_header header{.status = reply.status,
                                 .result_len = static_cast<std::uint32_t>(reply.result_len),
                                 .request_id = request.header.request_id,
                                 .timestamp = request.header.timestamp};
    const auto length = response_header::size + reply.result_len;
    if (!header.encode(tx_slot)) return {verdict::short_slot};
    if (config_.clear_tail) std::ranges::fill(tx_slot.subspan(length), std::byte{0});
    return {what, reply.status, length};
}

void dispatcher::account(const inspected_request& request, const outcome& result,
                         std::chrono::steady_clock::time_point arrived) noexcept {
    requests_.add();
    (result.answered() ? answered_ : silent_).add();
    if (result.what == verdict::bad_magic) bad_magic_.add();
    if (result.what == verdict::short_slot) short_slots_.add();
    if (result.what == verdict::unknown_function) unknown_function_.add();
    if (!request.function) return;
    auto& counters = request.function->counters();
    counters.calls.add();
    if (result.what == verdict::called) (result.status == 0 ? counters.succeeded : counters.failed).add();
    if (result.what == verdict::bad_argument_length) counters.bad_length.add();
    if (result.what == verdict::result_too_large) counters.too_large.add();
    if (result.what == verdict::handler_failed) counters.exceptions.add();
    counters.latency.record(now() - arrived);
}

rpc_snapshot dispatcher::snapshot() const {
    rpc_snapshot s;
    s.requests = requests_.value();
    s.answered = answered_.value();
    s.silent = silent_.value();
    s.bad_magic = bad_magic_.value();
    s.short_slots = short_slots_.value();
    s.unknown_function = unknown_function_.value();
    s.functions = functions_.snapshot();
    return s;
}

} // namespace rocio::rpc
