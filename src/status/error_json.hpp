#pragma once

#include <rocio/status/json_values.hpp>
#include <rocio/types/error.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace rocio::detail {

/// Code, category and sentence; null where there is no error.
inline boost::json::value error_json(const error_info& error) {
    if (!error) return nullptr;
    return boost::json::object{{"code", error.code.value()},
                               {"category", error.code.category().name()},
                               {"text", json_text(error.message())}};
}

} // namespace rocio::detail
