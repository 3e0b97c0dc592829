#pragma once

#include "fpga/register_protocol.hpp"

#include <rocio/fpga/register_space.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// rogue's memory bridge (rogue, interfaces/memory/TcpClient and TcpServer): ZeroMQ messages of several parts,
// integers in the host's byte order.
namespace rocio::fpga::detail {

enum class bridge_type : std::uint32_t { read = 1, write = 2, post = 3, verify = 4, probe = 0xFFFFFFFE };

using bridge_part = std::vector<std::byte>;
using bridge_parts = std::vector<bridge_part>;

struct bridge_header {
    std::uint32_t id = 0;
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    bridge_type type = bridge_type::probe;

    friend bool operator==(const bridge_header&, const bridge_header&) = default;
};

/// The four parts of a header.
bridge_parts encode(const bridge_header& header);
/// Nothing if the first four parts are not there or not as long as they must be.
std::optional<bridge_header> parse_bridge_header(const bridge_parts& parts);

// A message as the core's transports carry it: the four parts, then each later part behind its length.
std::vector<std::byte> flatten(const bridge_parts& parts);
/// Nothing for what flatten() never gives.
std::optional<bridge_parts> unflatten(std::span<const std::byte> message);

class memory_bridge_protocol final : public register_protocol {
  public:
    std::vector<std::byte> encode(std::uint32_t id, const register_access& access) const override;
    std::optional<std::uint32_t> id_of(std::span<const std::byte> message) const override;
    std::optional<error_info> judge(std::uint32_t id, const register_access& access,
                                    std::span<const std::byte> message) const override;
};

/// What a bridge before these registers answers; empty when it says nothing, because the message is none.
bridge_parts answer_bridge(register_space& space, const bridge_parts& request);

} // namespace rocio::fpga::detail
