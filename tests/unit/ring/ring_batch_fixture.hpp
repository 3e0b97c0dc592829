#pragma once

#include "io_context_fixture.hpp"
#include "scripted_device.hpp"

#include <rocio/ring/ring_transceiver.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <vector>

namespace rocio::test {

using numbers = std::vector<std::uint32_t>;

/// A ring of eight slots on a scripted device.
class RingBatch : public io_context_fixture {
  protected:
    static constexpr std::uint32_t slots = 8;

    RingBatch() {
        config.device = dev;
        config.mode = ring_mode::rx_only;
        config.slots = slots;
        config.slot_size = config.frame_size = 64;
    }
    static peer_parameters some_peer() {
        peer_parameters peer;
        peer.address = gid::parse("10.0.0.2").value();
        peer.queue_pair = qpn{0xABCDEF};
        peer.region = {0, 512, rkey{0x77}};
        return peer;
    }
    ring_transceiver& connected(const peer_parameters& peer = some_peer()) {
        ring.emplace(context, config);
        ring->connect(peer);
        return *ring;
    }
    void writes(const numbers& immediates) {
        for (const auto immediate : immediates) ASSERT_TRUE(dev->complete_write(0, immediate));
    }
    void sends(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(dev->complete_receive(0, {}));
    }
    /// What came since the last call, in order of arrival.
    numbers taken() {
        run_until([&] { return dev->queued() == 0; });
        numbers all;
        (void)ring->poll([&](std::uint32_t slot) { all.push_back(slot); });
        return all;
    }
    void release(const numbers& which) {
        for (const auto slot : which) ring->release(slot);
        const auto posted = dev->receive_log(0).size();
        run_until([&] { return dev->receive_log(0).size() == posted + which.size(); });
    }
    /// The receives posted since the first `slots`.
    numbers posted_again() const {
        numbers all;
        for (const auto& request : dev->receive_log(0)) all.push_back(request.id.slot);
        all.erase(all.begin(), all.begin() + slots);
        return all;
    }
    wr_id any_id(std::uint32_t slot) const {
        auto id = dev->receive_log(0).front().id;
        id.slot = slot;
        return id;
    }
    static work_completion write_of(wr_id id, std::uint32_t immediate) {
        work_completion wc;
        wc.id = id;
        wc.op = completion_opcode::receive_rdma_write_with_immediate;
        wc.has_immediate = true;
        wc.immediate = immediate;
        return wc;
    }
    void TearDown() override {
        ring.reset();
        io_context_fixture::TearDown();
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty());
    }

    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    ring_config config;
    std::optional<ring_transceiver> ring;
};

} // namespace rocio::test
