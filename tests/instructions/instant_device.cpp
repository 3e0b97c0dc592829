#include "instant_device.hpp"

#include <algorithm>
#include <bit>

#include <sys/eventfd.h>
#include <unistd.h>

namespace rocio::test::instant {

virtual_clock& clock() noexcept {
    static constinit virtual_clock the_clock;
    return the_clock;
}

completion_queue::completion_queue(std::uint32_t depth, const receive_script& receives, const poll_hook& hook)
    : depth_(depth),
      receives_(receives),
      hook_(hook),
      ring_(std::bit_ceil(std::size_t{depth})),
      mask_(ring_.size() - 1) {}

void completion_queue::push_receive(wr_id id) noexcept {
    ring_[head_++ & mask_] = {id, false};
}

void completion_queue::push_send(wr_id id) noexcept {
    ring_[head_++ & mask_] = {id, true};
}

std::size_t completion_queue::poll(std::span<work_completion> out, errc&) noexcept {
    if (hook_.call != nullptr) hook_.call(hook_.self);
    std::size_t n = 0;
    for (; n < out.size() && tail_ != head_; ++n) {
        const auto& e = ring_[tail_++ & mask_];
        auto& wc = out[n];
        wc.id = e.id;
        wc.status = errc::success;
        wc.op = e.is_send ? completion_opcode::send : receives_.op;
        wc.has_immediate = !e.is_send;
        wc.immediate = receives_.immediate_is_slot ? e.id.slot : 0x100;
        wc.byte_len = receives_.byte_len;
    }
    clock().now += virtual_clock::per_poll + static_cast<std::int64_t>(n) * virtual_clock::per_message;
    return n;
}

post_outcome queue_pair::post_send(std::span<const send_request> requests) noexcept {
    for (const auto& request : requests) {
        if (request.signalled) completions_.push_send(request.id);
    }
    return {requests.size(), errc::success};
}

post_outcome queue_pair::post_receive(std::span<const receive_request> requests) noexcept {
    for (const auto& request : requests) completions_.push_receive(request.id);
    return {requests.size(), errc::success};
}

// The descriptors never become readable: who spins does not wait.
device::device(const receive_script& receives)
    : receives_(receives), events_(::eventfd(0, EFD_NONBLOCK)), async_events_(::eventfd(0, EFD_NONBLOCK)) {}

device::~device() {
    ::close(events_);
    ::close(async_events_);
}

device_limits device::limits() const {
    constexpr std::uint32_t many = 1U << 20;
    device_limits l;
    l.max_queue_pairs = l.max_work_requests = l.max_completions = many;
    l.max_inline = 256;
    l.max_message = 1U << 30;
    l.max_region = std::uint64_t{1} << 40;
    return l;
}

error_info device::query_port(std::uint8_t, port_attributes& out) const {
    out.state = port_state::active;
    out.active_mtu = mtu::b4096;
    out.netdev_mtu = 4200;
    out.netdev = "instant0";
    return {};
}

error_info device::gid_table(std::uint8_t, std::vector<gid_table_entry>& out) const {
    gid_table_entry e;
    e.value = gid::parse("10.0.0.1").value();
    e.netdev = "instant0";
    e.prefix = 24;
    out = {e};
    return {};
}

error_info device::create_completion_queue(std::uint32_t depth,
                                           std::unique_ptr<device_completion_queue>& out) {
    out = std::make_unique<completion_queue>(depth, receives_, hook_);
    return {};
}

error_info device::create_queue_pair(const device_queue_pair_config& config,
                                     std::unique_ptr<device_queue_pair>& out) {
    auto& completions = static_cast<completion_queue&>(*config.completions);
    out = std::make_unique<queue_pair>(completions, next_number_++);
    return {};
}

error_info device::register_memory(std::span<std::byte> bytes, const memory_region_config&,
                                   std::unique_ptr<device_memory_region>& out) {
    out = std::make_unique<memory_region>(bytes);
    return {};
}

} // namespace rocio::test::instant
