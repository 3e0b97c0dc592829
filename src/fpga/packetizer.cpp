#include "fpga/byte_order.hpp"

#include <rocio/fpga/packetizer.hpp>

#include <algorithm>
#include <array>

namespace rocio::fpga {

namespace {

using detail::load_big;
using detail::load_little;
using detail::store_big;
using detail::store_little;

constexpr std::uint8_t version = 0x02;
constexpr std::uint8_t crc_over_all = 0x20; ///< The mode is in bits 7:4; 0 is none, 1 data only.
constexpr std::uint8_t start_of_frame = 0x80, end_of_frame = 0x01, end_error = 0x01;
constexpr std::size_t header_bytes = 8, tail_bytes = 8, word = 8;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    return table;
}
constexpr auto crc_table = make_crc_table();

/// CRC-32 of IEEE 802.3 as zlib has it: `crc` is that of what came before, 0 at first.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
    crc = ~crc;
    for (const auto b : bytes) crc = crc_table[(crc ^ static_cast<std::uint32_t>(b)) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

std::uint8_t octet(std::span<const std::byte> bytes, std::size_t at) {
    return static_cast<std::uint8_t>(bytes[at]);
}

} // namespace

std::vector<std::vector<std::byte>> packetize(std::span<const std::byte> frame, std::size_t max_segment,
                                              const packetizer_options& options) {
    const auto room = std::max((max_segment - packetizer_overhead) / word * word, word);
    std::vector<std::vector<std::byte>> segments;
    std::uint32_t crc = 0;
    std::size_t done = 0;
    do {
        const auto piece = frame.subspan(done, std::min(room, frame.size() - done));
        const auto padded = std::max((piece.size() + word - 1) / word, std::size_t{1}) * word;
        std::vector<std::byte> out(header_bytes + padded + tail_bytes);
        out[0] = std::byte(options.crc ? version | crc_over_all : version);
        out[1] = std::byte(options.first_user);
        out[2] = std::byte(options.destination);
        store_little(std::span(out).subspan(4), static_cast<std::uint16_t>(segments.size()));
        out[7] = std::byte(segments.empty() ? start_of_frame : 0);
        std::copy(piece.begin(), piece.end(), out.begin() + header_bytes);
        done += piece.size();
        const auto tail = std::span(out).last(tail_bytes);
        tail[0] = std::byte(options.last_user);
        tail[1] = std::byte(done == frame.size() ? end_of_frame : 0);
        tail[2] = std::byte(static_cast<std::uint8_t>(piece.size() + word - padded));
        if (options.crc) {
            crc = crc32(crc, std::span(out).first(out.size() - 4));
            store_big(tail.subspan(4), crc);
        }
        segments.push_back(std::move(out));
    } while (done < frame.size());
    return segments;
}

void depacketizer::reset() {
    frame_.clear();
    next_ = 0;
    crc_ = 0;
    whole_ = false;
}

bool depacketizer::intact(std::span<const std::byte> segment) {
    if (!check_crc_ || (octet(segment, 0) & 0xF0) != crc_over_all) return true;
    crc_ = crc32(crc_, segment.first(segment.size() - 4));
    return crc_ == load_big<std::uint32_t>(segment.last(4));
}

bool depacketizer::takes(std::span<const std::byte> segment) {
    if (segment.size() < header_bytes + word + tail_bytes || segment.size() % word != 0) return false;
    if ((octet(segment, 0) & 0x0F) != version || octet(segment, 2) != destination_) return false;
    if (load_little<std::uint16_t>(segment.subspan(4)) != next_) return false;
    if (((octet(segment, 7) & start_of_frame) != 0) != (next_ == 0)) return false;
    const auto valid = octet(segment, segment.size() - 6);
    if (valid < 1 || valid > word) return false;
    if (frame_.size() + segment.size() - packetizer_overhead - word + valid > max_frame_) return false;
    return intact(segment);
}

depacketizer::verdict depacketizer::on_segment(std::span<const std::byte> segment) {
    if (whole_) reset();
    if (!takes(segment)) {
        ++dropped_;
        reset();
        return verdict::dropped;
    }
    const auto data = segment.subspan(header_bytes, segment.size() - packetizer_overhead);
    const auto padding = word - octet(segment, segment.size() - 6);
    frame_.insert(frame_.end(), data.begin(), data.end() - static_cast<std::ptrdiff_t>(padding));
    ++next_;
    if ((octet(segment, segment.size() - 7) & end_of_frame) == 0) return verdict::more;
    if ((octet(segment, segment.size() - 8) & end_error) != 0) {
        ++dropped_;
        reset();
        return verdict::dropped;
    }
    whole_ = true;
    return verdict::whole;
}

} // namespace rocio::fpga
