#pragma once

#include "registered_memory.hpp"
#include "roce_capture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace rocio::test {

/// One packet of a captured conversation.
struct seen_packet {
    std::vector<std::byte> bytes;
    wire::packet_view view{};

    bool is_answer() const {
        return view.op() == wire::rc::acknowledge || view.op().what() == wire::operation::read_response;
    }
    /// Everything but the ICRC, which covers addresses that a queue pair does not know.
    std::vector<std::byte> without_icrc() const { return {bytes.begin(), bytes.end() - wire::icrc_size}; }

    void set_key(std::uint32_t key) {
        constexpr std::size_t key_at = wire::bth::size + 8;
        for (std::size_t i = 0; i < 4; ++i)
            bytes[key_at + i] = static_cast<std::byte>(key >> (24 - 8 * i) & 0xFF);
        EXPECT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
    }
};

inline std::vector<seen_packet> packets_of(const std::string& file) {
    std::vector<seen_packet> all;
    for (const auto& ethernet : read_pcap(std::filesystem::path(ROCIO_TEST_DATA) / "vectors" / file)) {
        auto captured = roce_in(ethernet);
        if (!captured) continue;
        seen_packet p{std::move(captured->bytes)};
        if (wire::packet_view::parse(p.bytes, p.view) != wire::malformed::none) continue;
        all.push_back(std::move(p));
    }
    return all;
}

/// A region in the place of the one that WRITEs and READs of a conversation name. The requests get its key
/// instead of theirs.
class captured_memory {
  public:
    static constexpr std::size_t size = 1 << 17;

    captured_memory(transport::memory_region_table& regions, std::vector<seen_packet>& packets)
        : base_(lowest_address(packets)),
          memory_(regions, size,
                  memory_access::local_write | memory_access::remote_write | memory_access::remote_read,
                  base_) {
        for (seen_packet& p : packets)
            if (p.view.op().has_reth()) p.set_key(memory_.key());
    }
    /// Puts there what the READ that is packet i found.
    void fill_for_read(const std::vector<seen_packet>& packets, std::size_t i) {
        if (packets[i].view.op() != wire::rc::read_request) return;
        auto to =
            memory_.bytes().begin() + static_cast<std::ptrdiff_t>(packets[i].view.reth().address - base_);
        for (++i; i < packets.size() && packets[i].is_answer(); ++i)
            to = std::ranges::copy(packets[i].view.payload(), to).out;
    }

  private:
    static std::uint64_t lowest_address(const std::vector<seen_packet>& packets) {
        std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max() - size;
        for (const seen_packet& p : packets)
            if (p.view.op().has_reth() && p.view.reth().length != 0)
                lowest = std::min(lowest, p.view.reth().address);
        return lowest;
    }
    std::uint64_t base_;
    registered_memory memory_;
};

} // namespace rocio::test
