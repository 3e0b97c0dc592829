#pragma once

#include "connect/control_strand.hpp"
#include "connect/rendezvous_message.hpp"
#include "connect/step_guard.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace rocio::detail {

/// Whole rendezvous messages over a socket. What a cancelled read or write leaves half done is kept, so that
/// the next one goes on where it stopped: cancellation never loses a message's beginning.
class message_channel {
  public:
    explicit message_channel(const control_strand& strand) : socket_(strand) {}

    control_socket& socket() noexcept { return socket_; }
    /// Some bytes, but not a whole message, have come.
    bool has_part() const noexcept { return !inbox_.empty(); }

    /// Puts a message behind those not yet written.
    void put(const rendezvous::message& m) { put(rendezvous::encode(m)); }
    void put(rendezvous::message_kind bare) { put(rendezvous::encode(bare)); }
    bool has_unsent() const noexcept { return !outbox_.empty(); }
    /// Writes all that was put; asio::error::operation_aborted when the step is over before.
    task<error_code> flush(const step_guard& step);
    /// Writes what the kernel takes at once. A broken connection shows when it is read.
    void try_flush();

    /// Waits for one message. asio::error::eof when the other side closed; operation_aborted when the step is
    /// over; the codes of rendezvous::decode() when what came is no message.
    task<error_info> read(rendezvous::message& out, const step_guard& step);
    /// Reads away what comes until the other side closes.
    task<void> discard(const step_guard& step);

    /// Takes over the connection and all that was read from it.
    error_code take(message_channel& other);

  private:
    void put(const std::vector<std::byte>& bytes) {
        outbox_.insert(outbox_.end(), bytes.begin(), bytes.end());
    }
    /// False: more bytes are needed for a message.
    bool next(rendezvous::message& out, error_info& error);

    control_socket socket_;
    std::vector<std::byte> inbox_;
    std::vector<std::byte> outbox_;
    std::array<std::byte, 1024> piece_;
};

} // namespace rocio::detail
