#include "cudaq/playback_check.hpp"

#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <algorithm>
#include <utility>

namespace rocio::tools {

namespace {

constexpr std::size_t header_size = rpc::response_header::size;

} // namespace

void playback_check::begin(const playback_pass& pass) {
    pass_ = pass;
    fates_.assign(pass.count, fate::nothing);
}

void playback_check::add(const sample& s) {
    ++counts_.samples;
    if (!s.valid) {
        ++counts_.idle;
        return;
    }
    answer a;
    if (!decode(s.data, a)) {
        ++counts_.non_rpc;
        return;
    }
    ++counts_.responses;
    take(a, s);
}

void playback_check::end() {
    for (std::uint32_t i = 0; i < pass_.count; ++i) {
        if (fates_[i] != fate::nothing) continue;
        ++counts_.missing;
        remark("message " + std::to_string(pass_.first + i) + ": no answer");
    }
    fates_.clear();
    pass_ = {};
}

bool playback_check::decode(const frame_bytes& frame, answer& out) const noexcept {
    if (config_.forward) {
        const auto header = rpc::request_header::decode(frame);
        if (header) out = {header->request_id, 0, header->arg_len, header->timestamp};
        return header.has_value();
    }
    const auto header = rpc::response_header::decode(frame);
    if (header) out = {header->request_id, header->status, header->result_len, header->timestamp};
    return header.has_value();
}

void playback_check::take(const answer& a, const sample& s) {
    const auto name = "message " + std::to_string(a.id);
    if (a.id < pass_.first || a.id - pass_.first >= pass_.count) {
        ++counts_.unexpected;
        return remark(name + ": answered, but not asked in this pass");
    }
    auto& message = fates_[a.id - pass_.first];
    if (message != fate::nothing) {
        ++counts_.duplicates;
        return remark(name + ": answered more than once");
    }
    if (!header_right(a)) {
        message = fate::refused;
        ++counts_.header_errors;
        return;
    }
    message = fate::answered;
    ++counts_.unique;
    ++(payload_right(a, s.data) ? counts_.matched : counts_.payload_errors);
    using fpga::hsb::ptp_time;
    if (a.timestamp != 0 && s.time != 0)
        round_trips_.push_back({a.id, ptp_time::unpack(a.timestamp), ptp_time::unpack(s.time)});
}

bool playback_check::header_right(const answer& a) {
    const auto name = "message " + std::to_string(a.id);
    if (a.status != 0) {
        remark(name + ": error status " + std::to_string(a.status));
        return false;
    }
    if (a.length == config_.payload_size) return true;
    remark(name + ": " + std::to_string(a.length) + " bytes in the answer, expected " +
           std::to_string(config_.payload_size));
    return false;
}

bool playback_check::payload_right(const answer& a, const frame_bytes& frame) {
    const auto seen = std::min<std::size_t>(config_.payload_size, frame.size() - header_size);
    const std::uint32_t step = config_.forward ? 0 : 1;
    for (std::uint32_t j = 0; j < seen; ++j) {
        const auto expected = static_cast<std::byte>(a.id + j + step);
        const auto got = frame[header_size + j];
        if (got == expected) continue;
        remark("message " + std::to_string(a.id) + ": byte " + std::to_string(j) + " is " +
               std::to_string(std::to_integer<int>(got)) + ", expected " +
               std::to_string(std::to_integer<int>(expected)));
        return false;
    }
    return true;
}

void playback_check::remark(std::string text) {
    if (remarks_.size() < most_remarks) remarks_.push_back(std::move(text));
}

} // namespace rocio::tools
