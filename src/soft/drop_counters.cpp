#include "soft/drop_counters.hpp"

#include <string>

namespace rocio::soft {

std::string_view to_string(drop_reason reason) noexcept {
    switch (reason) {
    case drop_reason::port_down:
        return "port_down";
    case drop_reason::truncated:
        return "truncated";
    case drop_reason::too_short:
        return "too_short";
    case drop_reason::not_multiple_of_4:
        return "not_multiple_of_4";
    case drop_reason::bad_version:
        return "bad_version";
    case drop_reason::unknown_opcode:
        return "unknown_opcode";
    case drop_reason::pad_exceeds_payload:
        return "pad_exceeds_payload";
    case drop_reason::unexpected_payload:
        return "unexpected_payload";
    case drop_reason::bad_icrc:
        return "bad_icrc";
    case drop_reason::bad_pkey:
        return "bad_pkey";
    case drop_reason::unknown_queue_pair:
        return "unknown_queue_pair";
    case drop_reason::foreign_source:
        return "foreign_source";
    case drop_reason::wrong_service:
        return "wrong_service";
    case drop_reason::wrong_state:
        return "wrong_state";
    case drop_reason::count_:
        break;
    }
    return "unknown";
}

drop_reason reason_of(wire::malformed m) noexcept {
    switch (m) {
    case wire::malformed::not_multiple_of_4:
        return drop_reason::not_multiple_of_4;
    case wire::malformed::bad_version:
        return drop_reason::bad_version;
    case wire::malformed::unknown_opcode:
        return drop_reason::unknown_opcode;
    case wire::malformed::pad_exceeds_payload:
        return drop_reason::pad_exceeds_payload;
    case wire::malformed::unexpected_payload:
        return drop_reason::unexpected_payload;
    case wire::malformed::too_short:
    case wire::malformed::none:
        break;
    }
    return drop_reason::too_short;
}

void drop_counters::append_counters(std::vector<device_snapshot::counter>& out) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
        out.push_back({"drops." + std::string(to_string(static_cast<drop_reason>(i))), counts_[i].value()});
}

} // namespace rocio::soft
