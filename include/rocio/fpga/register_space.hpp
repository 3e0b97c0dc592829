#pragma once

#include <cstdint>

namespace rocio::fpga {

/// How an access to a register ends on the board's own bus, as AXI names it (RESP, AMBA IHI 0022).
enum class bus_response : std::uint8_t { ok = 0, slave_error = 2, decode_error = 3 };

/// The registers of an emulated board, as the servers that answer for it see them. Addresses come from
/// outside: any 64-bit value, always a multiple of 4.
class register_space {
  public:
    virtual ~register_space() = default;

    /// Sets `value`; what it is after anything but `ok` does not matter.
    virtual bus_response read(std::uint64_t address, std::uint32_t& value) = 0;
    virtual bus_response write(std::uint64_t address, std::uint32_t value) = 0;

  protected:
    register_space() = default;
    register_space(const register_space&) = default;
    register_space& operator=(const register_space&) = default;
};

} // namespace rocio::fpga
