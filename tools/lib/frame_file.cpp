#include "lib/frame_file.hpp"

#include <algorithm>
#include <string>

namespace rocio::tools {

namespace {

std::uint32_t little_endian(std::span<const std::byte> bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
    return value;
}

} // namespace

std::string frame_file_parser::place() const {
    return "record " + std::to_string(records_) + " at byte " + std::to_string(offset_);
}

error_info frame_file_parser::begin_record() {
    const std::span<const std::byte> header(header_);
    const auto length = little_endian(header.first(4));
    const auto rest = little_endian(header.subspan(4));
    if (length < 5 || length - 4 > largest_) {
        return {errc::invalid_argument, place() + " says it has " + std::to_string(length) +
                                            " - 4 bytes; a frame has 1 to " + std::to_string(largest_) +
                                            " (raise --payload), or this is no data file"};
    }
    current_ = {{},
                static_cast<std::uint16_t>(rest),
                static_cast<std::uint8_t>(rest >> 16),
                static_cast<std::uint8_t>(rest >> 24)};
    missing_ = length - 4;
    current_.payload.reserve(missing_);
    return {};
}

error_info frame_file_parser::feed(std::span<const std::byte> bytes) {
    while (!failure_ && !bytes.empty()) {
        const bool in_header = missing_ == 0;
        auto& target = in_header ? header_ : current_.payload;
        const auto wanted = in_header ? header_bytes - header_.size() : missing_;
        const auto n = std::min(wanted, bytes.size());
        target.insert(target.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
        bytes = bytes.subspan(n);
        taken_ += n;
        if (in_header) {
            if (n == wanted) failure_ = begin_record();
            continue;
        }
        missing_ -= n;
        if (missing_ > 0) continue;
        frames_.push_back(std::move(current_));
        header_.clear();
        ++records_;
        offset_ = taken_;
    }
    return failure_;
}

error_info frame_file_parser::finish() const {
    if (failure_) return failure_;
    if (header_.empty()) return {};
    return {errc::invalid_argument, "the data file ends inside " + place()};
}

} // namespace rocio::tools
