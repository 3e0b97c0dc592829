#include "cudaq/fpga_emulator.hpp"

#include "lib/memory_log.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/static_peer.hpp>
#include <rocio/rpc/detail/little_endian.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
namespace hsb = fpga::hsb;
using clock = std::chrono::steady_clock;

/// As the FPGA's receiver has; one request is under way at a time, so more are never needed.
constexpr std::uint32_t receive_slots = 64;
/// All windows that the player's memory holds.
constexpr std::size_t tx_bytes = hsb::bram::size;
constexpr std::chrono::seconds loop_counts_wait{5};
constexpr std::chrono::milliseconds loop_counts_interval{10};
constexpr std::chrono::seconds drain_wait{1};

} // namespace

emulator_counts& emulator_counts::operator+=(const emulator_counts& other) noexcept {
    windows += other.windows;
    bytes += other.bytes;
    responses += other.responses;
    response_failures += other.response_failures;
    send_errors += other.send_errors;
    timeouts += other.timeouts;
    late += other.late;
    stray += other.stray;
    return *this;
}

void fpga_emulator::port::connect(const fpga::board_target& target) {
    emulator_.target_ = target;
    emulator_.notify();
}

void fpga_emulator::port::send(fpga::board_program program) {
    emulator_.pending_ = std::move(program);
    emulator_.notify();
}

void fpga_emulator::port::stop() {
    emulator_.halt_ = true;
    emulator_.pending_.reset();
    emulator_.notify();
}

void fpga_emulator::port::refuse(const error_info& why) {
    emulator_.complain(why.message());
    emulator_.refused_ = why;
    emulator_.notify();
}

fpga_emulator::fpga_emulator(asio::io_context& context, fpga_emulator_config config)
    : context_(context),
      config_(std::move(config)),
      port_(*this),
      board_(port_, config_.board),
      tx_(config_.device, tx_bytes, {}, config_.memory),
      rx_(config_.device, std::size_t{receive_slots} * config_.page_size, {}, config_.memory),
      pair_(std::in_place, context_, config_.device, pair_config()),
      server_(context.get_executor(), config_.control, board_),
      wake_(context) {
    for (const auto* region : {&tx_, &rx_}) log_memory(context_, region->memory());
    say_start();
}

queue_pair_config fpga_emulator::pair_config() const {
    queue_pair_config c;
    c.type = queue_pair_type::uc;
    c.send_depth = receive_slots;
    c.receive_depth = receive_slots;
    c.max_inline = 0;
    c.port = config_.ib_port;
    c.gid_index = choose_gid_index();
    c.peer_address = config_.bridge;
    c.remote_access = memory_access::remote_write;
    c.first_psn = psn{0};
    return c;
}

std::optional<gid_table_entry> emulator_gid(const fpga_emulator_config& config) {
    std::vector<gid_table_entry> table;
    throw_if(config.device->gid_table(config.ib_port, table));
    std::optional<gid_table_entry> last, last_near;
    for (const auto& entry : table) {
        if (config.gid_index == entry.index) return entry;
        if (entry.type != gid_type::roce_v2 || !entry.value.is_v4_mapped()) continue;
        last = entry;
        const bool near =
            config.bridge && entry.value.shares_prefix(*config.bridge, 96 + entry.prefix.value_or(24));
        if (near && entry.value != *config.bridge) last_near = entry;
    }
    return last_near ? last_near : last;
}

std::optional<std::uint32_t> fpga_emulator::choose_gid_index() const {
    if (config_.gid_index) return config_.gid_index;
    const auto entry = emulator_gid(config_);
    return entry ? std::optional(entry->index) : std::nullopt;
}

void fpga_emulator::stop() {
    stopping_ = true;
    notify();
}

emulator_report fpga_emulator::report() const {
    emulator_report r;
    r.total = done_;
    r.total += pass_;
    r.passes = passes_;
    r.verification_windows = verification_windows_;
    r.looped = looped_;
    r.control = board_.counts();
    if (first_trigger_) r.elapsed = (running_pass_ ? clock::now() : last_done_) - *first_trigger_;
    return r;
}

std::uint64_t fpga_emulator::ptp_now() const {
    // Steps of the system's clock must not show in a round trip.
    const auto now = wall_clock_.time_since_epoch() + (clock::now() - steady_clock_);
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return hsb::ptp_time::from_nanoseconds(static_cast<std::uint64_t>(ns)).packed();
}

asio::awaitable<bool> fpga_emulator::until(std::optional<time_point> deadline, condition holds) {
    while (!holds()) {
        if (stopping_ || (deadline && clock::now() >= *deadline)) co_return false;
        wake_.expires_at(deadline.value_or(time_point::max()));
        error_code ignored;
        co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return true;
}

asio::awaitable<error_info> fpga_emulator::run() {
    auto failure = co_await wait_for_target();
    if (!failure && !stopping_) failure = co_await serve_passes();
    server_.stop();
    co_await drain();
    if (stopping_ && passes_ == 0) say("Shutdown requested");
    if (passes_ > 0) say_results();
    co_return failure;
}

asio::awaitable<error_info> fpga_emulator::wait_for_target() {
    say("\n[3/4] Waiting for RDMA configuration...");
    say("  (Start bridge tool, then playback tool with --control-port=" +
        std::to_string(control_endpoint().port()) + ")");
    std::optional<time_point> deadline;
    if (config_.configuration_timeout) deadline = clock::now() + *config_.configuration_timeout;
    const bool named = co_await until(deadline, [this] { return target_.has_value(); });
    if (stopping_) co_return error_info{};
    if (!named) co_return error_info{errc::handshake_timed_out, "Timeout waiting for RDMA configuration"};
    say_target(*target_);
    // Whoever waits for several passes may correct a wrong register until the first.
    auto failure = co_await connect_to_target();
    if (!failure || config_.one_session) co_return failure;
    if (address_of(*target_)) complain(failure.message());
    co_return error_info{};
}

asio::awaitable<error_info> fpga_emulator::serve_passes() {
    say("\n[4/4] Waiting for playback trigger...");
    while (!stopping_ && !ended_) {
        const bool triggered =
            co_await until({}, [this] { return pending_.has_value() || static_cast<bool>(refused_); });
        if (!triggered) break;
        auto failure = co_await serve_pass();
        if (failure && config_.one_session) co_return failure;
    }
    co_return error_info{};
}

asio::awaitable<error_info> fpga_emulator::serve_pass() {
    if (!pending_) co_return std::exchange(refused_, error_info{});
    const auto program = std::move(*pending_);
    pending_.reset();
    halt_ = false;
    auto failure = co_await connect_to_target();
    if (!failure) failure = place_ring(program);
    if (failure) {
        complain(failure.message());
        co_return failure;
    }
    const bool armed = board_.captures();
    say_program(program, armed);
    co_await play(program);
    co_await after_pass(program.loop, armed);
    co_return error_info{};
}

std::optional<gid> fpga_emulator::address_of(const fpga::board_target& target) const {
    if (config_.bridge) return config_.bridge;
    if (target.host_ip == 0) return std::nullopt;
    gid::v4_bytes octets{};
    for (unsigned i = 0; i < 4; ++i) octets[i] = static_cast<std::uint8_t>(target.host_ip >> (24 - 8 * i));
    return gid::from_v4(octets);
}

error_info fpga_emulator::no_address() {
    return {errc::invalid_peer_parameters,
            "No bridge IP available. Use --bridge-ip or ensure configure_roce sets HOST_IP."};
}

asio::awaitable<error_info> fpga_emulator::connect_to_target() {
    const auto address = address_of(*target_);
    if (!address) co_return no_address();
    if (target_->queue_pair > qpn::max) {
        co_return error_info{errc::invalid_peer_parameters, "QP register holds " +
                                                                std::to_string(target_->queue_pair) +
                                                                ", a queue pair number has 24 bits"};
    }
    const connected_peer wanted{*address, target_->queue_pair};
    if (peer_ == wanted && can_send()) co_return error_info{};
    if (peer_) co_await renew_pair();
    say_connecting();
    peer_parameters peer;
    peer.address = wanted.address;
    peer.queue_pair = qpn{wanted.queue_pair};
    if (target_->udp_port != 0) peer.udp_port = target_->udp_port;
    for (std::uint32_t slot = 0; slot < receive_slots; ++slot) post_receive(slot);
    peer_ = wanted;
    error_code ec;
    co_await async_connect(*pair_, static_peer(context_, peer),
                           asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return error_info{ec, pair_->last_error().message()};
    say("  QP connected!");
    say("  Posted " + std::to_string(receive_slots) + " receive WQEs");
    co_return error_info{};
}

asio::awaitable<void> fpga_emulator::renew_pair() {
    co_await drain();
    pair_.emplace(context_, config_.device, pair_config());
    peer_.reset();
    ring_ = {};
    say_number();
}

/// Afterwards the device touches no buffer and no handler is under way.
asio::awaitable<void> fpga_emulator::drain() {
    pair_->close();
    const auto deadline = clock::now() + drain_wait;
    while (receives_ > 0 && clock::now() < deadline) {
        wake_.expires_at(deadline);
        error_code ignored;
        co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
}

/// The pages go on where they stopped, as long as the peer's ring is the same one: the original's bridge
/// expects them in order.
error_info fpga_emulator::place_ring(const fpga::board_program& program) {
    const ring_place now{target_->buffer, target_->page_bytes != 0 ? target_->page_bytes : config_.page_size,
                         target_->pages, target_->remote_key, target_->queue_pair};
    if (program.window_bytes > now.page_bytes) {
        return {errc::message_too_long, "windows of " + std::to_string(program.window_bytes) +
                                            " bytes do not fit the peer's pages of " +
                                            std::to_string(now.page_bytes) +
                                            ": give both sides a larger --page-size"};
    }
    if (now != ring_) next_page_ = 0;
    ring_ = now;
    return {};
}

bool fpga_emulator::halted(const fpga::board_program& program) const {
    return stopping_ || halt_ || (program.loop && pending_);
}

asio::awaitable<void> fpga_emulator::play(const fpga::board_program& program) {
    std::ranges::copy(program.bytes, tx_.bytes().begin());
    ++passes_;
    running_pass_ = true;
    looped_ |= program.loop;
    if (!first_trigger_) first_trigger_ = clock::now();
    for (std::uint64_t i = 0; !halted(program) && (program.loop || i < program.windows); ++i) {
        const bool go_on = co_await exchange(program, i % program.windows);
        if (!go_on) break;
        if (!program.loop && (pass_.windows % 10 == 0 || pass_.windows == program.windows))
            say_progress(program.windows);
        if (program.pause.count() > 0 && (program.loop || i + 1 < program.windows))
            co_await until(clock::now() + program.pause, [this, &program] { return halted(program); });
    }
    running_pass_ = false;
    last_done_ = clock::now();
}

asio::awaitable<bool> fpga_emulator::exchange(const fpga::board_program& program, std::uint64_t index) {
    const auto window = static_cast<std::uint32_t>(index);
    const bool sent = co_await send_window(program, window);
    if (!sent) co_return can_send() && !stopping_;
    const auto deadline = clock::now() + config_.reply_timeout;
    co_await until(deadline, [&] { return !matcher_.waits() || halted(program) || !can_send(); });
    if (!matcher_.waits()) co_return true;
    matcher_.give_up();
    if (halted(program)) {
        // The player was switched off while this one was under way: it is no part of what was played.
        --pass_.windows;
        co_return false;
    }
    ++pass_.timeouts;
    complain(can_send() ? "Correction timeout for window " + std::to_string(window)
                        : "queue pair closed: " + pair_->last_error().message());
    co_return can_send();
}

asio::awaitable<bool> fpga_emulator::send_window(const fpga::board_program& program, std::uint32_t window) {
    const auto offset = std::size_t{window} * program.stride;
    const auto bytes = tx_.bytes().subspan(offset, program.stride);
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(program.stride, ring_.page_bytes));
    const auto page = next_page_++ % ring_.pages;
    if (rpc::request_header::decode(bytes)) rpc::detail::store_little(ptp_now(), bytes.subspan<16, 8>());
    matcher_.sent(reply_matcher::describe(bytes, window, passes_));
    ++pass_.windows;
    sent_.reset();
    const remote_buffer to{ring_.buffer + page * ring_.page_bytes, length, rkey{ring_.remote_key}};
    pair_->async_write_with_immediate(
        tx_.buffer(offset, length), to, static_cast<std::uint32_t>(page),
        [this, alive = std::weak_ptr(alive_), number = ++send_number_](const error_code& ec) {
            if (!alive.expired()) on_sent(number, ec);
        });
    const bool completed =
        co_await until(clock::now() + config_.send_timeout, [this] { return sent_.has_value(); });
    if (completed && !*sent_) {
        pass_.bytes += length;
        co_return true;
    }
    matcher_.give_up();
    if (completed) {
        ++pass_.send_errors;
        complain("Send CQE error: " + sent_->message());
    } else if (stopping_) {
        --pass_.windows;
    } else {
        ++pass_.timeouts;
        complain("Send timeout for window " + std::to_string(window));
    }
    co_return false;
}

void fpga_emulator::on_sent(std::uint64_t number, const error_code& ec) {
    if (number != send_number_) return;
    sent_ = ec;
    notify();
}

void fpga_emulator::post_receive(std::uint32_t slot) {
    ++receives_;
    pair_->async_receive(
        rx_.buffer(std::size_t{slot} * config_.page_size, config_.page_size),
        [this, alive = std::weak_ptr(alive_), slot](const error_code& ec, const received_message& m) {
            if (!alive.expired()) on_receive(slot, ec, m.size);
        });
}

void fpga_emulator::on_receive(std::uint32_t slot, const error_code& ec, std::size_t size) {
    --receives_;
    if (ec == errc::local_length_error)
        complain("an answer is longer than " + std::to_string(config_.page_size) +
                 " bytes: raise --page-size");
    if (!ec) {
        on_reply(rx_.bytes().subspan(std::size_t{slot} * config_.page_size, size));
        post_receive(slot);
    }
    notify();
}

void fpga_emulator::on_reply(std::span<const std::byte> reply) {
    const auto time = ptp_now();
    const auto match = matcher_.take(reply);
    switch (match.what) {
    case reply_matcher::verdict::stray:
        ++counts().stray;
        break;
    case reply_matcher::verdict::late:
        ++counts().late;
        if (match.which.pass == passes_) capture(reply, match.which.window, time);
        break;
    case reply_matcher::verdict::current:
        ++counts().responses;
        check_reply(reply, match.which.window);
        capture(reply, match.which.window, time);
        break;
    }
}

void fpga_emulator::check_reply(std::span<const std::byte> reply, std::uint32_t window) {
    if (reply.size() < rpc::response_header::size) {
        ++counts().response_failures;
        complain("Short RPC response for window " + std::to_string(window));
        return;
    }
    const auto header = rpc::response_header::decode(reply);
    if (header && header->status == 0) return;
    ++counts().response_failures;
    const auto magic = rpc::detail::load_little<std::uint32_t>(reply.first<4>());
    const auto status = rpc::detail::load_little<std::int32_t>(reply.subspan<4, 4>());
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), " (magic=0x%x, status=%d)", magic, status);
    complain("Failed RPC response for window " + std::to_string(window) + text.data());
}

void fpga_emulator::capture(std::span<const std::byte> reply, std::uint32_t window, std::uint64_t time) {
    hsb::ila_sample sample;
    std::ranges::copy(reply.first(std::min(reply.size(), sample.data.size())), sample.data.begin());
    sample.valid = sample.last = true;
    sample.write_count = 1;
    sample.time = time;
    board_.capture(window, sample);
}

asio::awaitable<void> fpga_emulator::after_pass(bool loop, bool armed) {
    const auto finished = std::exchange(pass_, emulator_counts{});
    done_ += finished;
    if (loop) {
        const auto narrow = [](std::uint64_t n) {
            return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, UINT32_MAX));
        };
        board_.publish({finished.windows, finished.responses, narrow(finished.send_errors),
                        narrow(finished.timeouts), narrow(finished.response_failures)});
    } else if (armed) {
        verification_windows_ += finished.windows;
        board_.pass_done();
    }
    if (config_.one_session) {
        ended_ = loop || !armed;
        if (loop) co_await wait_for_reader();
        if (!ended_ && !stopping_) say("\nWaiting for playback control after ILA verification...");
    } else if (config_.passes && passes_ >= *config_.passes) {
        ended_ = true;
        if (loop || armed) co_await linger();
    }
}

/// The registers tell nobody when they are written: they are looked at as often as the original does.
asio::awaitable<void> fpga_emulator::wait_for_reader() {
    const auto end = clock::now() + loop_counts_wait;
    while (!stopping_ && !board_.loop_counts_read() && clock::now() < end)
        co_await until(clock::now() + loop_counts_interval, [] { return false; });
}

asio::awaitable<void> fpga_emulator::linger() {
    while (!stopping_) {
        const auto end = std::max(server_.last_request(), last_done_) + config_.linger;
        if (clock::now() >= end) co_return;
        co_await until(end, [] { return false; });
    }
}

} // namespace rocio::tools
