#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::verbs {

/// What the error number of a verbs call means; the system's own code where rocio has none of its own.
error_code code_of(int number) noexcept;

/// "STEP on DEVICE: Invalid argument (22); ASKED".
error_info failure(int number, std::string_view step, std::string_view device, std::string_view asked = {});

/// "ATTRIBUTE of DEVICE: 200000 asked, 1 to 64512 allowed".
error_info outside(errc code, std::string_view attribute, std::string_view device, std::uint64_t asked,
                   std::uint64_t least, std::uint64_t most);

/// Why posting stopped. Providers return the error number, its negative (rxe), or -1 with errno.
errc post_error(int result, int number) noexcept;

/// What a failed registration means; `limit` is RLIMIT_MEMLOCK in bytes, nothing where there is none.
error_info registration_failure(int number, std::uint64_t bytes, std::optional<std::uint64_t> limit,
                                std::string_view device);

/// Why a queue pair could not go to RTR: with RoCE that is where the system looks for the way to the peer.
error_info route_failure(int number, const gid& peer, std::uint32_t gid_index, std::string_view device);

/// What a machine without usable devices looks like.
struct machine {
    std::vector<std::string> kernel_devices{}; ///< /sys/class/infiniband
    bool has_uverbs = false;                   ///< The kernel gives devices to user space.
    std::vector<std::string> listed{};         ///< What libibverbs lists.
};

/// Why `name` cannot be opened: there are no devices, or not that one.
error_info not_found(std::string_view name, const machine& here);
/// Why there is no device at all, and how to get one.
std::string why_no_devices(const machine& here);

} // namespace rocio::verbs
