#include "hsb/sensor_recording.hpp"

#include "hsb/sensor_options.hpp"
#include "lib/human.hpp"

#include <rocio/fpga/hsb_control_client.hpp>
#include <rocio/fpga/hsb_listener.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::chrono::seconds search_time{10}; // as the vendor's host

gid parse_fpga(const std::string& text) {
    const auto address = gid::parse(text);
    if (address && address->is_v4_mapped()) return *address;
    throw exception({errc::invalid_argument,
                     "--fpga-ip is \"" + text + "\"; allowed: an IPv4 address such as 192.168.0.2"});
}

std::string version_text(std::uint16_t version) {
    std::string text = "0x";
    for (int shift = 12; shift >= 0; shift -= 4) text += "0123456789abcdef"[version >> shift & 15];
    return text;
}

sensor_receiver_config receiver_config(const std::shared_ptr<device>& dev, const recv_hsb_options& o) {
    sensor_receiver_config c;
    c.name = o.name;
    c.device = dev;
    c.port = o.ib_port;
    c.gid_index = o.gid_index;
    if (!o.fpga_ip.empty()) c.peer_address = parse_fpga(o.fpga_ip);
    c.frame_size = o.payload;
    c.pages = o.pages;
    c.policy = o.policy;
    c.path_mtu = o.path_mtu;
    c.memory = o.memory;
    return c;
}

} // namespace

sensor_recording::sensor_recording(asio::io_context& context, std::shared_ptr<device> dev,
                                   const recv_hsb_options& options)
    : context_(context),
      device_(std::move(dev)),
      options_(options),
      fpga_(options.fpga_ip),
      receiver_(context, receiver_config(device_, options)) {}

asio::awaitable<error_info> sensor_recording::run() {
    auto failure = co_await record();
    finish();
    if (stopping_) failure = {};
    co_return failure;
}

asio::awaitable<error_info> sensor_recording::record() {
    if (fpga_.empty()) {
        auto failure = co_await find_board();
        if (failure) co_return failure;
    }
    auto failure = co_await connect();
    if (!failure) failure = co_await receive();
    co_return failure;
}

void sensor_recording::finish() {
    const auto s = receiver_.snapshot();
    if (s.device_counters) holes_ = s.device_counters->psns_missed;
    receiver_.stop();
}

void sensor_recording::stop() {
    stopping_ = true;
    if (stop_search_) stop_search_();
    receiver_.stop();
}

asio::awaitable<error_info> sensor_recording::find_board() {
    const auto where =
        parse_udp_endpoint("--announcements", options_.announcements, fpga::hsb_announcement_port);
    fpga::hsb_listener listener(context_, where);
    asio::steady_timer limit(context_, search_time);
    limit.async_wait([&listener](const error_code& ec) {
        if (!ec) listener.cancel();
    });
    stop_search_ = [&listener] { listener.cancel(); };
    tell("listening for a board at " + where.address().to_string() + ":" + std::to_string(where.port()));
    const auto [ec, board] = co_await listener.async_next(asio::as_tuple(asio::use_awaitable));
    stop_search_ = nullptr;
    if (ec) {
        co_return error_info{ec == asio::error::operation_aborted ? error_code(errc::handshake_timed_out)
                                                                  : ec,
                             "no board has announced itself within " + std::to_string(search_time.count()) +
                                 " s: give its address with --fpga-ip"};
    }
    fpga_ = board.from.to_string();
    data_plane_ = board.board.data_plane;
    tell("found " + board.board.board_name() + ", serial number " + board.board.serial_text() + ", at " +
         fpga_);
    co_return error_info{};
}

std::optional<std::array<std::uint8_t, 6>> sensor_recording::find_mac() const {
    port_attributes port;
    if (options_.host_mac) return options_.host_mac;
    if (device_->query_port(options_.ib_port, port)) return std::nullopt;
    return mac_of_interface(port.netdev);
}

fpga::hsb_channel_config sensor_recording::channel_config() const {
    const auto plane = data_plane_.value_or(options_.data_plane);
    const fpga::hsb_sensor sensor{plane, options_.sensor.value_or(plane), options_.sifs_per_sensor};
    if (!sensor.exists())
        throw exception({errc::invalid_argument, "--sensor is " + std::to_string(sensor.number) +
                                                     "; allowed: what makes a virtual port of at most 31"});
    fpga::hsb_channel_config c;
    c.fpga = parse_fpga(fpga_);
    c.path = fpga::hsb_data_path::of(sensor);
    c.frame_size = options_.payload;
    c.mtu = options_.ethernet_mtu;
    c.mac = find_mac();
    c.exact_icrc = !options_.any_ip_id;
    return c;
}

asio::awaitable<error_info> sensor_recording::connect() {
    const auto config = channel_config();
    tell("bringing " + fpga_ + " up on " + device_->name());
    fpga::hsb_channel channel(
        context_,
        fpga::hsb_control_client(
            context_, asio::ip::udp::endpoint(asio::ip::make_address(fpga_), options_.control_port)),
        config);
    channel_ = channel.status();
    ++attempts_;
    error_code ec;
    co_await receiver_.async_connect(std::move(channel), asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return error_info{ec, receiver_.last_error().message()};
    const auto s = channel_->snapshot();
    tell("connected: IP version " + version_text(s.ip_version) + ", " + std::to_string(s.pages) +
         " pages of " + std::to_string(s.page_size) + " bytes, packets of " +
         std::to_string(s.packet_payload));
    co_return error_info{};
}

std::optional<fpga_session_snapshot> sensor_recording::session() const {
    if (!channel_) return std::nullopt;
    const auto where = fpga_ + ":" + std::to_string(options_.control_port);
    return fpga_session_snapshot{options_.name, fpga_, where + " by the HSB control channel", attempts_,
                                 channel_->snapshot()};
}

asio::awaitable<error_info> sensor_recording::receive() {
    while (!stopping_ && !all_received()) {
        const auto [ec, frame] = co_await receiver_.async_receive(asio::as_tuple(asio::use_awaitable));
        if (ec) co_return error_info{ec, receiver_.last_error().message()};
        check(frame);
    }
    co_return error_info{};
}

void sensor_recording::check(const sensor_frame& frame) {
    const auto now = steady_clock::now();
    if (!first_) first_ = now;
    last_ = now;
    ++frames_;
    bytes_ += frame.size();
    if (options_.verify != verify_kind::prbs) return;
    const auto words = prbs_part(frame.size());
    const bool alone = options_.policy == sensor_policy::latest;
    const bool right =
        alone ? words == 0 || is_prbs_frame(frame.data().first(words)) : pattern_.check(frame.data());
    if (right) return;
    if (frame.overwritten())
        ++overwritten_;
    else if (alone)
        ++damaged_;
}

report sensor_recording::result() const {
    const auto s = receiver_.snapshot();
    report r;
    r.device = device_->name();
    r.frames = frames_;
    r.bytes = bytes_;
    if (first_) r.elapsed = last_ - *first_;
    const bool numbered = options_.policy == sensor_policy::every;
    if (options_.verify == verify_kind::prbs && numbered) {
        r.lost = std::max(pattern_.lost(), s.lost);
        r.duplicated = pattern_.duplicated();
        r.corrupt = pattern_.corrupt();
    } else {
        if (options_.verify != verify_kind::none) r.lost = s.lost;
        r.corrupt = damaged_ + overwritten_;
    }
    r.more["skipped"] = s.skipped;
    r.more["dropped"] = s.dropped;
    r.more["overwritten"] = overwritten_;
    r.more["missing_frames"] = s.lost;
    r.more["missing_packets"] = holes_;
    r.more["bad_pages"] = s.bad_page;
    r.more["fpga"] = fpga_;
    return r;
}

std::string sensor_recording::progress() const {
    const auto s = receiver_.snapshot();
    return human_count(static_cast<double>(frames_)) + " frames  " +
           human_bytes(static_cast<double>(bytes_)) + "  lost " + std::to_string(s.lost) + "  dropped " +
           std::to_string(s.dropped) + "  skipped " + std::to_string(s.skipped);
}

} // namespace rocio::tools
