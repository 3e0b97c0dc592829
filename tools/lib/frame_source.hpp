#pragma once

#include "lib/prbs.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rocio::tools {

/// A frame that was put into a slot.
struct made_frame {
    std::size_t bytes = 0;
    std::uint8_t channel = 0; ///< imm[7:0].
};

/// What a frame_sender sends. Not thread-safe.
class frame_source {
  public:
    virtual ~frame_source() = default;

    /// Puts the next frame into `slot`. Nothing: there is none yet, or none any more.
    virtual std::optional<made_frame> next(std::span<std::byte> slot) = 0;
    virtual bool ended() const = 0;
    /// Calls `ready` whenever there is a frame again after there was none, and at the end.
    virtual void on_ready(const std::function<void()>& /*ready*/) {}
};

/// PRBS frames of one size, without end; the channels in turn.
class prbs_source final : public frame_source {
  public:
    /// Throws std::invalid_argument as prbs_generator; `channels` are not empty.
    prbs_source(std::size_t frame_bytes, std::size_t word_bytes, std::vector<std::uint8_t> channels)
        : generator_(frame_bytes, prbs_format{word_bytes}), channels_(std::move(channels)) {}

    std::optional<made_frame> next(std::span<std::byte> slot) override {
        const auto bytes = generator_.frame_bytes();
        generator_.next(slot.first(bytes));
        return made_frame{bytes, channels_[turn_++ % channels_.size()]};
    }
    bool ended() const override { return false; }

  private:
    prbs_generator generator_;
    std::vector<std::uint8_t> channels_;
    std::size_t turn_ = 0;
};

} // namespace rocio::tools
