#include "rc_endpoint.hpp"
#include "simulated_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// An unreliable connection over a network that loses, repeats, reorders and damages: what is delivered is
// whole, and what is missing is counted.

namespace rocio::test {
namespace {

constexpr std::uint32_t stream = 20;
constexpr std::size_t message_size = 4 * 256 + 100; // five packets
constexpr std::uint32_t per_message = 5;

enum class kind : std::uint8_t { sends, writes };

/// Twenty messages of five packets as they leave; each with its number as immediate.
struct uc_stream {
    explicit uc_stream(kind k) {
        sender->remote();
        for (std::uint32_t n = 0; n < stream; ++n) {
            receiver->receive(n, message_size);
            auto r = sender->make_rdma(k == kind::sends ? opcode::send_with_immediate
                                                        : opcode::rdma_write_with_immediate,
                                       n, message_size, remote_base + n * message_size, receiver->key());
            r.immediate = n;
            EXPECT_EQ(sender->post(r).accepted, 1U);
        }
        packets = sender->take_packets();
    }
    /// The messages that were told, each checked.
    std::set<std::uint32_t> arrived() {
        std::set<std::uint32_t> all;
        while (const auto c = receiver->poll()) {
            EXPECT_EQ(error_code(c->status), error_code(errc::success));
            EXPECT_EQ(c->byte_len, message_size);
            const bool written = c->op == completion_opcode::receive_rdma_write_with_immediate;
            const auto bytes = written ? std::span<const std::byte>(receiver->remote_at(
                                             remote_base + c->immediate * message_size, message_size))
                                       : receiver->received(c->id.slot);
            EXPECT_EQ(first_difference(bytes.first(message_size), c->immediate), message_size)
                << "message " << c->immediate << " is torn";
            EXPECT_TRUE(all.insert(c->immediate).second);
        }
        return all;
    }

    std::unique_ptr<rc_endpoint> sender = rts_endpoint(unreliable());
    std::unique_ptr<rc_endpoint> receiver = [] {
        auto o = unreliable();
        o.receive_from = rc_endpoint_options{}.send_from;
        return rts_endpoint(o);
    }();
    std::vector<test_packet> packets;
};

std::set<std::uint32_t> all_but(std::uint32_t missing) {
    std::set<std::uint32_t> all;
    for (std::uint32_t n = 0; n < stream; ++n)
        if (n != missing) all.insert(n);
    return all;
}

class uc_tear : public testing::TestWithParam<kind> {};

TEST_P(uc_tear, each_lost_packet_costs_its_message_and_no_other) {
    for (std::uint32_t lost = 0; lost < stream * per_message; ++lost) {
        SCOPED_TRACE("lost packet " + std::to_string(lost));
        uc_stream s(GetParam());
        ASSERT_EQ(s.packets.size(), std::size_t{stream} * per_message);
        for (std::uint32_t i = 0; i < s.packets.size(); ++i)
            if (i != lost) s.receiver->deliver(s.packets[i]);
        EXPECT_EQ(s.arrived(), all_but(lost / per_message));
        const auto& c = s.receiver->qp().counters();
        const bool last = lost + 1 == s.packets.size();
        EXPECT_EQ(c.psn_gaps, last ? 0U : 1U) << "a gap is visible when something comes behind it";
        EXPECT_EQ(c.psns_missed, last ? 0U : 1U);
        EXPECT_EQ(s.receiver->qp().state(), transport::queue_pair_state::ready_to_send);
    }
}

TEST_P(uc_tear, two_packets_that_changed_places_cost_their_messages_and_no_other) {
    for (std::uint32_t i = 0; i + 1 < stream * per_message; ++i) {
        SCOPED_TRACE("swapped packets " + std::to_string(i) + " and the next");
        uc_stream s(GetParam());
        std::swap(s.packets[i], s.packets[i + 1]);
        for (const test_packet& p : s.packets) s.receiver->deliver(p);
        auto arrived = s.arrived();
        arrived.insert({i / per_message, (i + 1) / per_message});
        EXPECT_EQ(arrived, all_but(stream));
    }
}

TEST_P(uc_tear, each_repeated_packet_costs_at_most_its_message) {
    for (std::uint32_t twice = 0; twice < stream * per_message; ++twice) {
        SCOPED_TRACE("packet twice " + std::to_string(twice));
        uc_stream s(GetParam());
        for (std::uint32_t i = 0; i < s.packets.size(); ++i) {
            s.receiver->deliver(s.packets[i]);
            if (i == twice) s.receiver->deliver(s.packets[i]);
        }
        auto arrived = s.arrived();
        arrived.erase(twice / per_message);
        EXPECT_EQ(arrived, all_but(twice / per_message));
        EXPECT_EQ(s.receiver->qp().counters().duplicates_received, 1U);
    }
}

TEST_P(uc_tear, lost_runs_are_counted_packet_by_packet) {
    for (std::uint32_t from = 0; from < 12; ++from) {
        for (std::uint32_t length = 1; length < 12; ++length) {
            uc_stream s(GetParam());
            for (std::uint32_t i = 0; i < s.packets.size(); ++i)
                if (i < from || i >= from + length) s.receiver->deliver(s.packets[i]);
            EXPECT_EQ(s.receiver->qp().counters().psn_gaps, 1U);
            EXPECT_EQ(s.receiver->qp().counters().psns_missed, length);
            EXPECT_EQ(s.arrived().size(),
                      stream - ((from + length - 1) / per_message - from / per_message + 1));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(kinds, uc_tear, testing::Values(kind::sends, kind::writes));

// ---- Whole traffic

constexpr std::uint32_t slots = 64;
constexpr std::size_t longest = 20'000;

/// One sender and one receiver on a simulated network; SENDs and WRITEs with immediate in turn.
class uc_traffic {
  public:
    uc_traffic(std::uint64_t seed, const network_faults& faults, mtu path_mtu, std::uint32_t messages)
        : network_(seed, faults), messages_(messages), random_(static_cast<std::uint32_t>(seed)) {
        const psn first(static_cast<std::uint32_t>(0xFFFFFF - seed % 50));
        for (auto* qp : {left_.get(), right_.get()}) {
            EXPECT_EQ(qp->to_init(memory_access::remote_write), errc::success);
            EXPECT_EQ(qp->to_rtr({qpn{3}, path_mtu, first, rnr_timer{1}}), errc::success);
            transport::send_path path;
            path.first = first;
            EXPECT_EQ(qp->to_rts(path), errc::success);
        }
        network_.attach(*left_, *right_);
        for (std::uint32_t i = 0; i < slots; ++i) {
            out_.push_back(memory_.take(longest));
            in_.push_back(memory_.take(longest));
            post_receive(i);
        }
        for (std::uint32_t n = 0; n < messages_; ++n) sizes_.push_back(4 + random_() % (longest - 4));
    }

    void run() {
        const auto result = network_.run(
            [this] {
                post();
                check();
                return testing::Test::HasFailure();
            },
            1'000'000);
        EXPECT_EQ(result, simulated_network::outcome::at_rest);
        check();
        EXPECT_EQ(posted_, messages_);
        EXPECT_FALSE(right_->wants_to_send(network_.now()));
        EXPECT_EQ(right_->state(), transport::queue_pair_state::ready_to_send);
    }
    std::size_t told() const { return told_.size(); }
    bool in_order() const { return std::ranges::is_sorted(told_); }
    const transport::queue_pair_counters& sender() const { return left_->counters(); }
    const transport::queue_pair_counters& receiver() const { return right_->counters(); }
    const simulated_network::counts& network() const { return network_.counted(); }

  private:
    void post_receive(std::uint32_t i) {
        const receive_request r{wr(i), in_[i]};
        EXPECT_EQ(right_->post_receive({&r, 1}).accepted, 1U);
    }
    /// A message now and then, so that the network has time in between.
    void post() {
        if (posted_ == messages_ || network_.now() < next_post_) return;
        const std::uint32_t n = posted_++;
        send_request r;
        r.buffer = out_[n % slots].first(static_cast<std::uint32_t>(sizes_[n]));
        fill_message(r.buffer.bytes(), n);
        r.op = n % 2 == 0 ? opcode::send_with_immediate : opcode::rdma_write_with_immediate;
        r.immediate = n;
        r.remote_address = n % slots * longest;
        r.remote_key = rkey{target_.key()};
        EXPECT_EQ(left_->post_send({&r, 1}).accepted, 1U);
        next_post_ = network_.now() + std::chrono::microseconds{5};
        network_.at(next_post_, [] {});
    }
    void check() {
        work_completion c;
        while (left_->poll({&c, 1}) == 1) EXPECT_EQ(error_code(c.status), error_code(errc::success));
        while (right_->poll({&c, 1}) == 1) {
            ASSERT_EQ(error_code(c.status), error_code(errc::success));
            const std::uint32_t n = c.immediate;
            ASSERT_LT(n, posted_);
            ASSERT_EQ(c.byte_len, sizes_[n]);
            const bool sent = c.op == completion_opcode::receive;
            ASSERT_EQ(sent, n % 2 == 0);
            const auto bytes = sent ? in_[c.id.slot].bytes().first(c.byte_len)
                                    : target_.bytes().subspan(n % slots * longest, c.byte_len);
            ASSERT_EQ(first_difference(bytes, n), c.byte_len) << "message " << n << " is torn";
            told_.push_back(n);
            post_receive(c.id.slot);
        }
    }

    transport::memory_region_table regions_;
    registered_memory memory_{regions_, 2 * slots* longest};
    registered_memory target_{regions_, slots* longest,
                              memory_access::local_write | memory_access::remote_write};
    std::unique_ptr<transport::queue_pair> left_ = transport::make_uc_queue_pair({qpn{1}}, regions_);
    std::unique_ptr<transport::queue_pair> right_ = transport::make_uc_queue_pair({qpn{2}}, regions_);
    simulated_network network_;
    std::uint32_t messages_;
    std::mt19937 random_;
    std::vector<registered_buffer> out_, in_;
    std::vector<std::size_t> sizes_;
    std::vector<std::uint32_t> told_;
    std::uint32_t posted_ = 0;
    transport::time_point next_post_{};
};

struct uc_case {
    mtu path_mtu;
    std::uint64_t seed;
};

class uc_network : public testing::TestWithParam<uc_case> {};

TEST_P(uc_network, delivers_everything_in_order_where_nothing_is_lost) {
    uc_traffic t(GetParam().seed, {}, GetParam().path_mtu, 300);
    t.run();
    EXPECT_EQ(t.told(), 300U);
    EXPECT_TRUE(t.in_order());
    EXPECT_EQ(t.receiver().packets_received, t.sender().packets_sent);
    EXPECT_EQ(t.receiver().psn_gaps + t.receiver().interrupted_messages + t.receiver().duplicates_received,
              0U);
}

TEST_P(uc_network, counts_every_loss_and_delivers_what_is_whole) {
    network_faults lossy;
    lossy.drop = 0.02;
    uc_traffic t(GetParam().seed, lossy, GetParam().path_mtu, 300);
    t.run();
    EXPECT_TRUE(t.in_order());
    EXPECT_GT(t.told(), 0U);
    EXPECT_LT(t.told(), 300U);
    // What is lost behind the last packet that arrived cannot be seen.
    EXPECT_LE(t.receiver().psns_missed, t.network().dropped);
    EXPECT_GE(t.receiver().psns_missed + 20, t.network().dropped);
    EXPECT_EQ(t.receiver().messages_received, t.told());
    EXPECT_EQ(t.receiver().duplicates_received, 0U);
}

TEST_P(uc_network, never_delivers_a_torn_message_under_every_fault) {
    for (const double p : {0.01, 0.05, 0.2}) {
        uc_traffic t(GetParam().seed, network_faults::each(p), GetParam().path_mtu, 200);
        t.run();
        EXPECT_GT(t.receiver().psn_gaps, 0U);
        EXPECT_GT(t.receiver().duplicates_received, 0U);
        EXPECT_EQ(t.receiver().messages_received, t.told());
    }
}

std::vector<uc_case> cases() {
    std::vector<uc_case> all;
    for (const mtu m : {mtu::b256, mtu::b1024, mtu::b4096})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) all.push_back({m, seed});
    return all;
}

INSTANTIATE_TEST_SUITE_P(sweep, uc_network, testing::ValuesIn(cases()));

} // namespace
} // namespace rocio::test
