#pragma once

#include "registered_memory.hpp"
#include "test_bytes.hpp"
#include "test_packet.hpp"

#include <rocio/transport/rc_queue_pair.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::test {

struct rc_endpoint_options {
    psn send_from{0x500000};
    psn receive_from{0x001000};
    mtu path_mtu = mtu::b256;
    rnr_timer min_rnr_timer{12};
    ack_timeout timeout{14};
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry = 7;
    bool unlimited_retry = false;
    transport::flow_window window{};
    std::uint32_t send_depth = 64;
    std::uint32_t receive_depth = 64;
    std::uint32_t max_inline = 64;
    std::uint32_t max_message = 1U << 30;
    std::size_t memory = 64 * 1024;
};

inline constexpr qpn our_number{0x11};
inline constexpr qpn peer_number{0x22};

constexpr wr_id wr(std::uint32_t slot) noexcept {
    return {3, 7, slot};
}

/// A queue pair with its registered memory and a clock that is moved by hand.
class rc_endpoint {
  public:
    explicit rc_endpoint(const rc_endpoint_options& options = {});

    transport::queue_pair& qp() noexcept { return *qp_; }
    const rc_endpoint_options& options() const noexcept { return options_; }
    registered_memory& memory() noexcept { return memory_; }
    transport::memory_region_table& regions() noexcept { return regions_; }
    transport::time_point now() const noexcept { return now_; }

    rc_endpoint& init();
    rc_endpoint& rtr();
    rc_endpoint& rts();

    /// A send of message `n` (`length` bytes of it) under wr(n), not yet posted.
    send_request make_send(std::uint32_t n, std::size_t length);
    transport::post_result post(const send_request& request) { return qp_->post_send({&request, 1}); }
    transport::post_result send(std::uint32_t n, std::size_t length) { return post(make_send(n, length)); }
    /// Posts a receive of `size` bytes under wr(n); received(n) are its bytes.
    transport::post_result receive(std::uint32_t n, std::size_t size);
    transport::post_result post(const receive_request& request) { return qp_->post_receive({&request, 1}); }
    std::span<const std::byte> received(std::uint32_t n) const { return receives_.at(n).bytes(); }

    void deliver(const test_packet& p);
    void deliver(const wire::packet_view& view) { qp_->on_packet(view, now_); }
    /// What the queue pair wants to send next, taken off it; nothing if nothing.
    std::optional<test_packet> take_packet();
    std::vector<test_packet> take_packets();
    std::optional<work_completion> poll();
    std::vector<work_completion> poll_all();

    void wait(std::chrono::nanoseconds d) {
        now_ += d;
        if (qp_->next_deadline() <= now_) qp_->on_deadline(now_);
    }
    /// Goes to the next deadline, if there is one.
    bool wait_for_deadline();

  private:
    rc_endpoint_options options_;
    transport::memory_region_table regions_;
    registered_memory memory_;
    std::unique_ptr<transport::queue_pair> qp_;
    std::map<std::uint32_t, registered_buffer> receives_;
    transport::time_point now_{std::chrono::seconds{1}};
};

/// Endpoints already in a state; `n` names messages and work requests as rc_endpoint does.
std::unique_ptr<rc_endpoint> init_endpoint(const rc_endpoint_options& options = {});
std::unique_ptr<rc_endpoint> rtr_endpoint(const rc_endpoint_options& options = {});
std::unique_ptr<rc_endpoint> rts_endpoint(const rc_endpoint_options& options = {});
/// Has sent message 1 (`length` bytes) and got "receiver not ready" with timer code 14 (1.28 ms) for its
/// first packet.
std::unique_ptr<rc_endpoint> rnr_waiting_endpoint(std::size_t length = 10,
                                                  const rc_endpoint_options& options = {});
/// Has a FIRST of a two-packet message in receive 1.
std::unique_ptr<rc_endpoint> receiving_endpoint(const rc_endpoint_options& options = {});
std::unique_ptr<rc_endpoint> error_endpoint(const rc_endpoint_options& options = {});

} // namespace rocio::test
