#pragma once

#include <rocio/fpga/detail/register_client_core.hpp>
#include <rocio/types/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rocio::fpga::detail {

/// How accesses become messages; knows nothing of what it was asked before.
class register_protocol {
  public:
    register_protocol() = default;
    register_protocol(const register_protocol&) = delete;
    register_protocol& operator=(const register_protocol&) = delete;
    virtual ~register_protocol() = default;

    virtual std::vector<std::byte> encode(std::uint32_t id, const register_access& access) const = 0;
    /// The number of the access that a message would answer; nothing for what is no answer at all.
    virtual std::optional<std::uint32_t> id_of(std::span<const std::byte> message) const = 0;
    /// Nothing if the message does not answer that access; else how it went. A read's values are put where
    /// they belong.
    virtual std::optional<error_info> judge(std::uint32_t id, const register_access& access,
                                            std::span<const std::byte> message) const = 0;
};

} // namespace rocio::fpga::detail
