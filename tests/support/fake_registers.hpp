#pragma once

#include <rocio/fpga/register_space.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace rocio::test {

/// Registers that hold what was written, 0 before; some addresses answer with an error.
class fake_registers final : public fpga::register_space {
  public:
    fpga::bus_response read(std::uint64_t address, std::uint32_t& value) override {
        if (const auto response = response_of(address); response != fpga::bus_response::ok) return response;
        const auto found = values.find(address);
        value = found == values.end() ? 0 : found->second;
        return fpga::bus_response::ok;
    }
    fpga::bus_response write(std::uint64_t address, std::uint32_t value) override {
        if (const auto response = response_of(address); response != fpga::bus_response::ok) return response;
        values[address] = value;
        writes.emplace_back(address, value);
        return fpga::bus_response::ok;
    }

    std::map<std::uint64_t, std::uint32_t> values{};
    std::map<std::uint64_t, fpga::bus_response> failing{};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> writes{};

  private:
    fpga::bus_response response_of(std::uint64_t address) const {
        const auto found = failing.find(address);
        return found == failing.end() ? fpga::bus_response::ok : found->second;
    }
};

} // namespace rocio::test
