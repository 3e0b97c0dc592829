#include "fpga/register_client_core.hpp"
#include "fpga/rssi_transport.hpp"
#include "fpga/srp_protocol.hpp"

#include <rocio/fpga/srp_rssi_bus.hpp>

namespace rocio::fpga {

error_info validate(const srp_rssi_config& config) {
    using namespace std::chrono_literals;
    if (auto wrong = validate(config.srp)) return wrong;
    if (auto wrong = validate(config.rssi)) return wrong;
    if (config.first_back_off < 1ms || config.longest_back_off > 60s ||
        config.first_back_off > config.longest_back_off)
        return {errc::invalid_argument, "back-offs of " + std::to_string(config.first_back_off.count()) +
                                            " to " + std::to_string(config.longest_back_off.count()) +
                                            " ms, allowed are 1 ms to 60 s in rising order"};
    return {};
}

namespace detail {

rssi_report_ptr make_rssi_report() {
    return std::make_shared<rssi_report>();
}

srp_rssi_snapshot snapshot_of(const rssi_report_ptr& report) {
    return report ? report->get() : srp_rssi_snapshot{};
}

register_client_core_ptr make_srp_rssi_core(const asio::any_io_executor& executor,
                                            const asio::ip::udp::endpoint& peer,
                                            const srp_rssi_config& config, const rssi_report_ptr& report) {
    throw_if(validate(config));
    if (peer.port() == 0) throw exception({errc::invalid_argument, "the SRP port is 0; boards have 8192"});
    const auto strand = asio::make_strand(executor);
    return std::make_shared<register_client_core>(
        strand, std::make_unique<srp_protocol>(config.srp),
        std::make_unique<rssi_transport>(strand, peer, config, report),
        register_client_core::limits{config.srp.answer_deadline, config.srp.tries});
}

} // namespace detail

} // namespace rocio::fpga
