#include "fpga/slac_hex.hpp"

#include <rocio/fpga/slac_engine_config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

namespace rocio::fpga {

namespace {

using std::chrono::milliseconds;

template <class T>
struct named {
    const char* name;
    T member;
};

constexpr std::array offsets{
    named<std::uint32_t slac_register_map::*>{"send-metadata", &slac_register_map::send_metadata},
    named<std::uint32_t slac_register_map::*>{"receive-metadata", &slac_register_map::receive_metadata},
    named<std::uint32_t slac_register_map::*>{"metadata-tx", &slac_register_map::metadata_tx},
    named<std::uint32_t slac_register_map::*>{"metadata-rx", &slac_register_map::metadata_rx},
    named<std::uint32_t slac_register_map::*>{"dispatch-enable", &slac_register_map::dispatch_enable},
    named<std::uint32_t slac_register_map::*>{"max-size", &slac_register_map::max_size},
    named<std::uint32_t slac_register_map::*>{"rkey", &slac_register_map::rkey},
    named<std::uint32_t slac_register_map::*>{"lkey", &slac_register_map::lkey},
    named<std::uint32_t slac_register_map::*>{"sqpn", &slac_register_map::sqpn},
    named<std::uint32_t slac_register_map::*>{"dqpn", &slac_register_map::dqpn},
    named<std::uint32_t slac_register_map::*>{"remote-address", &slac_register_map::remote_address},
    named<std::uint32_t slac_register_map::*>{"address-wrap-count", &slac_register_map::address_wrap_count},
    named<std::uint32_t slac_register_map::*>{"success-counter", &slac_register_map::success_counter},
    named<std::uint32_t slac_register_map::*>{"unsuccess-counter", &slac_register_map::unsuccess_counter},
    named<std::uint32_t slac_register_map::*>{"reset-counters", &slac_register_map::reset_counters},
    named<std::uint32_t slac_register_map::*>{"oversize-count", &slac_register_map::oversize_count},
    named<std::uint32_t slac_register_map::*>{"monitor-frames", &slac_register_map::monitor_frames},
    named<std::uint32_t slac_register_map::*>{"monitor-rate", &slac_register_map::monitor_rate},
    named<std::uint32_t slac_register_map::*>{"monitor-bandwidth", &slac_register_map::monitor_bandwidth},
    named<std::uint32_t slac_register_map::*>{"monitor-frame-size", &slac_register_map::monitor_frame_size},
    named<std::uint32_t slac_register_map::*>{"udp-client-stride", &slac_register_map::udp_client_stride},
    named<std::uint32_t slac_register_map::*>{"udp-remote-port", &slac_register_map::udp_remote_port},
    named<std::uint32_t slac_register_map::*>{"udp-remote-ip", &slac_register_map::udp_remote_ip},
    named<std::uint32_t slac_register_map::*>{"prbs-control", &slac_register_map::prbs_control},
    named<std::uint32_t slac_register_map::*>{"prbs-packet-length", &slac_register_map::prbs_packet_length},
    named<std::uint32_t slac_register_map::*>{"prbs-trigger-delay", &slac_register_map::prbs_trigger_delay},
    named<std::uint32_t slac_register_map::*>{"prbs-word-size", &slac_register_map::prbs_word_size},
};

constexpr std::array waits{
    named<milliseconds slac_engine_config::*>{"request-deadline", &slac_engine_config::request_deadline},
    named<milliseconds slac_engine_config::*>{"clean-up-deadline", &slac_engine_config::clean_up_deadline},
    named<milliseconds slac_engine_config::*>{"reset-pause", &slac_engine_config::reset_pause},
    named<milliseconds slac_engine_config::*>{"settle-pause", &slac_engine_config::settle_pause},
    named<milliseconds slac_engine_config::*>{"disarm-pause", &slac_engine_config::disarm_pause},
    named<milliseconds slac_engine_config::*>{"first-poll", &slac_engine_config::first_poll},
    named<milliseconds slac_engine_config::*>{"poll", &slac_engine_config::poll},
    named<milliseconds slac_engine_config::*>{"liveness-interval", &slac_engine_config::liveness_interval},
};

constexpr std::array numbers{
    named<std::uint32_t slac_engine_config::*>{"engine-base", &slac_engine_config::engine_base},
    named<std::uint32_t slac_engine_config::*>{"udp-base", &slac_engine_config::udp_base},
    named<std::uint32_t slac_engine_config::*>{"udp-client", &slac_engine_config::udp_client},
    named<std::uint32_t slac_engine_config::*>{"roce-port", &slac_engine_config::roce_port},
    named<std::uint32_t slac_engine_config::*>{"register-link-tries",
                                               &slac_engine_config::register_link_tries},
};

constexpr std::string_view map_prefix = "map-";
constexpr std::uint32_t last_offset = 0x00FF'FFFC;
constexpr std::uint32_t last_base = 0xFF00'0000;
constexpr std::uint32_t udp_clients = 16; // as udp_engine_program takes

error_info refuse(std::string_view what, const std::string& asked, const std::string& allowed) {
    return {errc::invalid_argument, std::string(what) + " of " + asked + ", allowed are " + allowed};
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (is_hex) text.remove_prefix(2);
    std::uint32_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data(), end, value, is_hex ? 16 : 10);
    if (ec != std::errc() || stop != end || text.empty()) return std::nullopt;
    return value;
}

error_info check_address(std::string_view what, std::uint32_t value, std::uint32_t last) {
    if (value <= last && value % 4 == 0) return {};
    return refuse(what, slac_hex(value), "multiples of 4 up to " + slac_hex(last));
}

error_info check_wait(std::string_view what, milliseconds value, milliseconds least) {
    constexpr milliseconds most{600'000};
    if (value >= least && value <= most) return {};
    return refuse(what, std::to_string(value.count()) + " ms",
                  std::to_string(least.count()) + " to " + std::to_string(most.count()) + " ms");
}

error_info check_map(const slac_register_map& map) {
    for (const auto& o : offsets)
        if (auto e = check_address(std::string(map_prefix) + o.name, map.*o.member, last_offset)) return e;
    if (map.soft_reset) return check_address("map-soft-reset", *map.soft_reset, last_offset);
    return {};
}

error_info check_waits(const slac_engine_config& config) {
    for (const auto& w : waits) {
        // A pause may be nothing; what ends something, or comes again and again, may not.
        const bool is_pause = std::string_view(w.name).ends_with("-pause");
        if (auto e = check_wait(w.name, config.*w.member, milliseconds(is_pause ? 0 : 1))) return e;
    }
    return {};
}

std::string normalised(std::string_view name) {
    std::string out(name);
    std::ranges::replace(out, '_', '-');
    return out;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The outcome for an option whose value is one of two words.
std::optional<bool> choose(std::string_view value, std::string_view yes, std::string_view no) {
    if (value == yes) return true;
    if (value == no) return false;
    return std::nullopt;
}

error_info set_word(slac_engine_config& config, const std::string& name, std::string_view value,
                    bool& known) {
    known = true;
    if (name == "sqpn") {
        const auto host = choose(value, "host", "fpga");
        if (!host) return refuse("sqpn", std::string(value), "host and fpga");
        config.sqpn = *host ? slac_sqpn::host : slac_sqpn::fpga;
        return {};
    }
    if (name == "soft-reset" || name == "verify") {
        const auto on = choose(value, "on", "off");
        if (!on) return refuse(name, std::string(value), "on and off");
        (name == "verify" ? config.verify : config.soft_reset) = *on;
        return {};
    }
    if (name == "map-soft-reset" && value == "none") {
        config.map.soft_reset.reset();
        return {};
    }
    known = false;
    return {};
}

bool set_number(slac_engine_config& config, const std::string& name, std::uint32_t value) {
    for (const auto& n : numbers) {
        if (name != n.name) continue;
        config.*n.member = value;
        return true;
    }
    for (const auto& w : waits) {
        if (name != w.name) continue;
        config.*w.member = milliseconds(value);
        return true;
    }
    for (const auto& o : offsets) {
        if (name != std::string(map_prefix) + o.name) continue;
        config.map.*o.member = value;
        return true;
    }
    if (name == "map-soft-reset")
        config.map.soft_reset = value;
    else if (name == "prbs-base")
        config.prbs_base = value;
    else if (name == "counter-wrap")
        config.counter_wrap = value;
    else
        return false;
    return true;
}

/// Without validating the whole: options that only fit together come one after the other.
error_info put_option(slac_engine_config& config, std::string_view name, std::string_view value) {
    const auto wanted = normalised(name);
    bool known = false;
    if (auto e = set_word(config, wanted, value, known); e || known) return e;
    const auto number = parse_number(value);
    if (!set_number(config, wanted, number.value_or(0)))
        return {
            errc::invalid_argument,
            "there is no option " + wanted +
                "; known are engine-base, udp-base, udp-client, prbs-base, sqpn, counter-wrap, roce-port, "
                "soft-reset, verify, register-link-tries, the deadlines and pauses, and map-… for offsets"};
    if (number) return {};
    return refuse(wanted, '"' + std::string(value) + '"', "numbers of 32 bits, decimal or 0x…");
}

} // namespace

error_info validate(const slac_engine_config& config) {
    if (auto e = check_address("engine-base", config.engine_base, last_base)) return e;
    if (auto e = check_address("udp-base", config.udp_base, last_base)) return e;
    if (config.prbs_base)
        if (auto e = check_address("prbs-base", *config.prbs_base, last_base)) return e;
    if (config.udp_client >= udp_clients)
        return refuse("udp-client", std::to_string(config.udp_client),
                      "0 to " + std::to_string(udp_clients - 1));
    if (config.roce_port < 1 || config.roce_port > 65535)
        return refuse("roce-port", std::to_string(config.roce_port), "1 to 65535");
    if (auto e = check_map(config.map)) return e;
    if (auto e = check_waits(config)) return e;
    if (config.register_link_tries < 1 || config.register_link_tries > 100)
        return refuse("register-link-tries", std::to_string(config.register_link_tries), "1 to 100");
    return {};
}

error_info validate(const slac_transport& transport) {
    if (!mtu_from_code(code(transport.path_mtu)))
        return refuse("path_mtu", "code " + std::to_string(code(transport.path_mtu)), "1 to 5 (256 to 4096)");
    if (transport.rnr_retry > 7) return refuse("rnr_retry", std::to_string(transport.rnr_retry), "0 to 7");
    if (transport.retry_count > 7)
        return refuse("retry_count", std::to_string(transport.retry_count), "0 to 7");
    return {};
}

error_info set_option(slac_engine_config& config, std::string_view name, std::string_view value) {
    auto changed = config;
    if (auto e = put_option(changed, name, value)) return e;
    if (auto e = validate(changed)) return e;
    config = changed;
    return {};
}

error_info parse_board_file(std::string_view text, slac_engine_config& config) {
    auto changed = config;
    std::set<std::string> seen;
    const auto at = [](std::size_t line, error_info e) {
        e.text = "line " + std::to_string(line) + ": " + e.text;
        return e;
    };
    for (std::size_t line = 1; !text.empty(); ++line) {
        auto content = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(content.size() + 1, text.size()));
        content = trimmed(content.substr(0, content.find('#')));
        if (content.empty()) continue;
        const auto equals = content.find('=');
        if (equals == std::string_view::npos)
            return at(line, {errc::invalid_argument, "expected name = value"});
        const auto name = trimmed(content.substr(0, equals));
        if (!seen.insert(normalised(name)).second)
            return at(line, {errc::invalid_argument, std::string(name) + " was given before"});
        auto e = put_option(changed, name, trimmed(content.substr(equals + 1)));
        if (!e) e = validate(changed);
        if (e) return at(line, std::move(e));
    }
    config = changed;
    return {};
}

} // namespace rocio::fpga
