#pragma once

#include <rocio/fpga/register_client.hpp>
#include <rocio/fpga/srp.hpp>
#include <rocio/fpga/srp_rssi_config.hpp>
#include <rocio/fpga/srp_rssi_snapshot.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

namespace detail {

/// What the connection tells of itself, for any thread.
class rssi_report;
using rssi_report_ptr = std::shared_ptr<rssi_report>;

rssi_report_ptr make_rssi_report();
srp_rssi_snapshot snapshot_of(const rssi_report_ptr& report);
/// Throws rocio::exception: errc::invalid_argument, the system's codes.
register_client_core_ptr make_srp_rssi_core(const asio::any_io_executor& executor,
                                            const asio::ip::udp::endpoint& peer,
                                            const srp_rssi_config& config, const rssi_report_ptr& report);

} // namespace detail

/// A register bus that speaks SRPv3 as surf's reliable UDP has it: SRP in packetizer frames (destination 0)
/// on an RSSI connection over UDP.
///
/// The first operation connects. An idle connection is kept, and keeps its execution context busy, until
/// close() or destruction. When the board resets the connection or answers no more, what was sent fails with
/// bus_errc::connection_lost; the next operation connects anew, after the back-off. It waits for the
/// connection within its own deadline, else it fails with bus_errc::not_connected. A board serves one client
/// at a time: two of them cut each other off, each time one of them asks for something.
template <class Executor = asio::any_io_executor>
class basic_srp_rssi_bus : public basic_register_client<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_srp_rssi_bus<Other>;
    };

    /// Sends nothing. Boards listen at srp_default_port. Throws rocio::exception: errc::invalid_argument for
    /// a configuration that validate() refuses or a port of 0.
    explicit basic_srp_rssi_bus(const Executor& executor, const asio::ip::udp::endpoint& peer,
                                const srp_rssi_config& config = {})
        : basic_srp_rssi_bus(executor, peer, config, detail::make_rssi_report()) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_srp_rssi_bus(Context& context, const asio::ip::udp::endpoint& peer,
                                const srp_rssi_config& config = {})
        : basic_srp_rssi_bus(Executor(context.get_executor()), peer, config) {}

    /// Any thread.
    srp_rssi_snapshot snapshot() const {
        auto s = detail::snapshot_of(report_);
        s.requests = this->client_snapshot();
        return s;
    }

  private:
    basic_srp_rssi_bus(const Executor& executor, const asio::ip::udp::endpoint& peer,
                       const srp_rssi_config& config, detail::rssi_report_ptr report)
        : basic_register_client<Executor>(executor,
                                          detail::make_srp_rssi_core(executor, peer, config, report)),
          report_(std::move(report)) {}

    detail::rssi_report_ptr report_;
};

using srp_rssi_bus = basic_srp_rssi_bus<>;

} // namespace rocio::fpga
