#pragma once

#include "connect/cm_steps.hpp"

#include <rocio/types/error.hpp>

#include <string>

namespace rocio::detail {

/// The error and the sentence for an event that ended a connection, or kept it from coming about, in `stage`.
/// `peer` is its address and port as text.
error_info failure_of(cm_stage stage, const cm_event& event, const std::string& peer);

} // namespace rocio::detail
