#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <vector>

namespace rocio::detail {

/// The user's own queue pairs, and those that streams, rings and sensors have now.
std::vector<queue_pair_snapshot> queue_pairs_of(const status_snapshot& status);

} // namespace rocio::detail
