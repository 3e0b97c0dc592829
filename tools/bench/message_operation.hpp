#pragma once

#include <cstdint>
#include <string_view>

namespace rocio::tools {

/// What carries a message of a benchmark.
enum class message_operation : std::uint8_t { send, send_imm, write, write_imm, read };

/// Latency: one message at a time, or at a rate. Bandwidth: as many as the queue holds, one way.
enum class measured : std::uint8_t { latency, bandwidth };

/// As on the command line: "send-imm".
constexpr std::string_view name_of(message_operation operation) noexcept {
    switch (operation) {
    case message_operation::send:
        return "send";
    case message_operation::send_imm:
        return "send-imm";
    case message_operation::write:
        return "write";
    case message_operation::write_imm:
        return "write-imm";
    case message_operation::read:
        return "read";
    }
    return "unknown";
}

constexpr std::string_view name_of(measured what) noexcept {
    return what == measured::latency ? "latency" : "bandwidth";
}

constexpr bool has_immediate(message_operation operation) noexcept {
    return operation == message_operation::send_imm || operation == message_operation::write_imm;
}

/// The other side's program gets a completion.
constexpr bool is_received(message_operation operation) noexcept {
    return operation != message_operation::write && operation != message_operation::read;
}

constexpr bool is_send(message_operation operation) noexcept {
    return operation == message_operation::send || operation == message_operation::send_imm;
}

} // namespace rocio::tools
