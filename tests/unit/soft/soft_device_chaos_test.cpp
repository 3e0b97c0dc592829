#include "simulated_pair.hpp"

#include <rocio/wire/headers.hpp>
#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace rocio {
namespace {

using namespace std::chrono_literals;
using test::v4;

/// One queue pair of the chaos, and which of its work requests are owed a completion.
struct party {
    std::unique_ptr<device_completion_queue> completions;
    std::unique_ptr<device_queue_pair> qp;
    std::set<std::uint32_t> owed;
    std::uint32_t next = 0;
    bool connected = false;
};

/// Two devices on a bad network, and random acts on their queue pairs. Whatever happens, every accepted work
/// request completes exactly once.
class chaos {
  public:
    explicit chaos(std::uint64_t seed) : random_(static_cast<unsigned>(seed)) {
        const fault_plan plan{
            .drop = 0.05, .duplicate = 0.05, .reorder = 0.1, .delay = 0.05, .corrupt = 0.05, .seed = seed};
        for (std::uint8_t side = 0; side < 2; ++side) {
            devices_[side] = soft_device::over(std::make_unique<soft::fault_link>(
                network_.attach(v4(10, 0, 0, static_cast<std::uint8_t>(1 + side))), plan));
            throw_if(devices_[side]->register_memory(memory_[side], {}, regions_[side]));
            for (auto& p : parties_[side]) make(side, p);
        }
    }

    void act() {
        const std::uint8_t side = random_() % 2;
        party& p = parties_[side][random_() % parties_[side].size()];
        switch (random_() % 96) {
        case 0:
            connect_some();
            break;
        case 1:
            EXPECT_FALSE(p.qp->to_error());
            break;
        case 2:
            EXPECT_FALSE(devices_[side]->fail_queue_pair(p.qp->number()));
            break;
        case 3:
            replace(side, p);
            break;
        case 4:
            devices_[side]->set_port_up(random_() % 4 != 0);
            break;
        case 5:
            now_ += std::chrono::milliseconds(random_() % 20);
            break;
        case 6:
            network_.limit_sends(random_() % 4 == 0 ? 3 : 1'000'000);
            break;
        case 7:
            litter(side);
            break;
        default:
            if (random_() % 2 == 0)
                post_send(side, p);
            else
                post_receive(side, p);
        }
        turn(side);
    }

    /// Ends everything and gives what is still owed.
    std::size_t finish() {
        network_.limit_sends(1'000'000);
        std::size_t owed = 0;
        for (std::uint8_t side = 0; side < 2; ++side) {
            for (auto& p : parties_[side]) EXPECT_FALSE(p.qp->to_error());
            turn(side);
            for (auto& p : parties_[side]) owed += p.owed.size();
        }
        return owed;
    }
    std::uint64_t completions() const { return completions_; }
    std::uint64_t successes() const { return successes_; }

  private:
    void make(std::uint8_t side, party& p) {
        p = {};
        throw_if(devices_[side]->create_completion_queue(64, p.completions));
        device_queue_pair_config config;
        config.completions = p.completions.get();
        config.send_depth = config.receive_depth = 16;
        throw_if(devices_[side]->create_queue_pair(config, p.qp));
        throw_if(p.qp->to_init({}));
    }
    /// A new queue pair in the old one's place; completions of the old one may still be polled.
    void replace(std::uint8_t side, party& p) {
        p.qp.reset();
        poll(p);
        make(side, p);
    }
    void connect_some() {
        for (std::size_t i = 0; i < parties_[0].size(); ++i) {
            party& a = parties_[0][i];
            party& b = parties_[1][i];
            if (a.qp->state() == queue_pair_state::ready_to_send &&
                b.qp->state() == queue_pair_state::ready_to_send)
                continue;
            if (a.connected || a.qp->state() != queue_pair_state::init) replace(0, a);
            if (b.connected || b.qp->state() != queue_pair_state::init) replace(1, b);
            connect(0, a, b);
            connect(1, b, a);
        }
    }
    void connect(std::uint8_t side, party& p, const party& peer) {
        connect_attributes a;
        a.peer.address = v4(10, 0, 0, static_cast<std::uint8_t>(2 - side));
        a.peer.queue_pair = peer.qp->number();
        a.peer.capabilities.exact_icrc = true;
        a.local.path_mtu = mtu::b1024;
        a.local.timeout = ack_timeout{8};
        throw_if(p.qp->to_ready_to_receive(a));
        throw_if(p.qp->to_ready_to_send(a));
        p.connected = true;
    }
    registered_buffer some_buffer(std::uint8_t side) {
        const std::uint32_t size = random_() % 3'000;
        return {memory_[side].data() + random_() % 1'000, size, regions_[side]->local_key()};
    }
    void post_send(std::uint8_t side, party& p) {
        send_request s;
        s.id.slot = p.next++;
        s.buffer = some_buffer(side);
        if (p.qp->post_send({&s, 1}).accepted == 1) p.owed.insert(s.id.slot);
    }
    void post_receive(std::uint8_t side, party& p) {
        const receive_request r{{0, 0, p.next++}, {memory_[side].data(), 3'000, regions_[side]->local_key()}};
        if (p.qp->post_receive({&r, 1}).accepted == 1) p.owed.insert(r.id.slot);
    }
    void litter(std::uint8_t side) {
        std::vector<std::byte> bytes(random_() % 100);
        for (auto& b : bytes) b = static_cast<std::byte>(random_());
        network_.inject({v4(10, 0, 0, 9), 7, random_() % 8 == 0, bytes},
                        v4(10, 0, 0, static_cast<std::uint8_t>(1 + side)));
    }
    void turn(std::uint8_t side) {
        devices_[side]->progress(now_ += 1us);
        for (auto& p : parties_[side]) poll(p);
    }
    void poll(party& p) {
        std::array<work_completion, 8> batch;
        errc error = errc::success;
        for (std::size_t n; (n = p.completions->poll(batch, error)) != 0;) {
            for (std::size_t i = 0; i < n; ++i) {
                EXPECT_EQ(p.owed.erase(batch[i].id.slot), 1U) << "completed twice, or never posted";
                ++completions_;
                successes_ += batch[i].status == errc::success;
            }
        }
        EXPECT_EQ(error, errc::success);
    }

    std::mt19937 random_;
    soft::simulated_network network_;
    device::time_point now_ = device::time_point{} + 1h;
    std::array<std::vector<std::byte>, 2> memory_{std::vector<std::byte>(4'096),
                                                  std::vector<std::byte>(4'096)};
    std::array<std::shared_ptr<soft_device>, 2> devices_;
    std::array<std::unique_ptr<device_memory_region>, 2> regions_;
    std::array<std::array<party, 6>, 2> parties_;
    std::uint64_t completions_ = 0, successes_ = 0;
};

class Chaos : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Chaos, EveryAcceptedWorkRequestCompletesExactlyOnce) {
    chaos world(GetParam());
    for (int i = 0; i < 8'000 && !HasFailure(); ++i) world.act();
    EXPECT_EQ(world.finish(), 0U);
    EXPECT_GT(world.completions(), 1'000U);
    EXPECT_GT(world.successes(), 50U) << "the chaos also carries messages";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Chaos, ::testing::Range<std::uint64_t>(1, 9));

/// Packets with a good ICRC, from the right peer, with anything in them: they reach the transport.
TEST(InsidePeer, NeverWritesOutsideAPostedReceive) {
    test::simulated_pair net(std::nullopt, {.slots = 256, .slot_bytes = 4'096});
    std::mt19937 random(5);
    const wire::icrc_flow flow{v4(10, 0, 0, 1), v4(10, 0, 0, 2), 4791, 4791};
    const wire::icrc_engine icrc(flow);
    for (std::uint32_t i = 0; i < 256; ++i) std::ranges::fill(net.b.slot(i), std::byte{0xC5});
    std::uint32_t rounds = 0;
    for (int round = 0; round < 30'000; ++round) {
        if (net.b.qp().state() == queue_pair_state::error) {
            net.b.add_queue_pair();
            net.b.connect(net.b.towards(net.a.as_peer()));
            net.b.post_receives(0, 4);
            ++rounds;
        }
        wire::bth h;
        h.op = wire::opcode{static_cast<std::uint8_t>(random() % 0x18)};
        h.destination = net.b.qp().number();
        h.ack_request = random() % 2 == 0;
        h.solicited = random() % 2 == 0;
        h.pad = random() % 8 == 0 ? random() % 4 : 0;
        h.sequence = psn{0xFFFFF0} + random() % 6;
        std::vector<std::byte> bytes(wire::bth::size + 4 * (random() % 1'040) + wire::icrc_size);
        for (auto& b : bytes) b = static_cast<std::byte>(random());
        h.emit(std::span<std::byte, wire::bth::size>(bytes.data(), wire::bth::size));
        const std::uint32_t sum = icrc.of_packet(bytes);
        for (std::size_t i = 0; i < 4; ++i)
            bytes[bytes.size() - 4 + i] = static_cast<std::byte>(sum >> (8 * i));
        net.network.inject({flow.source, 4791, false, bytes}, flow.destination);
        net.b.turn(net.now);
        net.b.received().clear();
    }
    EXPECT_GT(rounds, 10U) << "the peer was told off";
    EXPECT_EQ(net.b.counter("drops.bad_icrc"), 0U);
    for (std::uint32_t i = 4; i < 256; ++i)
        ASSERT_TRUE(std::ranges::all_of(net.b.slot(i), [](std::byte b) { return b == std::byte{0xC5}; }))
            << i;
}

} // namespace
} // namespace rocio
