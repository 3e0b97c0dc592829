#pragma once

#include <rocio/types/error.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

namespace rocio::rpc {

/// The status field of a response. Above 0 the handler chose it; these are the protocol's own. An error_code
/// of a call that the peer answered with a status other than 0 has this category and the status as its value:
/// `ec == rpc::status::unknown_function`, or `ec.category() == rpc::status_category()` and `ec.value()` for a
/// handler's own.
enum class status : std::int32_t {
    ok = 0,
    unknown_function = -1,    ///< The peer has no function of this id.
    bad_argument_length = -2, ///< Longer than the slot, or not what the function's schema says.
    result_too_large = -3,    ///< The result does not fit the peer's send slot.
    handler_failed = -4,      ///< The handler threw, or its result is not what its schema says.
};

/// What the calling side finds wrong itself.
enum class errc : int {
    success = 0,
    deadline_exceeded, ///< No answer in time. The peer may have carried the call out, or may still do so.
    bad_response,      ///< The answer's results are not those of the signature, or longer than the slot.
    request_too_long,  ///< Header and arguments do not fit a slot.
};

/// Of rpc::status; name() is "rocio.rpc.status". condition::bad_configuration holds for unknown_function,
/// bad_argument_length and result_too_large.
const boost::system::error_category& status_category() noexcept;
/// Of rpc::errc; name() is "rocio.rpc". condition::bad_configuration holds for request_too_long. None is
/// fatal to the client, so deadline_exceeded is not in condition::timed_out, which asks for a new connection.
const boost::system::error_category& error_category() noexcept;

error_code make_error_code(status s) noexcept;
error_code make_error_code(errc e) noexcept;

/// Thrown by a handler to answer with a status of its own, which must be above 0 (else the answer is
/// status::handler_failed).
class status_error : public std::exception {
  public:
    explicit status_error(std::int32_t value) noexcept : value_(value) {}
    std::int32_t value() const noexcept { return value_; }
    const char* what() const noexcept override { return "the handler answers with a status of its own"; }

  private:
    std::int32_t value_;
};

} // namespace rocio::rpc

namespace boost::system {
template <>
struct is_error_code_enum<rocio::rpc::status> : std::true_type {};
template <>
struct is_error_code_enum<rocio::rpc::errc> : std::true_type {};
} // namespace boost::system
