#include "lib/options.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace rocio;
using namespace rocio::tools;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Parses `line` (as on a command line, last argument first is CLI11's own wish) with one option added by
/// `add`.
void parse(const std::function<void(CLI::App&)>& add, const std::string& line) {
    CLI::App app;
    add(app);
    app.parse(line);
}

/// The sentence a user gets for a refused line; "" if it was taken.
std::string refusal(const std::function<void(CLI::App&)>& add, const std::string& line) {
    try {
        parse(add, line);
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    return {};
}

/// What `add` makes of `line`, from `value` on.
template <class Value, class Add>
Value parsed(Add add, const std::string& line, Value value = {}) {
    parse([&](CLI::App& app) { add(app, value); }, line);
    return value;
}

template <class Value, class Add>
std::string refused(Add add, const std::string& line) {
    Value value{};
    return refusal([&](CLI::App& app) { add(app, value); }, line);
}

class environment_variable {
  public:
    environment_variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~environment_variable() { ::unsetenv(name_); }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;

  private:
    const char* name_;
};

TEST(option_device, comes_from_the_line_else_from_the_environment_else_stays) {
    EXPECT_EQ(parsed<std::string>(options::device, "", "soft:127.0.0.1"), "soft:127.0.0.1");
    const environment_variable variable("ROCIO_DEVICE", "rxe0");
    EXPECT_EQ(parsed<std::string>(options::device, "", "soft:127.0.0.1"), "rxe0");
    EXPECT_EQ(parsed<std::string>(options::device, "--device soft:[::1]:4791"), "soft:[::1]:4791");
}

TEST(option_gid_index, is_a_number_or_auto) {
    using value = std::optional<std::uint32_t>;
    EXPECT_EQ(parsed<value>(options::gid_index, ""), std::nullopt);
    EXPECT_EQ(parsed<value>(options::gid_index, "--gid-index 3"), 3U);
    EXPECT_EQ(parsed<value>(options::gid_index, "--gid-index auto", 3), std::nullopt);
    for (const auto* bad : {"256", "-1", "x", "1x"}) {
        EXPECT_THAT(refused<value>(options::gid_index, std::string("--gid-index=") + bad),
                    AllOf(HasSubstr("--gid-index"), HasSubstr(bad), HasSubstr("auto, or 0 to 255")));
    }
}

TEST(option_mtu, takes_bytes_and_codes) {
    EXPECT_EQ(parsed(options::path_mtu, "", mtu::b1024), mtu::b1024);
    EXPECT_EQ(parsed<mtu>(options::path_mtu, "--mtu 4096"), mtu::b4096);
    EXPECT_EQ(parsed<mtu>(options::path_mtu, "--mtu 5"), mtu::b4096);
    EXPECT_EQ(parsed<mtu>(options::path_mtu, "--mtu 1"), mtu::b256);
    for (const auto* bad : {"0", "6", "1500", "4096B", "9000"}) {
        EXPECT_THAT(refused<mtu>(options::path_mtu, std::string("--mtu ") + bad),
                    AllOf(HasSubstr("--mtu"), HasSubstr(bad), HasSubstr("256, 512, 1024, 2048, 4096")));
    }
}

TEST(option_of_a_number, takes_its_range_and_names_it_otherwise) {
    EXPECT_EQ(parsed<std::uint32_t>(options::depth, "--depth 65536"), 65536U);
    EXPECT_EQ(parsed<std::uint32_t>(options::payload, "--payload 9000"), 9000U);
    EXPECT_EQ(parsed<std::uint8_t>(options::ib_port, "--ib-port 255"), 255);
    EXPECT_EQ(parsed<std::uint8_t>(options::rnr_retry, "--rnr-retry 0", 7), 0);
    EXPECT_EQ(parsed<std::uint8_t>(options::retry_count, "--retry-count 7"), 7);
    EXPECT_THAT(refused<std::uint32_t>(options::depth, "--depth 0"),
                AllOf(HasSubstr("--depth"), HasSubstr("\"0\""), HasSubstr("1 to 65536")));
    EXPECT_THAT(refused<std::uint32_t>(options::payload, "--payload 1073741825"),
                HasSubstr("1 to 1073741824"));
    EXPECT_THAT(refused<std::uint8_t>(options::ib_port, "--ib-port 256"), HasSubstr("1 to 255"));
    EXPECT_THAT(refused<std::uint8_t>(options::rnr_retry, "--rnr-retry 8"), HasSubstr("0 to 7"));
    EXPECT_THAT(refused<std::uint8_t>(options::retry_count, "--retry-count=-1"), HasSubstr("0 to 7"));
    EXPECT_THAT(refused<std::uint32_t>(options::depth, "--depth 18446744073709551617"),
                HasSubstr("1 to 65536"));
}

TEST(option_of_a_number, left_out_keeps_the_default) {
    EXPECT_EQ(parsed<std::uint32_t>(options::depth, "", 256), 256U);
    EXPECT_EQ(parsed<std::uint8_t>(options::rnr_retry, "", 7), 7);
}

TEST(option_count, takes_64_bits) {
    using value = std::optional<std::uint64_t>;
    EXPECT_EQ(parsed<value>(options::count, ""), std::nullopt);
    EXPECT_EQ(parsed<value>(options::count, "--count 18446744073709551615"), 18446744073709551615ULL);
    EXPECT_THAT(refused<value>(options::count, "--count 0"), HasSubstr("--count"));
    EXPECT_THAT(refused<value>(options::count, "--count 1e6"), HasSubstr("--count"));
}

TEST(option_seconds, takes_a_time_with_or_without_a_unit) {
    using value = std::optional<std::chrono::nanoseconds>;
    EXPECT_EQ(parsed<value>(options::seconds, ""), std::nullopt);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 10"), 10s);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 0.25"), 250ms);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 250ms"), 250ms);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 100us"), 100us);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 1.5min"), 90s);
    EXPECT_EQ(parsed<value>(options::seconds, "--seconds 3s"), 3s);
    for (const auto* bad :
         {"0", "-1", "1h", "s", "1.2.3", "inf", "nan", "1e3", "99999999999", "0.0000000001"}) {
        EXPECT_THAT(refused<value>(options::seconds, std::string("--seconds=") + bad),
                    AllOf(HasSubstr("--seconds"), HasSubstr("seconds, or with us, ms, s or min")))
            << bad;
    }
}

TEST(option_connect_timeout, is_never_rounded_to_nothing) {
    EXPECT_EQ(parsed<std::chrono::milliseconds>(options::connect_timeout, "--connect-timeout 2.5"), 2500ms);
    EXPECT_EQ(parsed<std::chrono::milliseconds>(options::connect_timeout, "--connect-timeout 1us"), 1ms);
    EXPECT_EQ(parsed<std::chrono::milliseconds>(options::connect_timeout, "", 5s), 5s);
    EXPECT_THAT(refused<std::chrono::milliseconds>(options::connect_timeout, "--connect-timeout soon"),
                HasSubstr("--connect-timeout"));
}

TEST(option_rnr_timer, takes_the_code) {
    EXPECT_EQ(parsed<rnr_timer>(options::min_rnr_timer, "").code(), 12);
    EXPECT_EQ(parsed<rnr_timer>(options::min_rnr_timer, "--rnr-timer 0").code(), 0);
    EXPECT_EQ(parsed<rnr_timer>(options::min_rnr_timer, "--rnr-timer 31").code(), 31);
    EXPECT_THAT(refused<rnr_timer>(options::min_rnr_timer, "--rnr-timer 32"),
                AllOf(HasSubstr("--rnr-timer"), HasSubstr("0 to 31"), HasSubstr("655.36 ms")));
}

TEST(option_poll, takes_the_three_policies_by_name) {
    EXPECT_EQ(parsed<polling_policy>(options::poll, "--poll park", polling_policy::spin()).name(), "park");
    EXPECT_EQ(parsed<polling_policy>(options::poll, "--poll hybrid").name(), "hybrid");
    EXPECT_EQ(parsed<polling_policy>(options::poll, "--poll spin").name(), "spin");
    EXPECT_EQ(parsed<polling_policy>(options::poll, "", polling_policy::hybrid()).name(), "hybrid");
    EXPECT_THAT(refused<polling_policy>(options::poll, "--poll busy"), HasSubstr("park, hybrid and spin"));
    EXPECT_EQ(parsed<polling_policy>(options::poll, "--poll hybrid:200us").budget, 200us);
    EXPECT_EQ(parsed<polling_policy>(options::poll, "--poll hybrid").budget, 50us);
    for (const auto* bad : {"hybrid:", "hybrid:soon", "spin:1s", "hybrid:0"})
        EXPECT_THAT(refused<polling_policy>(options::poll, std::string("--poll ") + bad),
                    HasSubstr("--poll"));
}

TEST(option_realtime_priority, takes_what_sched_fifo_has) {
    using value = std::optional<int>;
    EXPECT_EQ(parsed<value>(options::realtime_priority, ""), std::nullopt);
    EXPECT_EQ(parsed<value>(options::realtime_priority, "--realtime-priority 1"), 1);
    EXPECT_EQ(parsed<value>(options::realtime_priority, "--realtime-priority 99"), 99);
    for (const auto* bad : {"0", "100", "high"})
        EXPECT_THAT(refused<value>(options::realtime_priority, std::string("--realtime-priority ") + bad),
                    AllOf(HasSubstr("--realtime-priority"), HasSubstr("1 to 99")));
}

TEST(options_of_memory, are_four_and_ask_for_nothing_when_left_out) {
    const auto plain = parsed<memory_options>(options::memory, "");
    EXPECT_EQ(plain.huge_pages, huge_pages::no);
    EXPECT_EQ(plain.numa_node, std::nullopt);
    EXPECT_FALSE(plain.prefault);
    EXPECT_FALSE(plain.lock);
    const auto all =
        parsed<memory_options>(options::memory, "--huge-pages 2M --numa-node 1 --prefault --lock-memory");
    EXPECT_EQ(all.huge_pages, huge_pages::mib2);
    EXPECT_EQ(all.numa_node, 1U);
    EXPECT_TRUE(all.prefault);
    EXPECT_TRUE(all.lock);
}

TEST(options_of_memory, take_the_sizes_of_pages_by_name) {
    using kind = huge_pages;
    EXPECT_EQ(parsed<kind>(options::huge_pages, "--huge-pages thp"), kind::transparent);
    EXPECT_EQ(parsed<kind>(options::huge_pages, "--huge-pages 1G"), kind::gib1);
    EXPECT_EQ(parsed<kind>(options::huge_pages, "--huge-pages no", kind::gib1), kind::no);
    for (const auto* bad : {"yes", "2MB", "1g", ""})
        EXPECT_THAT(refused<kind>(options::huge_pages, std::string("--huge-pages=") + bad),
                    HasSubstr("--huge-pages"));
    EXPECT_THAT(refused<std::optional<unsigned>>(options::numa_node, "--numa-node x"),
                HasSubstr("0 to 1023"));
}

TEST(option_cpu, takes_a_cpu_of_this_machine) {
    using value = std::optional<unsigned>;
    EXPECT_EQ(parsed<value>(options::cpu, ""), std::nullopt);
    EXPECT_EQ(parsed<value>(options::cpu, "--cpu 0"), 0U);
    EXPECT_THAT(refused<value>(options::cpu, "--cpu 100000"), AllOf(HasSubstr("--cpu"), HasSubstr("0 to ")));
}

TEST(option_json, is_a_flag) {
    EXPECT_FALSE(parsed<bool>(options::json, ""));
    EXPECT_TRUE(parsed<bool>(options::json, "--json"));
}

TEST(option_name, takes_any_text) {
    EXPECT_EQ(parsed<std::string>(options::name, "--name camera"), "camera");
}

TEST(option_log, comes_from_the_line_else_from_the_environment) {
    EXPECT_EQ(parsed<log_levels>(options::log, "").of("io"), log_level::warning);
    EXPECT_EQ(parsed<log_levels>(options::log, "--log io=debug").of("io"), log_level::debug);
    const environment_variable variable("ROCIO_LOG", "off");
    EXPECT_EQ(parsed<log_levels>(options::log, "").of("io"), std::nullopt);
    EXPECT_EQ(parsed<log_levels>(options::log, "--log error").of("io"), log_level::error);
    EXPECT_THAT(refused<log_levels>(options::log, "--log loud"),
                AllOf(HasSubstr("--log"), HasSubstr("debug, info, warning, error and off")));
}

TEST(option_http, takes_a_port_with_or_without_an_address) {
    using value = std::optional<options::http_address>;
    EXPECT_FALSE(parsed<value>(options::http, "").has_value());
    const auto port = parsed<value>(options::http, "--http 8080");
    ASSERT_TRUE(port.has_value());
    EXPECT_EQ(port->address, "127.0.0.1");
    EXPECT_EQ(port->port, 8080);
    const auto v4 = parsed<value>(options::http, "--http 0.0.0.0:0");
    ASSERT_TRUE(v4.has_value());
    EXPECT_EQ(v4->address, "0.0.0.0");
    EXPECT_EQ(v4->port, 0);
    const auto v6 = options::parse_http_address("[::1]:80");
    EXPECT_EQ(v6.address, "::1");
    EXPECT_EQ(v6.port, 80);
}

TEST(option_http, refuses_what_is_no_port_or_no_numeric_address) {
    for (const auto* bad : {"", ":", ":80", "x", "65536", "-1", "localhost:80", "::1:80", "[127.0.0.1]:80",
                            "[]:80", "127.0.0.1:", "127.0.0.1:http", "[::1]", "1.2.3:80", "80 "}) {
        try {
            options::parse_http_address(bad);
            ADD_FAILURE() << bad;
        } catch (const CLI::ValidationError& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("--http"), HasSubstr("[IPV6]:PORT"))) << bad;
        }
    }
}

TEST(option_help, shows_each_option_with_its_default) {
    CLI::App app;
    std::uint32_t depth = 256;
    auto mtu_value = mtu::b4096;
    auto policy = polling_policy::park();
    options::depth(app, depth);
    options::path_mtu(app, mtu_value);
    options::poll(app, policy);
    EXPECT_THAT(app.help(), AllOf(HasSubstr("--depth"), HasSubstr("256"), HasSubstr("--mtu"),
                                  HasSubstr("4096"), HasSubstr("park|hybrid[:TIME]|spin")));
}

} // namespace
