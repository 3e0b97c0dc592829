#pragma once

#include "test_bytes.hpp"

#include <rocio/soft/soft_device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rocio::test {

struct soft_end_options {
    std::uint32_t slots = 256;
    std::uint32_t slot_bytes = 4096;
    std::uint32_t depth = 128; ///< Of both work queues.
    std::uint32_t completions = 512;
    /// 1 ms. Over sockets a longer one where a test counts retransmissions: there time passes by itself.
    ack_timeout timeout{8};
    queue_pair_type type = queue_pair_type::rc;
    memory_access rights = memory_access::local_write; ///< Of the slots.
    memory_access granted = memory_access::local_read; ///< By the queue pair to its peer.
    std::optional<std::uint64_t> iova{};
};

/// Everything granted to the peer; RDMA addresses are no pointers.
inline soft_end_options open_to_peer(soft_end_options o = {}) {
    o.granted = memory_access::remote_write | memory_access::remote_read;
    o.rights = memory_access::local_write | o.granted;
    o.iova = 0x1'0000'0000;
    return o;
}
inline soft_end_options unreliable(soft_end_options o = {}) {
    o.type = queue_pair_type::uc;
    return open_to_peer(o);
}

/// One end of a connection on a soft device: a queue pair, its completion queue, and slots of registered
/// memory. Completions are kept in the order they came.
class soft_end {
  public:
    explicit soft_end(std::shared_ptr<soft_device> device, const soft_end_options& options = {})
        : device_(std::move(device)),
          options_(options),
          memory_(std::size_t{options.slots} * options.slot_bytes) {
        throw_if(device_->create_completion_queue(options.completions, completions_));
        throw_if(device_->register_memory(memory_, {options.rights, options.iova}, region_));
        add_queue_pair();
    }

    /// The device of another end, to make a second one on it.
    static std::shared_ptr<soft_device> share(const soft_end& other) { return other.device_; }
    soft_device& device() noexcept { return *device_; }
    device_queue_pair& qp() noexcept { return *queue_pair_; }
    device_completion_queue& cq() noexcept { return *completions_; }
    void destroy_queue_pair() { queue_pair_.reset(); }
    void add_queue_pair() {
        device_queue_pair_config config;
        config.type = options_.type;
        config.completions = completions_.get();
        config.send_depth = config.receive_depth = options_.depth;
        config.max_inline = 64;
        throw_if(device_->create_queue_pair(config, queue_pair_));
        init_attributes attributes;
        attributes.remote_access = options_.granted;
        throw_if(queue_pair_->to_init(attributes));
    }

    std::span<std::byte> slot(std::uint32_t i) noexcept {
        return std::span(memory_).subspan(std::size_t{i} * options_.slot_bytes, options_.slot_bytes);
    }
    registered_buffer buffer(std::uint32_t i, std::uint32_t bytes) noexcept {
        return {slot(i).data(), bytes, region_->local_key()};
    }

    errc post_receive(std::uint32_t i) {
        const receive_request r{{0, 0, i}, buffer(i, options_.slot_bytes)};
        return queue_pair_->post_receive({&r, 1}).reason;
    }
    void post_receives(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = first; i < first + count; ++i) ASSERT_EQ(post_receive(i), errc::success);
    }
    errc post_send(std::uint32_t i, std::uint32_t bytes, std::uint32_t immediate = 0) {
        send_request s;
        s.id.slot = i;
        s.op = opcode::send_with_immediate;
        s.immediate = immediate;
        s.buffer = buffer(i, bytes);
        return queue_pair_->post_send({&s, 1}).reason;
    }

    /// From or to slot `i` here, to or from slot `j` of `other`.
    send_request make_rdma(opcode op, std::uint32_t i, std::uint32_t bytes, soft_end& other, std::uint32_t j,
                           std::uint32_t immediate = 0) {
        send_request s;
        s.id.slot = i;
        s.op = op;
        s.immediate = immediate;
        s.buffer = buffer(i, bytes);
        s.remote_address = other.region_->iova() + std::uint64_t{j} * other.options_.slot_bytes;
        s.remote_key = other.region_->remote_key();
        return s;
    }
    errc post(const send_request& s) { return queue_pair_->post_send({&s, 1}).reason; }

    /// What the other end has to know to connect.
    peer_parameters as_peer() const {
        peer_parameters peer;
        std::vector<gid_table_entry> table;
        throw_if(device_->gid_table(1, table));
        peer.address = table.front().value;
        peer.udp_port = device_->udp_port();
        peer.queue_pair = queue_pair_->number();
        peer.send_psn = first_psn_;
        peer.capabilities = device_->capabilities(1);
        return peer;
    }
    connect_attributes towards(const peer_parameters& peer) const {
        connect_attributes a;
        a.peer = peer;
        a.local.send_psn = first_psn_;
        a.local.path_mtu = mtu::b4096;
        a.local.timeout = options_.timeout;
        return a;
    }
    void connect(const connect_attributes& a) {
        throw_if(queue_pair_->to_ready_to_receive(a));
        throw_if(queue_pair_->to_ready_to_send(a));
    }
    void set_first_psn(psn p) noexcept { first_psn_ = p; }

    /// One progress() and all completions it left; true when anything happened.
    bool turn(device::time_point now) {
        bool worked = device_->progress(now);
        work_completion batch[16];
        errc error = errc::success;
        for (std::size_t n; (n = completions_->poll(batch, error)) != 0; worked = true)
            for (std::size_t i = 0; i < n; ++i)
                (is_receive(batch[i]) ? received_ : sent_).push_back(batch[i]);
        return worked;
    }

    /// Completions of receives, and of sends, in order. Failed ones say nothing of their kind: they are told
    /// apart by the slot's half when a test uses slots below 128 for receives.
    std::vector<work_completion>& received() noexcept { return received_; }
    std::vector<work_completion>& sent() noexcept { return sent_; }

    std::uint64_t counter(std::string_view name) const {
        for (const auto& c : device_->snapshot().counters)
            if (c.name == name) return c.value;
        ADD_FAILURE() << "no counter " << name;
        return 0;
    }
    device_queue_pair_counters counters() const {
        device_queue_pair_counters c;
        EXPECT_TRUE(queue_pair_->counters(c));
        return c;
    }

  private:
    static bool is_receive(const work_completion& c) noexcept {
        if (c.status != errc::success) return c.id.slot < 128;
        return c.op == completion_opcode::receive ||
               c.op == completion_opcode::receive_rdma_write_with_immediate;
    }

    std::shared_ptr<soft_device> device_;
    soft_end_options options_;
    std::vector<std::byte> memory_;
    std::unique_ptr<device_completion_queue> completions_;
    std::unique_ptr<device_memory_region> region_;
    std::unique_ptr<device_queue_pair> queue_pair_;
    std::vector<work_completion> received_, sent_;
    psn first_psn_{0xFFFFF0};
};

inline void connect_ends(soft_end& a, soft_end& b) {
    a.connect(a.towards(b.as_peer()));
    b.connect(b.towards(a.as_peer()));
}

/// True when `bytes` are exactly message `seed`.
inline bool holds_message(std::span<const std::byte> bytes, std::uint32_t seed) {
    return first_difference(bytes, seed) == bytes.size();
}

} // namespace rocio::test
