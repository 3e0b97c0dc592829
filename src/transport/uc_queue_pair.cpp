#include "transport/connected_queue_pair.hpp"
#include "transport/uc_requester.hpp"
#include "transport/uc_responder.hpp"

#include <rocio/transport/uc_queue_pair.hpp>

namespace rocio::transport {

namespace {

class uc_queue_pair final : public connected_queue_pair {
  public:
    uc_queue_pair(const queue_pair_config& config, const memory_region_table& regions)
        : connected_queue_pair(config, wire::service::uc),
          requester_(config, regions, completions_, counters_),
          responder_(config, regions, completions_, counters_) {}

    void on_packet(const wire::packet_view& packet, time_point) override;
    std::size_t next_packets(std::span<packet_out> out, time_point) override;
    void commit(std::size_t n, time_point) override { requester_.commit(n); }
    time_point next_deadline() const noexcept override { return never; }
    void on_deadline(time_point) override {}
    void end_trains() noexcept override { requester_.end_trains(); }
    bool wants_to_send(time_point) const noexcept override {
        return can_send() && requester_.wants_to_send();
    }
    bool access_violated() const noexcept override { return false; }

  private:
    void connect_responder(const receive_path& path, memory_access granted) noexcept override {
        responder_.connect(path, granted);
    }
    void connect_requester(const segmentation& cutter, const send_path& path) noexcept override {
        requester_.connect(cutter, path);
    }
    std::size_t sends_outstanding() const noexcept override { return requester_.outstanding(); }
    std::size_t receives_outstanding() const noexcept override { return responder_.outstanding(); }
    void take(const send_request& request) noexcept override { requester_.post(request); }
    void take(const receive_request& request) noexcept override { responder_.post(request); }
    void withdraw_offer() noexcept override { requester_.withdraw_offer(); }
    void flush() noexcept override {
        requester_.flush();
        responder_.flush();
    }

    uc_requester requester_;
    uc_responder responder_;
};

void uc_queue_pair::on_packet(const wire::packet_view& packet, time_point) {
    ++counters_.packets_received;
    withdraw_offer();
    if (!can_receive() || packet.op().type() != wire::service::uc) {
        ++counters_.ignored_packets;
        return;
    }
    if (responder_.on_request(packet) == uc_responder::verdict::failed) enter_error();
}

std::size_t uc_queue_pair::next_packets(std::span<packet_out> out, time_point) {
    if (!can_send()) return 0;
    const std::size_t n = requester_.fill(out);
    if (!requester_.buffer_refused()) return n;
    requester_.fail(errc::local_protection_error);
    enter_error();
    return 0;
}

} // namespace

std::unique_ptr<queue_pair> make_uc_queue_pair(const queue_pair_config& config,
                                               const memory_region_table& regions) {
    return std::make_unique<uc_queue_pair>(config, regions);
}

} // namespace rocio::transport
