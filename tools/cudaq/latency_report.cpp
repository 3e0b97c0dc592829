#include "cudaq/latency_report.hpp"

#include <iomanip>
#include <ostream>
#include <sstream>

namespace rocio::tools {

std::vector<double> latencies_of(std::span<const ptp_round_trip> round_trips) {
    std::vector<double> result;
    result.reserve(round_trips.size());
    for (const auto& r : round_trips) result.push_back(static_cast<double>(r.nanoseconds()));
    return result;
}

std::string latency_text(std::span<const ptp_round_trip> round_trips) {
    if (round_trips.empty()) return "\n  PTP latency: no valid timestamps found\n";
    const auto s = summarise(latencies_of(round_trips));
    std::ostringstream out;
    out << "\n=== PTP Round-Trip Latency ===\n" << std::fixed << std::setprecision(0);
    out << "  Samples:  " << round_trips.size() << "\n";
    out << "  Min:      " << s.minimum << " ns\n";
    out << "  Max:      " << s.maximum << " ns\n";
    out << "  Avg:      " << std::setprecision(1) << s.average << " ns\n" << std::setprecision(0);
    out << "  Median:   " << s.median << " ns\n";
    out << "  99 %:     " << s.p99 << " ns\n";
    out << "  99.9 %:   " << s.p999 << " ns\n";
    return out.str();
}

void write_latency_csv(std::ostream& out, std::span<const ptp_round_trip> round_trips) {
    out << "shot,send_sec,send_nsec,recv_sec,recv_nsec,delta_ns\n";
    for (const auto& r : round_trips)
        out << r.shot << ',' << r.sent.seconds << ',' << r.sent.nanoseconds << ',' << r.received.seconds
            << ',' << r.received.nanoseconds << ',' << r.nanoseconds() << '\n';
}

} // namespace rocio::tools
