#include "hsb/sensor_stream.hpp"

#include "lib/memory_log.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/static_peer.hpp>
#include <rocio/ring/frame_metadata.hpp>
#include <rocio/ring/hsb_immediate.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

constexpr std::uint32_t longest_frame = 1U << 28;
constexpr std::uint32_t psn_mask = 0xFFFFFF;

gid address_of(std::uint32_t host_ip) {
    gid::v4_bytes octets{};
    for (unsigned i = 0; i < 4; ++i) octets[i] = static_cast<std::uint8_t>(host_ip >> (24 - 8 * i));
    return gid::from_v4(octets);
}

} // namespace

sensor_stream::sensor_stream(asio::io_context& context, const sensor_stream_config& config)
    : context_(context), config_(config), wake_(context) {}

void sensor_stream::start(const fpga::hsb_sensor_target& target) {
    target_ = target;
    refused_ = false;
    ++counts_.starts;
    wake_.cancel();
}

void sensor_stream::stop() {
    target_.reset();
    wake_.cancel();
}

void sensor_stream::reset() {
    psn_ = page_ = 0;
    frame_number_ = 0;
    peer_.reset(); // the next queue pair begins with that PSN
}

void sensor_stream::end() {
    ended_ = true;
    wake_.cancel();
}

std::chrono::nanoseconds sensor_stream::elapsed() const {
    return first_ ? last_ - *first_ : std::chrono::nanoseconds{0};
}

asio::awaitable<void> sensor_stream::wait(clock::time_point until) {
    wake_.expires_at(until);
    error_code ignored;
    co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> sensor_stream::run() {
    while (!ended_) {
        if (!may_send()) {
            co_await wait(clock::time_point::max());
            continue;
        }
        auto failure = co_await make_ready();
        if (!failure && !ended_ && may_send()) failure = co_await send_frame();
        if (failure) refuse(failure);
        if (!failure) co_await pace();
    }
    if (pair_) pair_->close();
    pair_.reset();
}

asio::awaitable<void> sensor_stream::pace() {
    const auto now = clock::now();
    if (config_.rate <= 0) {
        due_ = now; // one turn for all others
    } else {
        const auto interval = std::chrono::duration<double>(1 / config_.rate);
        due_ = std::max(due_ + std::chrono::duration_cast<clock::duration>(interval), now);
    }
    // A change of the target wakes it, too: it is taken up at once.
    co_await wait(due_);
}

void sensor_stream::refuse(const error_info& why) {
    refused_ = true;
    peer_.reset();
    ++counts_.send_errors;
    if (config_.error) config_.error(why.message());
}

error_info sensor_stream::check_target() const {
    const auto& host = target_->host;
    if (host.queue_pair > psn_mask)
        return {errc::invalid_peer_parameters,
                "DP_QP holds " + std::to_string(host.queue_pair) + ", a queue pair number has 24 bits"};
    if (host.frame_bytes > longest_frame)
        return {errc::message_too_long, "DP_BUFFER_LENGTH holds " + std::to_string(host.frame_bytes) +
                                            ", this board sends frames of at most " +
                                            std::to_string(longest_frame) + " bytes"};
    return {};
}

queue_pair_config sensor_stream::pair_config() const {
    queue_pair_config c;
    c.type = queue_pair_type::uc;
    c.receive_depth = 1;
    c.max_inline = 0;
    c.port = config_.ib_port;
    c.gid_index = config_.gid_index;
    c.peer_address = address_of(target_->host.host_ip);
    c.first_psn = rocio::psn{psn_};
    return c;
}

asio::awaitable<error_info> sensor_stream::make_ready() {
    if (auto e = check_target()) co_return e;
    const peer_place wanted{target_->host.queue_pair, target_->host.host_ip, target_->host.udp_port};
    if (peer_ != wanted || !pair_ || pair_->state() != queue_pair_state::ready_to_send) {
        peer_ = wanted;
        auto failure = co_await connect();
        if (failure) co_return failure;
        if (peer_ != wanted || !target_) co_return error_info{}; // reset, or switched off, meanwhile
    }
    if (frame_bytes_ != target_->host.frame_bytes) {
        if (auto e = place_frame()) co_return e;
    }
    port_attributes port;
    if (auto e = config_.device->query_port(config_.ib_port, port)) co_return e;
    packet_ = std::min(target_->packet_payload, bytes(port.active_mtu));
    co_return error_info{};
}

error_info sensor_stream::place_frame() {
    frame_bytes_ = 0;
    const auto room = frame_metadata::offset_after(target_->host.frame_bytes) + frame_metadata::size;
    std::unique_ptr<memory_region> fresh;
    if (auto e = memory_region::make(config_.device, room, {}, fresh, config_.memory)) return e;
    log_memory(context_, fresh->memory());
    memory_.emplace(std::move(*fresh));
    frame_bytes_ = target_->host.frame_bytes;
    pattern_.emplace(frame_bytes_, static_cast<std::uint32_t>(counts_.frames));
    return {};
}

asio::awaitable<error_info> sensor_stream::connect() {
    pair_.reset();
    error_info failure;
    try {
        pair_.emplace(context_, config_.device, pair_config());
    } catch (const exception& e) {
        failure = {e.code(), e.what()};
    }
    if (failure) co_return failure;
    peer_parameters peer;
    peer.address = address_of(target_->host.host_ip);
    peer.queue_pair = qpn{target_->host.queue_pair};
    peer.udp_port = target_->host.udp_port;
    error_code ec;
    co_await async_connect(*pair_, static_peer(context_, peer),
                           asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return error_info{ec, pair_->last_error().message()};
    co_return error_info{};
}

/// The RTL compares for equality: an index beyond a smaller number of pages than before runs on to the end of
/// its 12 bits, and only a reset brings it back at once.
void sensor_stream::next_page() noexcept {
    if (page_ + 1 == target_->host.pages)
        page_ = 0;
    else
        page_ = (page_ + 1) & (target_->layout == fpga::hsb_layout::paged ? 0xFFFU : 0x3U);
}

/// Data packets from the beginning of the page up to there, which is a multiple of the packet's size or the
/// frame's end.
void sensor_stream::post_data(std::uint64_t page_address, std::uint32_t upto) {
    const rkey key{target_->host.remote_key};
    for (std::uint32_t at = 0; at < upto; at += packet_) {
        const auto n = std::min(packet_, upto - at);
        pair_->async_write(memory_->buffer(at, n), remote_buffer{page_address + at, n, key},
                           [](const error_code&) {});
        psn_ = (psn_ + 1) & psn_mask;
        ++counts_.packets;
    }
}

asio::awaitable<error_info> sensor_stream::send_frame() {
    const auto target = *target_;
    const auto page_address = target.page_address(page_);
    pattern_->next(memory_->bytes().first(frame_bytes_));
    // Without metadata the last data packet has the immediate.
    const auto last_data = (frame_bytes_ - 1) / packet_ * packet_;
    const auto tail = target.metadata
                          ? std::pair{static_cast<std::uint32_t>(frame_metadata::offset_after(frame_bytes_)),
                                      static_cast<std::uint32_t>(frame_metadata::size)}
                          : std::pair{last_data, frame_bytes_ - last_data};
    post_data(page_address, target.metadata ? frame_bytes_ : last_data);
    if (target.metadata) fill();
    const auto layout = hsb_immediate_layout(target.ip_version);
    const auto immediate = pack(layout, {page_, psn_});
    psn_ = (psn_ + 1) & psn_mask;
    ++counts_.packets;
    next_page();
    if (!first_) first_ = clock::now();
    error_code ec;
    co_await pair_->async_write_with_immediate(
        memory_->buffer(tail.first, tail.second),
        remote_buffer{page_address + tail.first, tail.second, rkey{target.host.remote_key}}, immediate,
        asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return error_info{ec, "a frame could not be sent: " + pair_->last_error().message()};
    ++counts_.frames;
    counts_.bytes += frame_bytes_;
    last_ = clock::now();
    co_return error_info{};
}

/// The metadata of the frame in memory; psn_ is that of their packet.
void sensor_stream::fill() {
    using namespace std::chrono;
    const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    frame_metadata m;
    m.psn = psn_;
    m.first_data_seconds = m.written_seconds = static_cast<std::uint64_t>(now / 1'000'000'000);
    m.first_data_nanoseconds = m.written_nanoseconds = static_cast<std::uint32_t>(now % 1'000'000'000);
    m.bytes_written = frame_bytes_;
    m.frame_number = frame_number_++;
    const auto at = memory_->bytes().subspan(frame_metadata::offset_after(frame_bytes_));
    m.encode(at.first<frame_metadata::size>());
}

} // namespace rocio::tools
