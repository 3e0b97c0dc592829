#pragma once

#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_registers.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rocio::fpga {

/// The registers of an emulated board: the player's memory and the analyser's as arrays, everything else as
/// it is written. What was never written reads 0. Memory is bounded: about 700 KB and `limit` single
/// registers.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
class hsb_register_file {
  public:
    static constexpr std::size_t default_limit = 4096;

    explicit hsb_register_file(std::size_t limit = default_limit);

    /// Whether there is a register at that address: a multiple of 4.
    static constexpr bool is_register(std::uint32_t address) noexcept { return address % 4 == 0; }

    /// 0 where nothing was written, and where no register is.
    std::uint32_t read(std::uint32_t address) const noexcept;
    /// hsb_status::invalid_address where no register is, hsb_status::buffer_full for one more single register
    /// than `limit`.
    hsb_status write(std::uint32_t address, std::uint32_t value);

    /// Single registers that were written.
    std::size_t used() const noexcept { return registers_.size(); }

    /// The bytes of `windows` windows as the player sends them, each of whole beats. They fit
    /// (hsb::bram::fits).
    std::vector<std::byte> windows(std::uint32_t windows, std::uint32_t window_bytes) const;

    /// Puts a sample into the analyser's memory; `sample` is below hsb::ila::samples.
    void put_sample(std::uint32_t sample, const hsb::ila_sample& value) noexcept;
    hsb::ila_sample sample(std::uint32_t sample) const noexcept;
    /// All samples to 0.
    void clear_samples() noexcept;

  private:
    std::size_t limit_;
    std::vector<std::uint32_t> bram_;
    std::vector<std::uint32_t> samples_;
    std::unordered_map<std::uint32_t, std::uint32_t> registers_;
};

} // namespace rocio::fpga
