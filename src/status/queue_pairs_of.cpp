#include "queue_pairs_of.hpp"

#include <utility>

namespace rocio::detail {

std::vector<queue_pair_snapshot> queue_pairs_of(const status_snapshot& status) {
    auto all = status.queue_pairs;
    const auto add = [&](const auto& owners) {
        for (const auto& owner : owners) {
            auto one = queue_pair_of(owner);
            if (one.number != 0) all.push_back(std::move(one));
        }
    };
    add(status.streams);
    add(status.rings);
    add(status.sensors);
    return all;
}

} // namespace rocio::detail
