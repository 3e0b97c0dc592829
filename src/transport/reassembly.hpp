#pragma once

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/types/work_completion.hpp>
#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::transport {

/// The receive that the incoming SEND is being put into.
class reassembly {
  public:
    bool active() const noexcept { return active_; }
    const wr_id& id() const noexcept { return receive_.id; }
    std::uint32_t received() const noexcept { return received_; } ///< Bytes so far.

    void begin(const receive_request& receive) noexcept;

    /// Puts the next bytes behind the earlier ones. errc::local_length_error when they do not fit,
    /// errc::local_protection_error when the buffer is not (or no longer) in a region that may be written;
    /// then nothing was written.
    [[nodiscard]] errc append(std::span<const std::byte> payload,
                              const memory_region_table& regions) noexcept;

    /// The message is complete; gives its completion.
    work_completion finish(std::optional<std::uint32_t> immediate) noexcept;
    void abandon() noexcept { active_ = false; }

  private:
    receive_request receive_{};
    std::uint32_t received_ = 0;
    bool active_ = false;
};

} // namespace rocio::transport
