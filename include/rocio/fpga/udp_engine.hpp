#pragma once

#include <rocio/fpga/register_program.hpp>

#include <boost/asio/ip/address_v4.hpp>

#include <cstdint>

namespace rocio::fpga {

/// Whom a client port of surf's UdpEngine (ethernet/UdpEngine, ClientRemotePort and ClientRemoteIp) sends to.
struct udp_engine_target {
    std::uint32_t base = 0x0011'0000;   ///< Of the engine's registers; a multiple of 4.
    unsigned client = 0;                ///< 0 to 15.
    boost::asio::ip::address_v4 host{}; ///< One host's: not 0.0.0.0, no multicast.
    std::uint16_t port = 4791;          ///< Not 0. RoCEv2 by default.
};

/// errc::invalid_argument for values outside what the members say.
error_info validate(const udp_engine_target& target);

/// Programs the host's address and port into an FPGA's UDP engine and reads them back. The registers hold
/// them in network byte order, as a little-endian word: the first octet is in bits 7:0.
class udp_engine_program final : public register_program {
  public:
    /// Throws rocio::exception for what validate() refuses.
    explicit udp_engine_program(const udp_engine_target& target);

    register_step next(time_point now) override;
    void on_result(const error_info& failure, std::uint32_t value, time_point now) override;
    /// The bus's error, or errc::bad_response when the registers do not hold what was written.
    error_info result() const override { return result_; }

  private:
    std::uint32_t address(unsigned step) const;
    std::uint32_t value(unsigned step) const;

    udp_engine_target target_;
    unsigned step_ = 0; ///< Two writes, then two reads.
    error_info result_{};
};

} // namespace rocio::fpga
