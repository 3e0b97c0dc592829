#pragma once

#include "registered_memory.hpp"
#include "test_bytes.hpp"
#include "test_packet.hpp"

#include <rocio/transport/rc_queue_pair.hpp>
#include <rocio/transport/uc_queue_pair.hpp>

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
    bool unreliable = false;                           ///< A UC queue pair.
    memory_access granted = memory_access::local_read; ///< By the queue pair to its peer.
    memory_access remote_rights =
        memory_access::local_write | memory_access::remote_write | memory_access::remote_read;
    std::uint32_t responder_depth = 16;
    std::uint32_t initiator_depth = 8;
    transport::flow_window response_window{};
};

/// RDMA address of the region that peers may reach; not its pointer.
inline constexpr std::uint64_t remote_base = 0x10000;
inline constexpr std::size_t remote_bytes = 64 * 1024;

/// With everything granted to the peer.
inline rc_endpoint_options open_to_peer(rc_endpoint_options o = {}) {
    o.granted = memory_access::remote_write | memory_access::remote_read;
    return o;
}
inline rc_endpoint_options unreliable(rc_endpoint_options o = {}) {
    o.unreliable = true;
    return open_to_peer(o);
}

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
    registered_memory& remote() noexcept { return remote_; }
    std::uint32_t key() const noexcept { return remote_.key(); }
    std::span<std::byte> remote_at(std::uint64_t address, std::size_t length) {
        return remote_.bytes().subspan(address - remote_base, length);
    }
    transport::time_point now() const noexcept { return now_; }

    rc_endpoint& init();
    rc_endpoint& rtr();
    rc_endpoint& rts();

    /// A send of message `n` (`length` bytes of it) under wr(n), not yet posted.
    send_request make_send(std::uint32_t n, std::size_t length);
    transport::post_result post(const send_request& request) { return qp_->post_send({&request, 1}); }
    transport::post_result send(std::uint32_t n, std::size_t length) { return post(make_send(n, length)); }
    /// The same as a WRITE to, or a READ from, `address` under `key`. A READ's buffer is empty at first.
    send_request make_rdma(opcode op, std::uint32_t n, std::size_t length, std::uint64_t address,
                           std::uint32_t key);
    /// Posts a receive of `size` bytes under wr(n); received(n) are its bytes.
    transport::post_result receive(std::uint32_t n, std::size_t size);
    transport::post_result post(const receive_request& request) { return qp_->post_receive({&request, 1}); }
    std::span<const std::byte> received(std::uint32_t n) const { return receives_.at(n).bytes(); }

    /// The buffer of the last send wr(n).
    std::span<const std::byte> sent(std::uint32_t n) const { return sends_.at(n).bytes(); }

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
    registered_memory remote_;
    std::unique_ptr<transport::queue_pair> qp_;
    std::map<std::uint32_t, registered_buffer> receives_;
    std::map<std::uint32_t, registered_buffer> sends_;
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
