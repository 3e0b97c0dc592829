#pragma once

#include <cstdint>
#include <string_view>

namespace rocio {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// Where the library's few log lines go. Without one the library prints nothing. write() may be called from
/// any thread that runs a context or returns a lease, and must not throw.
class log_sink {
  public:
    virtual ~log_sink() = default;
    virtual void write(log_level level, std::string_view room, std::string_view text) noexcept = 0;
};

} // namespace rocio
