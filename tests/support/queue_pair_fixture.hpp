#pragma once

#include "io_context_fixture.hpp"
#include "scripted_device.hpp"

#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace rocio::test {

/// Bytes of a text.
inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text));
}

/// The text in a buffer.
inline std::string text_of(const registered_buffer& b, std::size_t n) {
    return {reinterpret_cast<const char*>(b.data), n};
}

/// A number that no queue pair of a scripted device has: connected to it, a queue pair waits for the script.
inline constexpr std::uint32_t script_peer = 0xABCDEF;

/// Connects `pair` with `peer` without a handshake.
template <class Executor>
error_info connect_to(basic_queue_pair<Executor>& pair, qpn peer) {
    auto target = pair.as_connectable();
    local_parameters ours;
    if (pair.state() == queue_pair_state::reset || pair.state() == queue_pair_state::error) {
        if (auto e = target->prepare(ours)) return e;
    }
    peer_parameters theirs;
    theirs.address = gid::parse("10.0.0.2").value();
    theirs.queue_pair = peer;
    theirs.path_mtu = mtu::b4096;
    if (auto e = target->establish(theirs)) return e;
    target->connected(nullptr);
    return {};
}

/// Connects two queue pairs of one scripted device with each other.
template <class A, class B>
void connect_pairs(basic_queue_pair<A>& a, basic_queue_pair<B>& b) {
    local_parameters ignored;
    ASSERT_FALSE(a.as_connectable()->prepare(ignored));
    ASSERT_FALSE(b.as_connectable()->prepare(ignored));
    ASSERT_FALSE(connect_to(a, b.number()));
    ASSERT_FALSE(connect_to(b, a.number()));
}

/// A context, a scripted device and registered memory of 64 KiB.
class queue_pair_fixture : public io_context_fixture {
  protected:
    explicit queue_pair_fixture(const scripted_device_config& config = {})
        : dev(std::make_shared<scripted_device>(config)), memory(dev, 65536) {}

    /// A queue pair that waits for the script's completions.
    queue_pair connected(const queue_pair_config& config = {}) {
        queue_pair qp(context, dev, config);
        const auto e = connect_to(qp, qpn{script_peer});
        EXPECT_FALSE(e) << e.message();
        return qp;
    }

    registered_buffer text(std::string_view content, std::size_t offset = 0) {
        auto b = memory.buffer(offset, content.size());
        std::memcpy(b.data, content.data(), content.size());
        return b;
    }

    void TearDown() override {
        io_context_fixture::TearDown();
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty());
    }

    std::shared_ptr<scripted_device> dev;
    memory_region memory;
};

} // namespace rocio::test
