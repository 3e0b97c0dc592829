#pragma once

#include "bench/latency_summary.hpp"
#include "cudaq/playback_check.hpp"

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace rocio::tools {

/// Nanoseconds of each round trip.
std::vector<double> latencies_of(std::span<const ptp_round_trip> round_trips);

/// The lines the original prints, and median, 99 % and 99.9 % after them; with an end each. For no round
/// trips the sentence that there are none.
std::string latency_text(std::span<const ptp_round_trip> round_trips);

/// `shot,send_sec,send_nsec,recv_sec,recv_nsec,delta_ns`, one line each.
void write_latency_csv(std::ostream& out, std::span<const ptp_round_trip> round_trips);

/// A histogram as a self-contained SVG picture: linear axes with labels, median and 99 % marked. What lies
/// far behind the 99 % is not drawn but said, so that one straggler does not flatten the rest. Of no samples
/// an empty frame that says so. `what` was timed.
void write_latency_svg(std::ostream& out, std::span<const double> nanoseconds, const std::string& title,
                       const std::string& what = "round trip");

} // namespace rocio::tools
