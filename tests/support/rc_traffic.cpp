#include "rc_traffic.hpp"

#include <gtest/gtest.h>

#include <random>

namespace rocio::test {

namespace {

constexpr std::uint64_t target_base = 0x7000'0000'0000;
constexpr std::uint32_t read_seed = 424'242;

bool takes_receive(opcode op) noexcept {
    return op != opcode::rdma_write && op != opcode::rdma_read;
}

} // namespace

/// Sends by its own plan and receives by the other's.
struct rc_traffic::side {
    side(const char* name_, const rc_endpoint_options& options, qpn own, qpn peer, std::uint32_t seed_base_,
         const traffic_plan& out_, const traffic_plan& in_)
        : name(name_),
          out(out_),
          in(in_),
          seed_base(seed_base_),
          memory(regions, (out.max_size + 1) * out.sends + (in.max_size + 1) * in.receives),
          target(regions, (in.max_size + 1) * (in.sends + 1),
                 memory_access::local_write | memory_access::remote_write | memory_access::remote_read,
                 target_base),
          qp(transport::make_rc_queue_pair({own, out.sends, in.receives, 0}, regions)) {
        fill_message(target.bytes().first(in.max_size), read_seed);
        EXPECT_EQ(qp->to_init(memory_access::remote_write | memory_access::remote_read), errc::success);
        for (std::uint32_t i = 0; i < out.sends; ++i) send_buffers.push_back(memory.take(out.max_size));
        for (std::uint32_t i = 0; i < in.receives; ++i) receive_buffers.push_back(memory.take(in.max_size));
        EXPECT_EQ(qp->to_rtr({peer, options.path_mtu, options.receive_from, options.min_rnr_timer}),
                  errc::success);
        EXPECT_EQ(qp->to_rts({options.send_from, options.timeout, options.retry_count, options.rnr_retry,
                              options.unlimited_retry, options.window, options.response_window,
                              options.initiator_depth}),
                  errc::success);
    }

    void post_receive(std::uint32_t slot) {
        const receive_request r{wr(slot), receive_buffers[slot]};
        EXPECT_EQ(qp->post_receive({&r, 1}).accepted, 1U);
    }
    void post_receives() {
        for (std::uint32_t i = 0; i < in.receives; ++i) post_receive(i);
    }

    opcode op_of(std::uint32_t n) const {
        if (out.op_of) return out.op_of(n);
        return out.immediate ? opcode::send_with_immediate : opcode::send;
    }
    std::uint32_t length_of(std::uint32_t n) const { return static_cast<std::uint32_t>(out.size_of(n)); }
    std::span<std::byte> slot_at_peer(std::uint32_t n) const {
        return other->target.bytes().subspan((out.max_size + 1) * (1 + n % out.sends), length_of(n));
    }
    send_request request(std::uint32_t n) {
        send_request r;
        r.id = wr(n);
        r.buffer = send_buffers[n % out.sends].first(length_of(n));
        r.op = op_of(n);
        r.immediate = n;
        r.remote_key = rkey{other->target.key()};
        r.remote_address = target_base;
        if (r.op == opcode::rdma_read) {
            std::fill(r.buffer.bytes().begin(), r.buffer.bytes().end(), std::byte{0});
            return r;
        }
        if (r.op == opcode::rdma_write || r.op == opcode::rdma_write_with_immediate)
            r.remote_address +=
                static_cast<std::uint64_t>(slot_at_peer(n).data() - other->target.bytes().data());
        fill_message(r.buffer.bytes(), seed_base + n);
        return r;
    }

    void check_done(const work_completion& c) {
        const std::uint32_t n = completed;
        EXPECT_EQ(c.id, wr(n)) << name << ": sends complete in order";
        EXPECT_EQ(failure, errc::success) << name << ": no success after a failure";
        if (op_of(n) == opcode::rdma_read) {
            EXPECT_EQ(c.byte_len, length_of(n));
            const auto bytes = send_buffers[n % out.sends].bytes().first(length_of(n));
            EXPECT_EQ(first_difference(bytes, read_seed), bytes.size()) << name << ": READ " << n;
        } else if (op_of(n) == opcode::rdma_write || op_of(n) == opcode::rdma_write_with_immediate) {
            EXPECT_EQ(first_difference(slot_at_peer(n), seed_base + n), length_of(n))
                << name << ": WRITE " << n;
        }
    }

    void post_sends() {
        while (posted < out.messages && posted - completed < out.sends && failure == errc::success) {
            const send_request r = request(posted);
            ASSERT_EQ(qp->post_send({&r, 1}).accepted, 1U);
            ++posted;
        }
    }

    /// Takes completions; gives the receive slots that are free again.
    std::vector<std::uint32_t> take(std::uint32_t peer_seed_base) {
        std::vector<std::uint32_t> free_slots;
        work_completion c;
        while (qp->poll({&c, 1}) == 1) {
            if (c.status != errc::success) {
                if (failure == errc::success) failure = c.status;
            } else if (c.op != completion_opcode::receive &&
                       c.op != completion_opcode::receive_rdma_write_with_immediate) {
                check_done(c);
                ++completed;
            } else {
                check_arrival(c, peer_seed_base);
                free_slots.push_back(c.id.slot);
            }
        }
        return free_slots;
    }

    void check_arrival(const work_completion& c, std::uint32_t peer_seed_base) {
        while (next_in < in.messages && !takes_receive(other->op_of(next_in))) ++next_in;
        const std::uint32_t n = next_in++;
        ++arrived;
        ASSERT_LT(n, in.messages) << name << ": a message more than was sent";
        ASSERT_EQ(c.byte_len, in.size_of(n)) << name << ": length of message " << n;
        const opcode op = other->op_of(n);
        EXPECT_EQ(c.has_immediate, op != opcode::send);
        EXPECT_EQ(c.immediate, op != opcode::send ? n : 0);
        const bool written = op == opcode::rdma_write_with_immediate;
        EXPECT_EQ(c.op, written ? completion_opcode::receive_rdma_write_with_immediate
                                : completion_opcode::receive);
        const auto bytes = written ? std::span<const std::byte>(other->slot_at_peer(n))
                                   : receive_buffers[c.id.slot].bytes().first(c.byte_len);
        ASSERT_EQ(first_difference(bytes, peer_seed_base + n), c.byte_len)
            << name << ": contents of message " << n;
    }

    /// Messages of a plan that complete a receive of the other side.
    std::uint32_t to_arrive() const {
        std::uint32_t sum = 0;
        for (std::uint32_t n = 0; n < out.messages; ++n) sum += takes_receive(op_of(n));
        return sum;
    }
    void meet(const side& o) {
        other = &o;
        expected = o.to_arrive();
    }

    bool finished() const {
        return failure != errc::success || (completed == out.messages && arrived == expected);
    }

    const char* name;
    traffic_plan out;
    traffic_plan in;
    std::uint32_t seed_base;
    transport::memory_region_table regions;
    registered_memory memory;
    mutable registered_memory target;
    std::unique_ptr<transport::queue_pair> qp;
    const side* other = nullptr;
    std::uint32_t expected = 0; ///< Completions of receives.
    std::uint32_t next_in = 0;
    std::vector<registered_buffer> send_buffers;
    std::vector<registered_buffer> receive_buffers;
    std::uint32_t posted = 0;
    std::uint32_t completed = 0;
    std::uint32_t arrived = 0;
    errc failure = errc::success;
};

namespace {

constexpr std::uint32_t left_seeds = 1;
constexpr std::uint32_t right_seeds = 1'000'000;

} // namespace

rc_traffic::rc_traffic(const settings& s) : settings_(s), network_(s.seed, s.faults) {
    std::mt19937 random(static_cast<std::uint32_t>(s.seed));
    rc_endpoint_options l = s.endpoint;
    // Every other seed starts just before the wrap.
    const bool wraps = s.seed % 2 == 0;
    l.send_from = psn(wraps ? 0xFFFFF0 : static_cast<std::uint32_t>(random()) & psn::mask);
    l.receive_from = psn(wraps ? 0xFFFFFA : static_cast<std::uint32_t>(random()) & psn::mask);
    rc_endpoint_options r = l;
    std::swap(r.send_from, r.receive_from);
    left_ = std::make_unique<side>("left", l, our_number, peer_number, left_seeds, s.left, s.right);
    right_ = std::make_unique<side>("right", r, peer_number, our_number, right_seeds, s.right, s.left);
    left_->meet(*right_);
    right_->meet(*left_);
    network_.attach(*left_->qp, *right_->qp);
    left_->post_receives();
    right_->post_receives();
}

rc_traffic::~rc_traffic() = default;

bool rc_traffic::turn() {
    for (const auto& [me, peer_seeds] : {std::pair{left_.get(), right_seeds}, {right_.get(), left_seeds}}) {
        for (const std::uint32_t slot : me->take(peer_seeds)) {
            if (me->failure != errc::success) continue;
            if (me->in.receive_delay.count() == 0)
                me->post_receive(slot);
            else
                network_.at(network_.now() + me->in.receive_delay, [me = me, slot] {
                    if (me->failure == errc::success) me->post_receive(slot);
                });
        }
        me->post_sends();
    }
    return left_->finished() && right_->finished();
}

void rc_traffic::run() {
    // A side that failed is silent; the other finds out by itself or has nothing to send and rests.
    const auto result =
        network_.run([this] { return turn() || testing::Test::HasFatalFailure(); }, settings_.max_steps);
    EXPECT_NE(result, simulated_network::outcome::too_long) << describe();
    for (const auto& [from, to] : {std::pair{left_.get(), right_.get()}, {right_.get(), left_.get()}}) {
        if (!from->out.op_of) {
            EXPECT_LE(from->completed, to->arrived)
                << "a send completed whose message did not arrive; " << describe();
        }
        EXPECT_LE(to->arrived, from->posted);
    }
}

bool rc_traffic::complete() const {
    return left_->completed == settings_.left.messages && right_->arrived == right_->expected &&
           right_->completed == settings_.right.messages && left_->arrived == left_->expected;
}

errc rc_traffic::failure() const noexcept {
    return left_->failure != errc::success ? left_->failure : right_->failure;
}

const transport::queue_pair_counters& rc_traffic::left() const {
    return left_->qp->counters();
}
const transport::queue_pair_counters& rc_traffic::right() const {
    return right_->qp->counters();
}
std::uint32_t rc_traffic::arrived_right() const {
    return right_->arrived;
}
std::uint32_t rc_traffic::completed_left() const {
    return left_->completed;
}

std::string rc_traffic::describe() const {
    std::string s = "seed " + std::to_string(settings_.seed);
    for (const side* one : {left_.get(), right_.get()})
        s += std::string("; ") + one->name + " sent " + std::to_string(one->completed) + " of " +
             std::to_string(one->out.messages) + ", got " + std::to_string(one->arrived) + " of " +
             std::to_string(one->expected) + ", " + error_code(one->failure).message();
    return s;
}

} // namespace rocio::test
