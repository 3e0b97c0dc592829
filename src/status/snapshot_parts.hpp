#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <chrono>
#include <string>

namespace rocio::detail {

/// Adds to `whole` what one provider had to say.
void append(status_snapshot& whole, const status_snapshot& part);

/// Says of each engine whose turn lasts, or is due, for longer than `limit` that it is stale.
void note_stalled_engines(status_snapshot& whole, std::chrono::nanoseconds limit);

/// "3.2 s".
std::string seconds_text(std::chrono::nanoseconds duration);

} // namespace rocio::detail
