#pragma once

#include <boost/json/object.hpp>

namespace rocio::detail {

/// The JSON merge patch (RFC 7396) that makes `to` of `from`: members that changed, null for those that are
/// gone. An array that changed is there as a whole. A member that became null looks like one that is gone: a
/// merge patch cannot tell them apart.
boost::json::object merge_patch(const boost::json::object& from, const boost::json::object& to);

} // namespace rocio::detail
