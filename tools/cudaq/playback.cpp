#include "cudaq/playback.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
namespace hsb = fpga::hsb;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Registers of the board itself.
constexpr std::uint32_t reset_control = 0x04, reset_stages = 0x08, ip_version = 0x80;
constexpr std::uint32_t fpga_hif_address = 0x02000300;
constexpr std::uint32_t roce_udp_port = 4791, data_plane_udp_port = 12288;
constexpr std::uint32_t sensor_mask = 1;
/// From here on the page registers hold the address itself, not that of units of 128 bytes.
constexpr std::uint32_t first_version_with_plain_addresses = 0x2602;
constexpr std::array<std::uint32_t, 2> capture_state{hsb::ila::status, hsb::ila::sample_count};
/// What fits an Ethernet frame of 1500 bytes, in units of 128; the vendor's host has the same default.
constexpr std::uint32_t packet_units = 11;
constexpr auto fpga_restart_limit = 30s;
/// An emulator's wait of the last answer may end a little later than its time.
constexpr auto grace = 2s;

} // namespace

playback::playback(const asio::any_io_executor& executor, playback_config config)
    : config_((throw_if(validate(config)), std::move(config))),
      executor_(executor),
      channel_(executor, config_.control, config_.channel),
      timer_(executor),
      passes_(split_into_passes(config_.messages, config_.payload_size, config_.pages)),
      check_({config_.payload_size, config_.forward}) {
    report_.messages = config_.messages;
    report_.verified = config_.verify;
}

void playback::stop() {
    stopping_ = true;
    timer_.cancel();
}

playback_progress playback::progress() const noexcept {
    return {report_.passes, static_cast<std::uint32_t>(passes_.size()), samples_before_ + samples_now_,
            config_.messages};
}

void playback::tell(const std::string& line) const {
    if (config_.tell) config_.tell(line);
}

asio::awaitable<playback_report> playback::run() {
    const auto begin = steady_clock::now();
    if (!config_.emulator) co_await reset_board();
    co_await configure_target();
    if (config_.loop) {
        co_await run_loop();
    } else {
        for (const auto& pass : passes_) {
            if (stopping_) break;
            co_await play_pass(pass);
        }
    }
    report_.elapsed = steady_clock::now() - begin;
    report_.counts = check_.counts();
    report_.round_trips = check_.round_trips();
    report_.remarks.insert(report_.remarks.end(), check_.remarks().begin(), check_.remarks().end());
    report_.channel = channel_.snapshot();
    co_return std::move(report_);
}

asio::awaitable<std::uint32_t> playback::read(std::uint32_t address) {
    error_code ec;
    const auto value = co_await channel_.async_read(address, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(channel_.last_error());
    co_return value;
}

asio::awaitable<void> playback::read(std::span<const std::uint32_t> addresses,
                                     std::span<std::uint32_t> values) {
    error_code ec;
    co_await channel_.async_read_block(addresses, values, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(channel_.last_error());
}

asio::awaitable<void> playback::write(std::uint32_t address, std::uint32_t value) {
    error_code ec;
    co_await channel_.async_write(address, value, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(channel_.last_error());
}

asio::awaitable<void> playback::write(registers what) {
    error_code ec;
    co_await channel_.async_write_block(what, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception(channel_.last_error());
}

/// Ends early when stop() is called.
asio::awaitable<void> playback::pause(std::chrono::nanoseconds time) {
    if (stopping_) co_return;
    timer_.expires_after(time);
    error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

/// The vendor's host waits for the board's next announcement; an answer of its control channel is as good.
asio::awaitable<void> playback::reset_board() {
    tell("Resetting the FPGA...");
    co_await write(reset_stages, 0);
    co_await pause(100ms);
    co_await write(reset_stages, 3);
    auto once = config_.channel;
    once.answer_deadline = 100ms;
    once.tries = 1;
    fpga::hsb_control_client brief(executor_, config_.control, once);
    error_code unanswered;
    co_await brief.async_write(reset_control, 8, asio::redirect_error(asio::use_awaitable, unanswered));
    co_await pause(config_.restart_wait);
    const auto limit = steady_clock::now() + fpga_restart_limit;
    for (;;) {
        error_code ec;
        co_await brief.async_read(ip_version, asio::redirect_error(asio::use_awaitable, ec));
        if (!ec) co_return;
        if (stopping_ || steady_clock::now() > limit) throw exception(brief.last_error());
        co_await pause(100ms);
    }
}

std::uint32_t playback::hif(std::uint32_t offset) const {
    const auto usual = config_.emulator ? hsb::default_hif_address : fpga_hif_address;
    return config_.hif_address.value_or(usual) + offset;
}

std::vector<fpga::hsb_register> playback::target_registers(std::uint32_t version) const {
    auto page = hsb::split_address(config_.buffer);
    if (version >= first_version_with_plain_addresses)
        page = {static_cast<std::uint32_t>(config_.buffer), static_cast<std::uint32_t>(config_.buffer >> 32)};
    const auto mac = config_.bridge_mac.value_or(mac_address{});
    const auto mac_low =
        std::uint32_t{mac[2]} << 24 | std::uint32_t{mac[3]} << 16 | std::uint32_t{mac[4]} << 8 | mac[5];
    return {{hif(hsb::hif::packet_size), packet_units},
            {hif(hsb::hif::packet_udp_port), data_plane_udp_port},
            {vp(hsb::vp::buffer_length), window_bytes(config_.payload_size)},
            {vp(hsb::vp::host_mac_low), mac_low},
            {vp(hsb::vp::host_mac_high), std::uint32_t{mac[0]} << 8 | mac[1]},
            {vp(hsb::vp::host_ip), config_.bridge_ip.to_uint()},
            {vp(hsb::vp::host_udp_port), roce_udp_port},
            {vp(hsb::vp::queue_pair), config_.queue_pair},
            {vp(hsb::vp::remote_key), config_.remote_key},
            {vp(hsb::vp::page_lsb), page.lsb},
            {vp(hsb::vp::page_msb), page.msb},
            {vp(hsb::vp::page_increment), config_.page_size / hsb::page_unit},
            {vp(hsb::vp::last_page), config_.pages - 1}};
}

/// In the vendor's order; the virtual port is off meanwhile.
asio::awaitable<void> playback::configure_target() {
    tell("[1/4] Configuring RDMA target...");
    std::uint32_t version = 0;
    if (!config_.emulator) version = (co_await read(ip_version)) & 0xFFFF;
    const auto mask = hif(hsb::hif::vp_mask);
    const auto before = co_await read(mask);
    co_await write(mask, before & ~sensor_mask);
    const auto target = target_registers(version);
    co_await write(target);
    const auto after = co_await read(mask);
    co_await write(mask, after | sensor_mask);
    tell("  RDMA target configured");
}

asio::awaitable<void> playback::play_pass(const playback_pass& pass) {
    ++report_.passes;
    if (passes_.size() > 1)
        tell("Pass " + std::to_string(report_.passes) + " of " + std::to_string(passes_.size()) +
             ": messages " + std::to_string(pass.first) + " to " +
             std::to_string(pass.first + pass.count - 1));
    co_await load(pass);
    if (config_.verify) co_await arm_capture();
    report_.played += pass.count;
    co_await trigger(hsb::player::single_pass);
    tell("  Playback triggered: " + std::to_string(pass.count) + " messages");
    if (!config_.verify) {
        co_await pause(config_.unverified_wait);
        co_return;
    }
    tell("[4/4] Verifying responses...");
    const auto samples = co_await wait_for_answers(pass);
    co_await check_answers(pass, samples);
}

asio::awaitable<void> playback::load(const playback_pass& pass) {
    tell("[2/4] Loading RPC messages into BRAM...");
    co_await write(hsb::player::enable, hsb::player::off);
    const auto ticks =
        static_cast<std::uint32_t>(config_.spacing.count()) * hsb::player::ticks_per_microsecond;
    const std::array<fpga::hsb_register, 3> player{
        {{hsb::player::window_size, window_bytes(config_.payload_size)},
         {hsb::player::window_number, pass.count},
         {hsb::player::timer, ticks}}};
    co_await write(player);
    const auto image = bram_image(pass, config_.payload_size);
    co_await write(image);
    tell("  BRAM write completed (" + std::to_string(pass.count) + " messages)");
    co_await check_memory(image);
}

asio::awaitable<void> playback::check_memory(registers image) {
    std::vector<std::uint32_t> addresses, values(image.size());
    addresses.reserve(image.size());
    for (const auto& word : image) addresses.push_back(word.address);
    co_await read(addresses, values);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < image.size(); ++i) {
        if (values[i] == image[i].value) continue;
        if (++wrong == 1)
            report_.remarks.push_back("player memory: word " + std::to_string(i) + " of pass " +
                                      std::to_string(report_.passes) + " is " + std::to_string(values[i]) +
                                      ", written was " + std::to_string(image[i].value));
    }
    report_.memory_mismatches += wrong;
    tell(wrong == 0 ? "  BRAM readback verification PASSED"
                    : "  BRAM readback verification FAILED: " + std::to_string(wrong) + " words differ");
}

asio::awaitable<void> playback::arm_capture() {
    co_await write(hsb::ila::control, hsb::ila::off);
    co_await write(hsb::ila::control, hsb::ila::reset);
    if (!config_.emulator) co_await pause(config_.capture_settling);
    co_await write(hsb::ila::control, hsb::ila::off);
    samples_now_ = 0;
    std::array<std::uint32_t, 2> seen{};
    co_await read(capture_state, seen);
    done_is_new_ = (seen[0] & hsb::ila::done_bit) == 0;
    const auto left = seen[1];
    if (left != 0)
        throw exception({errc::invalid_state, "the capture memory still holds " + std::to_string(left) +
                                                  " samples after its reset; restart the emulator"});
    co_await write(hsb::ila::control, hsb::ila::enable);
    tell("  ILA: armed for capture");
}

asio::awaitable<void> playback::trigger(std::uint32_t how) {
    tell("[3/4] Triggering playback...");
    const auto metadata = co_await read(vp(hsb::vp::host_udp_port));
    co_await write(vp(hsb::vp::host_udp_port), metadata | hsb::vp::no_metadata_bit);
    co_await write(hsb::sif_tx_threshold, hsb::sif_tx_threshold_immediate);
    co_await write(hsb::player::enable, how);
}

bool playback::is_over(const playback_pass& pass, std::uint32_t samples, bool done,
                       std::chrono::nanoseconds quiet) const {
    if (samples >= pass.count) return config_.emulator || quiet >= config_.capture_settling;
    if (!config_.emulator) return quiet >= config_.reply_timeout;
    return done || quiet >= config_.reply_timeout * (pass.count - samples) + grace;
}

/// Gives the number of samples. An FPGA sends on without answers; its emulator waits for each, and says in
/// the status when it is through.
asio::awaitable<std::uint32_t> playback::wait_for_answers(const playback_pass& pass) {
    std::array<std::uint32_t, 2> seen{};
    auto last_change = steady_clock::now();
    bool done = false;
    while (!stopping_) {
        co_await pause(config_.poll_interval);
        co_await read(capture_state, seen);
        if (seen[1] != samples_now_) last_change = steady_clock::now();
        samples_now_ = seen[1];
        // Once more after the end was seen: the last sample may have come between the two.
        if (is_over(pass, samples_now_, done, steady_clock::now() - last_change)) break;
        done = done_is_new_ && (seen[0] & hsb::ila::done_bit) != 0;
    }
    co_await write(hsb::player::enable, hsb::player::off);
    co_await write(hsb::ila::control, hsb::ila::off);
    tell("  ILA: captured " + std::to_string(samples_now_) + " samples");
    co_return std::min(samples_now_, hsb::ila::samples);
}

asio::awaitable<void> playback::check_answers(const playback_pass& pass, std::uint32_t samples) {
    check_.begin(pass);
    std::vector<std::uint32_t> addresses, values;
    for (std::uint32_t first = 0; first < samples; first += hsb::ila::samples_per_read) {
        const auto n = std::min(hsb::ila::samples_per_read, samples - first);
        addresses.clear();
        for (std::uint32_t bank = 0; bank < hsb::ila::banks; ++bank)
            for (std::uint32_t i = 0; i < n; ++i) addresses.push_back(hsb::ila::address(bank, first + i));
        values.resize(addresses.size());
        co_await read(addresses, values);
        for (std::uint32_t i = 0; i < n; ++i) {
            hsb::ila_sample::words words{};
            for (std::uint32_t bank = 0; bank < hsb::ila::banks; ++bank) words[bank] = values[bank * n + i];
            check_.add(hsb::ila_sample::unpack(words));
        }
    }
    check_.end();
    samples_before_ += samples;
    samples_now_ = 0;
}

asio::awaitable<void> playback::run_loop() {
    ++report_.passes;
    co_await load(passes_.front());
    co_await trigger(hsb::player::loop);
    report_.played = config_.messages;
    tell("  Loop playback is running. Press Ctrl-C to disable the player and exit.");
    while (!stopping_) co_await pause(1h);
    co_await write(hsb::player::enable, hsb::player::off);
    tell("  Loop playback disabled.");
    if (!config_.emulator) co_return;
    report_.loop = co_await loop_statistics();
}

/// The emulator shows them when the last window of the loop is over.
asio::awaitable<std::optional<loop_counts>> playback::loop_statistics() {
    namespace of = hsb::loop_statistics;
    static constexpr std::array<std::uint32_t, 9> asked{
        of::magic,          of::state,  of::windows_low, of::windows_high,     of::responses_low,
        of::responses_high, of::errors, of::timeouts,    of::response_failures};
    std::array<std::uint32_t, 9> seen{};
    const auto limit = steady_clock::now() + grace;
    for (;;) {
        co_await read(asked, seen);
        if (seen[0] == of::magic_value && seen[1] == of::complete) break;
        if (steady_clock::now() > limit) co_return std::nullopt;
        timer_.expires_after(config_.poll_interval);
        error_code ignored;
        co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_await write(of::acknowledge, of::magic_value);
    const auto both = [](std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; };
    co_return loop_counts{both(seen[3], seen[2]), both(seen[5], seen[4]), seen[6], seen[7], seen[8]};
}

} // namespace rocio::tools
