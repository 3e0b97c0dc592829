#include "connect/cm_steps.hpp"

namespace rocio::detail {

namespace {

using kind = cm_event_kind;

/// Ends every attempt and every connection.
bool ends_attempt(kind event) noexcept {
    switch (event) {
    case kind::address_error:
    case kind::route_error:
    case kind::connect_error:
    case kind::unreachable:
    case kind::rejected:
    case kind::disconnected:
    case kind::device_removal:
        return true;
    default:
        return false;
    }
}

cm_outcome wait_for(kind wanted, kind event) noexcept {
    if (event == wanted) return cm_outcome::done;
    return ends_attempt(event) ? cm_outcome::failed : cm_outcome::ignored;
}

/// From Linux 6.0 on a neighbour that changes its address makes "unreachable" of a connection that stands,
/// and it goes on standing.
cm_outcome while_established(kind event) noexcept {
    return ends_attempt(event) && event != kind::unreachable ? cm_outcome::failed : cm_outcome::ignored;
}

} // namespace

cm_outcome outcome_of(cm_stage stage, cm_event_kind event) noexcept {
    switch (stage) {
    case cm_stage::fresh:
    case cm_stage::over:
        return cm_outcome::ignored;
    case cm_stage::resolving_address:
        return wait_for(kind::address_resolved, event);
    case cm_stage::resolving_route:
        return wait_for(kind::route_resolved, event);
    case cm_stage::connecting:
        return wait_for(kind::connect_response, event);
    case cm_stage::responded:
    case cm_stage::requested:
        return ends_attempt(event) ? cm_outcome::failed : cm_outcome::ignored;
    case cm_stage::accepting:
        return wait_for(kind::established, event);
    case cm_stage::established:
        return while_established(event);
    case cm_stage::leaving:
        return ends_attempt(event) || event == kind::time_wait_exit ? cm_outcome::done : cm_outcome::ignored;
    case cm_stage::in_time_wait:
        return event == kind::time_wait_exit || event == kind::device_removal ? cm_outcome::done
                                                                              : cm_outcome::ignored;
    }
    return cm_outcome::ignored;
}

} // namespace rocio::detail
