#pragma once

#include <rocio/fpga/register_space.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace rocio::fpga::detail {

/// What a board with these registers answers to an SRP message; empty when it says nothing: posted writes,
/// and what is no request at all.
std::vector<std::byte> answer_srp(register_space& space, std::span<const std::byte> message);

} // namespace rocio::fpga::detail
