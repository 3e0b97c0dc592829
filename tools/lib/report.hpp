#pragma once

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// What a transfer came to; a value. With --json its one line is the last of stdout.
struct report {
    std::string device{};
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::chrono::nanoseconds elapsed{0};

    std::optional<std::uint64_t> lost{};       ///< Nothing where nothing in the stream allows to know.
    std::optional<std::uint64_t> duplicated{}; ///< As lost.
    std::uint64_t corrupt = 0;
    std::optional<std::uint64_t> rnr_naks{};    ///< Nothing where the device does not tell.
    std::optional<std::uint64_t> retransmits{}; ///< As rnr_naks.

    boost::json::object
        more{}; ///< What only this command has to say; follows, and cannot replace, the common keys.

    double seconds() const noexcept { return std::chrono::duration<double>(elapsed).count(); }
    double frames_per_second() const noexcept { return static_cast<double>(frames) / seconds(); }
    double bytes_per_second() const noexcept { return static_cast<double>(bytes) / seconds(); }
    /// Nothing that is known to be wrong: what the exit status says.
    bool data_was_right() const noexcept {
        return lost.value_or(0) == 0 && duplicated.value_or(0) == 0 && corrupt == 0;
    }
};

/// frames bytes seconds frames_per_second bytes_per_second lost duplicated corrupt rnr_naks retransmits
/// device; null for what is not known and for a rate over no time.
boost::json::object to_json(const report& r);

/// to_json() as one line without its end.
std::string json_line(const report& r);

/// For a person: a few lines, each with its end.
std::string to_text(const report& r);

} // namespace rocio::tools
