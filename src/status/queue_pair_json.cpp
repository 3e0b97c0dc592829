#include "part_json.hpp"

#include <rocio/status/json_values.hpp>

namespace rocio::detail {

namespace json = boost::json;

json::object to_json(const queue_pair_snapshot& q) {
    return {{"owner", json_text(q.owner)},
            {"device", json_text(q.device)},
            {"type", json_text(q.type)},
            {"state", json_text(q.state)},
            {"number", q.number},
            {"receive_psn", q.receive_psn},
            {"send_psn", q.send_psn},
            {"peer_address", text_or_null(q.peer_address)},
            {"peer_number", q.peer_number},
            {"path_mtu", bytes(q.path_mtu)},
            {"min_rnr_timer", q.min_rnr_timer.code()},
            {"rnr_retry", q.rnr_retry},
            {"retry_count", q.retry_count},
            {"counters", counters_json(q.counters)}};
}

} // namespace rocio::detail
