#pragma once

#include "fpga/register_protocol.hpp"

#include <rocio/fpga/srp.hpp>
#include <rocio/fpga/srp_config.hpp>

namespace rocio::fpga::detail {

class srp_protocol final : public register_protocol {
  public:
    explicit srp_protocol(const srp_config& config) : config_(config) {}

    std::vector<std::byte> encode(std::uint32_t id, const register_access& access) const override;
    std::optional<std::uint32_t> id_of(std::span<const std::byte> message) const override;
    std::optional<error_info> judge(std::uint32_t id, const register_access& access,
                                    std::span<const std::byte> message) const override;

  private:
    srp_request request(std::uint32_t id, const register_access& access) const;

    srp_config config_;
};

} // namespace rocio::fpga::detail
