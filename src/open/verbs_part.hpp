#pragma once

#include <rocio/open/open_device.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rocio {

/// The system's devices; a build without libibverbs has the same three with nothing behind them.
error_info open_verbs(std::string_view name, const open_options& options, std::shared_ptr<device>& out);
void append_verbs_devices(std::vector<device_description>& out);
std::string why_no_verbs_devices();

} // namespace rocio
