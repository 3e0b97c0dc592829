#include <rocio/fpga/hsb_board.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace rocio::fpga {

namespace {

using namespace hsb;

constexpr std::chrono::microseconds pause_without_timer{10};

constexpr std::array own_registers{player::enable,
                                   ila::status,
                                   ila::sample_count,
                                   loop_statistics::magic,
                                   loop_statistics::state,
                                   loop_statistics::windows_low,
                                   loop_statistics::windows_high,
                                   loop_statistics::responses_low,
                                   loop_statistics::responses_high,
                                   loop_statistics::errors,
                                   loop_statistics::timeouts,
                                   loop_statistics::acknowledge,
                                   loop_statistics::response_failures};

/// A client may clear the sequence check when it sends again.
constexpr std::size_t flags_at = 1;

} // namespace

/// What the board writes itself has its place from the start, however many registers the client takes.
hsb_board::hsb_board(board_port& port, const hsb_board_config& config)
    : port_(port), config_(config), registers_(std::size(own_registers) + config.register_limit) {
    for (const auto address : own_registers) set(address, 0);
}

std::size_t hsb_board::answer(std::span<const std::byte> datagram, std::uint64_t sender,
                              std::span<std::byte> out) {
    ++counts_.datagrams;
    if (repeats(datagram, sender)) {
        ++counts_.repeated;
        std::ranges::copy(last_.answer, out.begin());
        return last_.answer.size();
    }
    last_.request.clear();
    const auto parsed = parse_request(datagram);
    if (const auto* bad = std::get_if<hsb_malformed>(&parsed)) return refuse(*bad, datagram, out);
    const auto& request = std::get<hsb_request>(parsed);
    const auto length = execute(request, *answer_header(datagram), out);
    if (is_write(request.command)) {
        last_.sender = sender;
        last_.request.assign(datagram.begin(), datagram.end());
        last_.answer.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return length;
}

bool hsb_board::repeats(std::span<const std::byte> datagram, std::uint64_t sender) const noexcept {
    if (last_.request.empty() || last_.sender != sender || last_.request.size() != datagram.size())
        return false;
    for (std::size_t i = 0; i < datagram.size(); ++i) {
        if (i != flags_at && last_.request[i] != datagram[i]) return false;
    }
    return true;
}

std::size_t hsb_board::refuse(hsb_malformed reason, std::span<const std::byte> datagram,
                              std::span<std::byte> out) {
    const auto status = status_for(reason);
    auto header = answer_header(datagram);
    if (!status || !header) {
        ++counts_.ignored;
        return 0;
    }
    ++counts_.refused;
    if ((header->flags & hsb_flags::acknowledge) == 0) return 0;
    header->status = *status;
    return encode_response(out, *header, {});
}

std::size_t hsb_board::execute(const hsb_request& request, const hsb_response_header& asked,
                               std::span<std::byte> out) {
    auto header = asked;
    std::array<hsb_register, hsb_max_pairs> values;
    std::size_t count = 0;
    if (is_write(request.command)) {
        header.status = write_all(request.pairs);
    } else {
        for (const auto pair : request.pairs) {
            if (!hsb_register_file::is_register(pair.address)) header.status = hsb_status::invalid_address;
            values[count++] = {pair.address, registers_.read(pair.address)};
        }
    }
    if (header.status != hsb_status::success) ++counts_.refused;
    return request.wants_answer() ? encode_response(out, header, std::span(values).first(count)) : 0;
}

hsb_status hsb_board::write_all(const hsb_pairs& pairs) {
    effects seen;
    auto status = hsb_status::success;
    for (const auto pair : pairs) {
        status = write(pair, seen);
        if (status != hsb_status::success) break;
    }
    const auto applied = apply(seen);
    return status != hsb_status::success ? status : applied;
}

hsb_status hsb_board::write(const hsb_register& what, effects& seen) {
    const auto status = registers_.write(what.address, what.value);
    if (status != hsb_status::success) return status;
    const auto offset = what.address - config_.vp_address;
    if (what.address >= config_.vp_address && offset < vp::size) {
        seen.target = true;
        rkey_written_ |= offset == vp::remote_key;
    }
    if (what.address == player::enable) seen.player = true;
    if (what.address == ila::control && (what.value & ila::reset)) {
        registers_.clear_samples();
        set(ila::sample_count, 0);
        set(ila::status, 0);
    }
    return status;
}

/// What the registers now say takes effect when all of a block are written: their order in it does not
/// matter.
hsb_status hsb_board::apply(const effects& seen) {
    const auto now = seen.target ? target() : std::nullopt;
    if (now && now != told_) {
        told_ = now;
        port_.connect(*now);
    }
    return seen.player ? switch_player() : hsb_status::success;
}

hsb_status hsb_board::switch_player() {
    if ((registers_.read(player::enable) & player::enable_bit) == 0) {
        port_.stop();
        return hsb_status::success;
    }
    board_program program;
    if (const auto bad = make_program(program)) {
        set(player::enable, player::off);
        port_.refuse(bad);
        return hsb_status::general_error;
    }
    if (program.loop) {
        for (const auto address :
             {loop_statistics::magic, loop_statistics::state, loop_statistics::acknowledge})
            set(address, 0);
    }
    port_.send(std::move(program));
    return hsb_status::success;
}

error_info hsb_board::make_program(board_program& out) const {
    if (!target()) return {errc::invalid_state, "Player was enabled before QP and RKEY were written"};
    out.windows = registers_.read(player::window_number);
    out.window_bytes = registers_.read(player::window_size);
    if (out.windows == 0) return {errc::invalid_argument, "Player was enabled with zero windows"};
    if (out.window_bytes == 0)
        return {errc::invalid_argument, "Player was enabled with windows of zero bytes"};
    if (!bram::fits(out.windows, out.window_bytes)) {
        return {errc::limit_exceeded, "Player was enabled with " + std::to_string(out.windows) +
                                          " windows of " + std::to_string(out.window_bytes) +
                                          " bytes; the memory holds " + std::to_string(bram::words) +
                                          " beats of " + std::to_string(bram::beat_bytes) +
                                          " bytes: play them in several passes"};
    }
    out.stride = bram::cycles(out.window_bytes) * bram::beat_bytes;
    out.bytes = registers_.windows(out.windows, out.window_bytes);
    out.timer = registers_.read(player::timer);
    out.pause = out.timer == 0 ? pause_without_timer
                               : std::chrono::microseconds{out.timer / player::ticks_per_microsecond};
    out.loop = registers_.read(player::enable) == player::loop;
    return {};
}

std::optional<board_target> hsb_board::target() const {
    const auto vp_register = [this](std::uint32_t offset) {
        return registers_.read(config_.vp_address + offset);
    };
    board_target t;
    t.queue_pair = vp_register(vp::queue_pair);
    if (t.queue_pair == 0 || !rkey_written_) return std::nullopt;
    t.remote_key = vp_register(vp::remote_key);
    t.buffer = join_address({vp_register(vp::page_lsb), vp_register(vp::page_msb)});
    t.page_bytes = std::uint64_t{vp_register(vp::page_increment)} * page_unit;
    t.pages = std::uint64_t{vp_register(vp::last_page)} + 1;
    t.frame_bytes = vp_register(vp::buffer_length);
    t.host_ip = vp_register(vp::host_ip);
    t.udp_port = static_cast<std::uint16_t>(vp_register(vp::host_udp_port));
    return t;
}

bool hsb_board::captures() const noexcept {
    return (registers_.read(ila::control) & ila::enable) != 0;
}

void hsb_board::capture(std::uint32_t window, const ila_sample& sample) {
    if (!captures() || window >= ila::samples) return;
    registers_.put_sample(window, sample);
    set(ila::sample_count, std::max(registers_.read(ila::sample_count), window + 1));
}

void hsb_board::pass_done() {
    if (captures()) set(ila::status, registers_.read(ila::status) | ila::done_bit);
}

void hsb_board::publish(const hsb_loop_counts& counts) {
    using namespace loop_statistics;
    set(windows_low, static_cast<std::uint32_t>(counts.windows));
    set(windows_high, static_cast<std::uint32_t>(counts.windows >> 32));
    set(responses_low, static_cast<std::uint32_t>(counts.responses));
    set(responses_high, static_cast<std::uint32_t>(counts.responses >> 32));
    set(errors, counts.send_errors);
    set(timeouts, counts.timeouts);
    set(response_failures, counts.response_failures);
    set(magic, magic_value);
    set(state, complete);
}

bool hsb_board::loop_counts_read() const noexcept {
    return registers_.read(loop_statistics::acknowledge) == loop_statistics::magic_value;
}

/// One of own_registers.
void hsb_board::set(std::uint32_t address, std::uint32_t value) {
    (void)registers_.write(address, value);
}

} // namespace rocio::fpga
