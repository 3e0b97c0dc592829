#pragma once

#include <rocio/connect/handshake_log.hpp>

#include <boost/asio/error.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace rocio::detail {

/// One attempt in a handshake_log, counted once as begun and once as ended, whatever becomes of it. Without a
/// log it counts nothing. Not thread-safe.
class handshake_attempt {
  public:
    explicit handshake_attempt(std::shared_ptr<handshake_log> log) noexcept : log_(std::move(log)) {}
    handshake_attempt(const handshake_attempt&) = delete;
    handshake_attempt& operator=(const handshake_attempt&) = delete;
    ~handshake_attempt() {
        if (state_ != state::begun) return;
        try {
            given_up();
        } catch (const std::bad_alloc&) {
            // Then it stays an attempt without an end.
        }
    }

    const std::shared_ptr<handshake_log>& log() const noexcept { return log_; }
    void begin(std::string peer) {
        if (!log_ || state_ != state::idle) return;
        state_ = state::begun;
        peer_ = std::move(peer);
        log_->began();
    }
    void established() {
        if (state_ != state::begun) return;
        state_ = state::over;
        log_->established();
    }
    /// Also of one that failed before it knew its peer.
    void failed(const error_info& why) {
        if (!log_ || state_ == state::over) return;
        begin({});
        state_ = state::over;
        log_->failed(why, peer_);
    }
    void given_up() {
        if (state_ == state::begun)
            failed({boost::asio::error::operation_aborted, "this side gave the handshake up"});
    }

  private:
    enum class state : std::uint8_t { idle, begun, over };

    std::shared_ptr<handshake_log> log_;
    std::string peer_;
    state state_ = state::idle;
};

} // namespace rocio::detail
