#pragma once

#include <cstdint>
#include <optional>

namespace rocio {

/// How a view behaves when its user is slow.
struct view_options {
    /// Unset: the view holds its frames, and with them the slots, so that in the end the sender waits and
    /// nothing is lost. Set (1 or more): it keeps this many and drops its oldest, so that a monitor never
    /// stops a recorder.
    std::optional<std::uint32_t> drop_oldest_beyond{};
};

} // namespace rocio
