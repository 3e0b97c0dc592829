#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace rocio::tools {

/// The latencies of one implementation at one size.
struct histogram_part {
    std::string title;               ///< "send, 64 B, rocio on soft:127.61.0.1".
    std::string what;                ///< What was timed: "half a round trip".
    std::vector<double> latencies{}; ///< Microseconds.
};

/// A self-contained page: a histogram of each part and a table of their quantiles. Needs nothing else, no
/// script, no network.
void write_histogram_page(std::ostream& out, const std::string& title, std::span<const histogram_part> parts);

/// Is `file` one that write_histogram_file() can write: ending in .svg or .html?
bool is_histogram_file(const std::string& file);

/// By the ending: .svg the last part alone, .html all of them. Throws rocio::exception: the system's code
/// with the file's name, errc::invalid_argument for another ending.
void write_histogram_file(const std::string& file, const std::string& title,
                          std::span<const histogram_part> parts);

} // namespace rocio::tools
