#pragma once

#include <rocio/types/error.hpp>

#include <type_traits>

namespace rocio::fpga {

/// What a register bus finds wrong itself, before or instead of the board's answer.
enum class bus_errc : int {
    success = 0,
    no_answer,       ///< None of the tries was answered. Writes may have been carried out all the same.
    not_connected,   ///< There was no connection within the deadline; nothing was sent.
    connection_lost, ///< The connection ended before the answer. Writes may have been carried out.
    refused,         ///< The board refuses; its reason is in the text.
};

/// Of bus_errc; name() is "rocio.fpga.bus". None is fatal to a bus, which connects again by itself.
const boost::system::error_category& bus_error_category() noexcept;
error_code make_error_code(bus_errc e) noexcept;

} // namespace rocio::fpga

namespace boost::system {
template <>
struct is_error_code_enum<rocio::fpga::bus_errc> : std::true_type {};
} // namespace boost::system
