#include "allocation_counter.hpp"
#include "registered_memory.hpp"

#include <rocio/transport/rc_queue_pair.hpp>
#include <rocio/transport/uc_queue_pair.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;
using transport::packet_out;

TEST(allocation_counter, sees_every_way_to_allocate) {
    const allocation_counter counter;
    auto seen = [&, before = std::uint64_t{0}]() mutable {
        const std::uint64_t now = counter.allocations();
        return now != std::exchange(before, now);
    };
    void* volatile p = std::malloc(10);
    EXPECT_TRUE(seen());
    std::free(p);
    p = std::calloc(2, 10);
    EXPECT_TRUE(seen());
    p = std::realloc(p, 5000);
    EXPECT_TRUE(seen());
    std::free(p);
    p = std::aligned_alloc(64, 128);
    EXPECT_TRUE(seen());
    std::free(p);
    p = ::operator new(10);
    EXPECT_TRUE(seen());
    ::operator delete(p);
    p = ::operator new (128, std::align_val_t{64});
    EXPECT_TRUE(seen());
    ::operator delete (p, std::align_val_t{64});
    EXPECT_FALSE(seen());
}

/// Two connected queue pairs and the way between them, in memory that exists before counting starts.
class rc_allocation : public testing::Test {
  protected:
    rc_allocation() {
        connect(*left, psn{0xFFFF00}, psn{5});
        connect(*right, psn{5}, psn{0xFFFF00});
    }

    static void connect(transport::queue_pair& qp, psn send_from, psn receive_from) {
        EXPECT_EQ(qp.to_init(memory_access::remote_write | memory_access::remote_read), errc::success);
        EXPECT_EQ(qp.to_rtr({qpn{1}, mtu::b1024, receive_from, rnr_timer{1}}), errc::success);
        transport::send_path path;
        path.first = send_from;
        EXPECT_EQ(qp.to_rts(path), errc::success);
    }

    /// Moves one batch; with `lose` its first packet is lost.
    std::size_t move(transport::queue_pair& from, transport::queue_pair& to, bool lose) {
        const std::size_t n = from.next_packets(out, now);
        for (std::size_t i = lose ? 1 : 0; i < n; ++i) {
            const auto header = out[i].header.bytes();
            const std::size_t pad = wire::pad_of(out[i].payload.size());
            const std::size_t size = header.size() + out[i].payload.size() + pad + wire::icrc_size;
            std::copy(header.begin(), header.end(), wire_bytes.begin());
            std::copy(out[i].payload.begin(), out[i].payload.end(),
                      wire_bytes.begin() + static_cast<std::ptrdiff_t>(header.size()));
            wire::packet_view view;
            EXPECT_EQ(wire::packet_view::parse(std::span(wire_bytes).first(size), view),
                      wire::malformed::none);
            to.on_packet(view, now);
        }
        from.commit(n, now);
        return n;
    }

    void exchange(std::uint32_t messages, bool losing) {
        const registered_buffer from = memory.take(3000);
        const registered_buffer to = memory.take(3000);
        const std::byte inlined[20]{};
        std::uint32_t received = 0;
        std::uint32_t posted = 0;
        for (std::uint32_t round = 0; received < messages; ++round) {
            now += 10us;
            if (round % 3 == 0) { // late receives: "not ready" happens too
                const receive_request r{{0, 0, round}, to};
                right->post_receive({&r, 1});
            }
            if (posted < 2 * messages) { // not all of them complete at the other side
                send_request s;
                s.buffer = from.first(posted % 3000);
                s.op = operations[posted % std::size(operations)];
                s.inlined = s.op == opcode::send && posted % 5 == 0;
                s.inline_data = inlined;
                s.remote_address = remote_address;
                s.remote_key = rkey{remote.key()};
                posted += static_cast<std::uint32_t>(left->post_send({&s, 1}).accepted);
            }
            move(*left, *right, losing && round % 7 == 0);
            move(*right, *left, losing && round % 11 == 0);
            for (auto* qp : {left.get(), right.get()}) {
                if (qp->next_deadline() <= now) qp->on_deadline(now);
                for (std::size_t n; (n = qp->poll(completions)) != 0;)
                    if (qp == right.get()) received += static_cast<std::uint32_t>(n);
            }
            if (losing && round % 50 == 0) now += 100ms;
        }
    }

    transport::memory_region_table regions;
    registered_memory memory{regions, 16'384};
    static constexpr std::uint64_t remote_address = 0x5000;
    static constexpr opcode operations[] = {opcode::send, opcode::rdma_write, opcode::rdma_read,
                                            opcode::send_with_immediate, opcode::rdma_write_with_immediate};
    registered_memory remote{
        regions, 3000, memory_access::local_write | memory_access::remote_write | memory_access::remote_read,
        remote_address};
    std::unique_ptr<transport::queue_pair> left = transport::make_rc_queue_pair({qpn{1}}, regions);
    std::unique_ptr<transport::queue_pair> right = transport::make_rc_queue_pair({qpn{1}}, regions);
    transport::time_point now{1h};
    std::array<packet_out, 64> out{};
    std::array<std::byte, 2048> wire_bytes{};
    std::array<work_completion, 16> completions{};
};

TEST_F(rc_allocation, is_none_after_construction) {
    const allocation_counter counter(allocation_counter::scope::process);
    exchange(1000, false);
    EXPECT_EQ(counter.allocations(), 0U);
}

TEST_F(rc_allocation, is_none_under_loss_retry_and_not_ready) {
    const allocation_counter counter;
    exchange(1000, true);
    EXPECT_EQ(counter.allocations(), 0U);
    EXPECT_GT(left->counters().retransmitted_packets, 0U);
    EXPECT_GT(left->counters().rnr_naks_received, 0U);
}

TEST_F(rc_allocation, is_none_for_an_unreliable_connection) {
    left = transport::make_uc_queue_pair({qpn{1}}, regions);
    right = transport::make_uc_queue_pair({qpn{1}}, regions);
    connect(*left, psn{0xFFFF00}, psn{5});
    connect(*right, psn{5}, psn{0xFFFF00});
    const registered_buffer from = memory.take(3000);
    const registered_buffer to = memory.take(3000);
    const allocation_counter counter;
    std::size_t received = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const receive_request r{{0, 0, i}, to};
        right->post_receive({&r, 1});
        send_request s;
        s.op = i % 2 == 0 ? opcode::send : opcode::rdma_write_with_immediate;
        s.buffer = from.first(i);
        s.remote_address = remote_address;
        s.remote_key = rkey{remote.key()};
        left->post_send({&s, 1});
        while (move(*left, *right, i % 7 == 0) != 0) {
        }
        left->poll(completions);
        received += right->poll(completions);
    }
    EXPECT_EQ(counter.allocations(), 0U);
    EXPECT_GT(received, 1000U);
    EXPECT_GT(right->counters().psn_gaps, 0U);
}

TEST_F(rc_allocation, is_none_in_the_error_state) {
    exchange(10, false);
    const allocation_counter counter;
    left->to_error();
    const receive_request r{};
    const send_request s{};
    for (int i = 0; i < 100; ++i) {
        left->post_receive({&r, 1});
        left->post_send({&s, 1});
    }
    while (left->poll(completions) != 0) {
    }
    EXPECT_EQ(counter.allocations(), 0U);
}

} // namespace
} // namespace rocio::test
