#pragma once

#include <rocio/open/open_device.hpp>

#include <array>
#include <memory>
#include <string>

namespace rocio::tools {

/// The devices of a program that has both ends.
struct device_pair {
    std::shared_ptr<device> first, second;
};

/// Opens two devices. An empty name stands for the usual one; if both are empty and the usual ones are in use
/// by another program, other loopback addresses are tried. Throws rocio::exception.
device_pair open_device_pair(const std::string& first, const std::string& second,
                             const std::array<const char*, 2>& usual, const open_options& options);

} // namespace rocio::tools
