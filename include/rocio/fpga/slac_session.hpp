#pragma once

#include <rocio/fpga/slac_engine_snapshot.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace rocio::fpga {

/// What one host has at a SLAC engine, kept from one program to the next: slac_setup fills it, slac_teardown
/// empties it, also when a program was dropped half way.
///
/// Thread safety: snapshot() may be called from any thread. All else belongs to the programs, of which one
/// runs at a time.
class slac_session {
  public:
    struct region_keys {
        std::uint32_t lkey = 0;
        std::uint32_t rkey = 0;
    };
    /// A request was sent of which nothing is known: the board may carry it out, or have done so.
    enum class open_request : std::uint8_t { none, pd_allocate, mr_allocate, qp_create, other };

    // What the board has for us.
    std::optional<std::uint32_t> pd_handler{};
    std::optional<region_keys> region{};
    std::optional<std::uint32_t> qpn{};

    open_request open = open_request::none;
    bool wedged = false;  ///< The engine did not answer a request; only SoftReset helps.
    bool armed = false;   ///< DispatchEnable was written, or may have been.
    bool touched = false; ///< A set-up began; there may be something to undo.

    bool holds_anything() const noexcept {
        return pd_handler || region || qpn || open != open_request::none || armed;
    }
    void forget_resources();

    slac_engine_snapshot snapshot() const;

    // Notes for the snapshot.
    void note_state(const char* state);
    void note_stage(const std::string& stage);
    void note_error(const error_info& error);
    void note_warning(const std::string& text);
    void note_identity();
    void count(std::uint64_t slac_engine_snapshot::*counter);

  private:
    mutable std::mutex mutex_;
    slac_engine_snapshot snapshot_{};
};

} // namespace rocio::fpga
