#pragma once

#include <rocio/fpga/hsb_control.hpp>
#include <rocio/types/error.hpp>

#include <type_traits>

namespace rocio::fpga {

/// What the asking side of the control channel finds wrong itself.
enum class hsb_errc : int {
    success = 0,
    no_answer,    ///< None of the tries was answered. Writes may have been carried out all the same.
    bad_response, ///< The answer is to this request, but has other registers.
};

/// Of hsb_status, the status of a response; name() is "rocio.fpga.hsb_status". condition::bad_configuration
/// holds for invalid_address, invalid_length, invalid_flags, invalid_block_size, invalid_indirect_address and
/// unknown_command. None is fatal to the client.
const boost::system::error_category& hsb_status_category() noexcept;
/// Of hsb_errc; name() is "rocio.fpga.hsb". Neither is fatal to the client, so no_answer is not in
/// condition::timed_out, which asks for a new connection.
const boost::system::error_category& hsb_error_category() noexcept;

error_code make_error_code(hsb_status s) noexcept;
error_code make_error_code(hsb_errc e) noexcept;

} // namespace rocio::fpga

namespace boost::system {
template <>
struct is_error_code_enum<rocio::fpga::hsb_status> : std::true_type {};
template <>
struct is_error_code_enum<rocio::fpga::hsb_errc> : std::true_type {};
} // namespace boost::system
