#pragma once

#include <rocio/fpga/register_space.hpp>

#include <cstdint>
#include <map>

namespace rocio::test {

/// Registers that hold what is written; the others read 0.
class register_map final : public fpga::register_space {
  public:
    fpga::bus_response read(std::uint64_t address, std::uint32_t& value) override {
        const auto found = values.find(static_cast<std::uint32_t>(address));
        value = found == values.end() ? 0 : found->second;
        return fpga::bus_response::ok;
    }
    fpga::bus_response write(std::uint64_t address, std::uint32_t value) override {
        values[static_cast<std::uint32_t>(address)] = value;
        return fpga::bus_response::ok;
    }

    std::map<std::uint32_t, std::uint32_t> values{};
};

} // namespace rocio::test
