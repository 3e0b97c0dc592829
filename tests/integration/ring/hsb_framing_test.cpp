#include "ring_fixture.hpp"

#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/ring/frame_metadata.hpp>
#include <rocio/ring/hsb_immediate.hpp>

namespace rocio::test {
namespace {

// ---- Frames as an HSB FPGA sends them: WRITE ONLY packets into a page, and one WRITE ONLY with immediate
// for the metadata behind the data.

/// The sending half of such an FPGA on a UC queue pair.
class fpga {
  public:
    fpga(asio::io_context& context, const std::string& device, std::uint16_t version)
        : layout_(hsb_immediate_layout(version)),
          dev_(open_device(test_device(device))),
          memory_(dev_, 65536),
          pair_(context, dev_, uc()) {}

    local_parameters numbers() {
        local_parameters out;
        throw_if(pair_.as_connectable()->prepare(out));
        return out;
    }
    void connect(const local_parameters& host, std::uint32_t page_size) {
        region_ = host.region;
        page_size_ = page_size;
        throw_if(pair_.as_connectable()->establish(peer_of(host)));
        pair_.as_connectable()->connected(nullptr);
    }
    /// `bytes` of data in packets of `packet`, then the metadata. `psn` of the metadata's packet goes on from
    /// frame to frame.
    void send_frame(std::uint32_t page, std::uint8_t fill, std::uint32_t bytes, std::uint32_t packet = 128) {
        const auto data = memory_.buffer(0, bytes);
        std::ranges::fill(data.bytes(), std::byte{fill});
        const std::uint64_t base = std::uint64_t{page} * page_size_;
        for (std::uint32_t at = 0; at < bytes; at += packet) {
            const auto n = std::min(packet, bytes - at);
            pair_.async_write(memory_.buffer(at, n), region_.buffer(base + at, n), [](const error_code&) {});
            ++psn_;
        }
        frame_metadata m;
        m.psn = psn_ & 0xFFFFFF;
        m.bytes_written = bytes;
        m.frame_number = frame_number_++;
        const auto out = memory_.buffer(32768, frame_metadata::size);
        m.encode(std::span<std::byte, frame_metadata::size>(out.data, frame_metadata::size));
        const auto psn_mask = (1U << layout_.psn_width) - 1;
        pair_.async_write_with_immediate(out, region_.buffer(base + frame_metadata::offset_after(bytes), 128),
                                         pack(layout_, {page, psn_ & psn_mask}),
                                         [this](const error_code&) { ++sent_; });
        ++psn_;
    }
    std::uint32_t psn_ = 0;
    int sent_ = 0;
    immediate_layout layout_;

  private:
    static queue_pair_config uc() {
        queue_pair_config c;
        c.type = queue_pair_type::uc;
        c.first_psn = psn{0};
        return c;
    }
    std::shared_ptr<device> dev_;
    memory_region memory_;
    queue_pair pair_;
    remote_region region_{};
    std::uint32_t page_size_ = 0;
    std::uint16_t frame_number_ = 0;
};

class HsbFraming : public RingSoft, public ::testing::WithParamInterface<std::uint16_t> {
  protected:
    void join(fpga& board, ring_transceiver& ring) {
        ring.setup();
        auto peer = peer_of(board.numbers());
        peer.immediates = hsb_immediate_layout(GetParam());
        ring.connect(peer);
        board.connect(ring.local(), ring.config().slot_size);
    }
    static frame_metadata metadata_in(ring_transceiver& ring, std::uint32_t slot, std::size_t bytes) {
        const auto at = frame_metadata::offset_after(bytes);
        return frame_metadata::decode(ring.rx_slot(slot).subspan(at).first<frame_metadata::size>());
    }
};
INSTANTIATE_TEST_SUITE_P(BothLayouts, HsbFraming, ::testing::Values(0x2603, 0x2501));

TEST_P(HsbFraming, several_packets_make_one_frame_in_its_page_wherever_the_page_count_stands) {
    auto c = config_on("soft:127.95.17.1", 64, 512);
    c.mode = ring_mode::rx_only;
    ring_transceiver ring(context, c);
    fpga board(context, "soft:127.95.17.2", GetParam());
    join(board, ring);
    for (std::uint32_t i = 0; i < 100; ++i) {
        const auto page = (37 + i) % 64; // an FPGA keeps its page index across configurations
        board.send_frame(page, static_cast<std::uint8_t>(i), 300);
        const auto got = next(ring);
        EXPECT_EQ(got.first, page);
        const auto bytes = ring.rx_slot(page).first(300);
        EXPECT_THAT(bytes, ::testing::Each(std::byte(static_cast<std::uint8_t>(i))));
        const auto m = metadata_in(ring, page, 300);
        EXPECT_EQ(m.bytes_written, 300U);
        EXPECT_EQ(m.frame_number, i);
        EXPECT_EQ(m.psn, 4 * i + 3);
        ring.release(page);
    }
    EXPECT_EQ(ring.snapshot().bad_immediate, 0U);
}

TEST_P(HsbFraming, the_psn_in_the_immediate_wraps_at_its_width_and_the_page_does_not_care) {
    auto c = config_on("soft:127.95.18.1", 64, 512);
    ring_transceiver ring(context, c);
    fpga board(context, "soft:127.95.18.2", GetParam());
    join(board, ring);
    board.psn_ = GetParam() >= 0x2603 ? 0xFFFFA : 0xFFFFFA;
    for (std::uint32_t i = 0; i < 6; ++i) {
        board.send_frame(i, 1, 256);
        EXPECT_EQ(next(ring).first, i);
        ring.release(i);
    }
}

TEST_P(HsbFraming, a_page_written_again_while_it_is_held_is_known_by_its_lease) {
    ring_transceiver ring(context, config_on("soft:127.95.19.1", 64, 512));
    fpga board(context, "soft:127.95.19.2", GetParam());
    join(board, ring);
    std::optional<ring_slot> lease;
    ring.async_receive([&](const error_code& ec, ring_slot slot) {
        ASSERT_FALSE(ec);
        lease.emplace(std::move(slot));
    });
    board.send_frame(9, 0xAA, 256);
    eventually([&] { return lease.has_value(); });
    EXPECT_FALSE(lease->overwritten());
    board.send_frame(9, 0xBB, 256);
    eventually([&] { return ring.snapshot().overwritten == 1; });
    EXPECT_TRUE(lease->overwritten());
    EXPECT_EQ(lease->bytes()[0], std::byte{0xBB});
}

TEST_P(HsbFraming, a_page_beyond_the_ring_is_counted_and_the_ring_goes_on) {
    ring_transceiver ring(context, config_on("soft:127.95.20.1", 64, 512));
    fpga board(context, "soft:127.95.20.2", GetParam());
    ring.setup();
    auto peer = peer_of(board.numbers());
    peer.immediates = hsb_immediate_layout(GetParam());
    ring.connect(peer);
    board.connect(ring.local(), 256); // pages 64 to 127 lie within the region, but are no slots
    board.send_frame(100, 1, 100);
    eventually([&] { return ring.snapshot().bad_immediate == 1; });
    board.send_frame(2, 1, 100);
    EXPECT_EQ(next(ring).first, 2U);
    ring.release(2);
    eventually([&] { return ring.snapshot().receives_posted == 64; });
}

} // namespace
} // namespace rocio::test
