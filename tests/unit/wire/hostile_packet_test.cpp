#include "packet_examiner.hpp"
#include "roce_capture.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <random>

/// Bytes from anyone. Run with AddressSanitizer: every input lies in a heap block of exactly its size.
namespace {

using namespace rocio;

class exact_block {
  public:
    explicit exact_block(std::span<const std::byte> bytes)
        : memory_(std::make_unique<std::byte[]>(bytes.size())), size_(bytes.size()) {
        std::ranges::copy(bytes, memory_.get());
    }
    std::span<std::byte> bytes() { return {memory_.get(), size_}; }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_;
};

class hostile_packet : public testing::Test {
  protected:
    void examine(std::span<const std::byte> bytes, const std::string& origin) {
        exact_block block{bytes};
        const auto broken = examiner_.broken_promise(block.bytes());
        ASSERT_EQ(broken, std::nullopt) << origin << ", " << bytes.size() << " bytes";
    }

    static const std::vector<test::captured_packet>& captures() {
        static const auto packets = test::load_captures(ROCIO_TEST_DATA "/vectors");
        return packets;
    }

  private:
    test::packet_examiner examiner_;
};

TEST_F(hostile_packet, cut_anywhere_is_handled) {
    ASSERT_FALSE(captures().empty());
    for (const auto& packet : captures()) {
        for (std::size_t n = 0; n <= packet.bytes.size(); ++n) {
            ASSERT_NO_FATAL_FAILURE(examine(std::span(packet.bytes).first(n), packet.name()));
        }
    }
}

TEST_F(hostile_packet, with_any_opcode_is_handled) {
    for (const auto& packet : captures()) {
        auto bytes = packet.bytes;
        for (unsigned code = 0; code < 256; ++code) {
            bytes[0] = static_cast<std::byte>(code);
            ASSERT_NO_FATAL_FAILURE(examine(bytes, packet.name()));
        }
    }
}

TEST_F(hostile_packet, with_any_flags_byte_is_handled) {
    for (std::size_t i = 0; i < captures().size(); i += 7) {
        auto bytes = captures()[i].bytes;
        for (unsigned flags = 0; flags < 256; ++flags) {
            bytes[1] = static_cast<std::byte>(flags);
            ASSERT_NO_FATAL_FAILURE(examine(bytes, captures()[i].name()));
        }
    }
}

TEST_F(hostile_packet, of_random_bytes_is_handled) {
    std::mt19937 random{13};
    for (int round = 0; round < 100000; ++round) {
        std::vector<std::byte> bytes(random() % 128);
        for (auto& b : bytes) b = static_cast<std::byte>(random());
        ASSERT_NO_FATAL_FAILURE(examine(bytes, "random"));
    }
}

/// Random bytes with a legal version and opcode class reach the checks behind them.
TEST_F(hostile_packet, of_plausible_random_bytes_is_handled) {
    std::mt19937 random{14};
    for (int round = 0; round < 200000; ++round) {
        std::vector<std::byte> bytes(16 + 4 * (random() % 24));
        for (auto& b : bytes) b = static_cast<std::byte>(random());
        bytes[0] &= std::byte{0x3F};
        bytes[1] &= std::byte{0xF0};
        ASSERT_NO_FATAL_FAILURE(examine(bytes, "plausible random"));
    }
}

TEST_F(hostile_packet, of_the_largest_datagram_is_handled) {
    std::vector<std::byte> bytes(65507);
    bytes[0] = std::byte{0x04};
    ASSERT_NO_FATAL_FAILURE(examine(bytes, "largest datagram"));
    bytes.resize(65504);
    ASSERT_NO_FATAL_FAILURE(examine(bytes, "largest multiple of 4"));
}

TEST_F(hostile_packet, of_no_bytes_is_handled) {
    ASSERT_NO_FATAL_FAILURE(examine({}, "empty datagram"));
}

} // namespace
