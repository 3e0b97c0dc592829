#include "lib/options.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace rocio::tools::options {

namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& asked, const std::string& allowed) {
    throw CLI::ValidationError(option, "\"" + asked + "\" is not possible; allowed: " + allowed);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::uint64_t parse_between(const std::string& option, const std::string& text, std::uint64_t min,
                            std::uint64_t max) {
    const auto number = parse_number<std::uint64_t>(text);
    if (!number || *number < min || *number > max) {
        refuse(option, text, std::to_string(min) + " to " + std::to_string(max));
    }
    return *number;
}

using store_text = std::function<void(const std::string& option, const std::string& text)>;

CLI::Option* add(CLI::App& app, const std::string& option, const std::string& value_name,
                 const std::string& help, store_text store) {
    const auto run = [option, store = std::move(store)](const std::string& text) { store(option, text); };
    return app.add_option_function<std::string>(option, run, help)->type_name(value_name);
}

template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& option, const std::string& help, Number& value,
                        std::uint64_t min, std::uint64_t max) {
    const auto store = [&value, min, max](const std::string& o, const std::string& text) {
        value = static_cast<Number>(parse_between(o, text, min, max));
    };
    const auto range = std::to_string(min) + ".." + std::to_string(max);
    return add(app, option, range, help, store)->default_str(std::to_string(value));
}

polling_policy parse_policy(const std::string& option, const std::string& text) {
    static const std::string with_budget = "hybrid:";
    for (const auto policy : {polling_policy::park(), polling_policy::hybrid(), polling_policy::spin()}) {
        if (text == policy.name()) return policy;
    }
    if (text.starts_with(with_budget))
        return polling_policy::hybrid(parse_duration(option, text.substr(with_budget.size())));
    refuse(option, text, "park, hybrid and spin, and hybrid:TIME such as hybrid:200us");
}

unsigned configured_cpus() {
    const auto n = ::sysconf(_SC_NPROCESSORS_CONF);
    return n > 0 ? static_cast<unsigned>(n) : 1;
}

} // namespace

http_address parse_http_address(const std::string& text) {
    static const std::string option = "--http";
    static const std::string allowed =
        "PORT, ADDRESS:PORT or [IPV6]:PORT, the address numeric, the port 0 to 65535";
    http_address result;
    const auto colon = text.rfind(':');
    const auto port = parse_number<std::uint16_t>(
        colon == std::string::npos ? std::string_view(text) : std::string_view(text).substr(colon + 1));
    if (!port) refuse(option, text, allowed);
    result.port = *port;
    if (colon == std::string::npos) return result;

    auto host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(host, ec);
    if (ec || address.is_v6() != bracketed) refuse(option, text, allowed);
    result.address = host;
    return result;
}

std::chrono::nanoseconds parse_duration(const std::string& option, const std::string& text) {
    static constexpr std::array<std::pair<std::string_view, double>, 5> units = {
        {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"min", 60e9}}};
    constexpr double year = 365.0 * 86400e9;
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse_number<double>(std::string_view(text).substr(0, digits));
    for (const auto& [unit, factor] : units) {
        if (!number || text.substr(digits) != unit) continue;
        const double ns = std::round(*number * factor);
        if (ns >= 1 && ns <= year) return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
    }
    refuse(option, text, "a time above 0 in seconds, or with us, ms, s or min, such as 2.5 or 250ms");
}

CLI::Option* device(CLI::App& app, std::string& value) {
    return app
        .add_option("--device", value,
                    "RDMA device: an ibverbs name, or soft:ADDRESS[:PORT] for the user-space one")
        ->envname("ROCIO_DEVICE")
        ->type_name("NAME")
        ->default_str(value);
}

CLI::Option* gid_index(CLI::App& app, std::optional<std::uint32_t>& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        value.reset();
        if (text == "auto") return;
        const auto number = parse_number<std::uint32_t>(text);
        if (!number || *number > 255) refuse(option, text, "auto, or 0 to 255");
        value = *number;
    };
    return add(app, "--gid-index", "auto|0..255", "entry of the port's GID table", store)
        ->default_str(value ? std::to_string(*value) : "auto");
}

CLI::Option* path_mtu(CLI::App& app, mtu& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        const auto parsed = parse_mtu(text);
        if (!parsed) refuse(option, text, "256, 512, 1024, 2048, 4096 bytes, or their codes 1 to 5");
        value = *parsed;
    };
    return add(app, "--mtu", "BYTES|CODE", "path MTU", store)->default_str(to_string(value));
}

CLI::Option* depth(CLI::App& app, std::uint32_t& value) {
    return add_number(app, "--depth", "slots of the receive queue", value, 1, 65536);
}

CLI::Option* payload(CLI::App& app, std::uint32_t& value) {
    return add_number(app, "--payload", "bytes of a slot or frame", value, 1, std::uint64_t{1} << 30);
}

CLI::Option* verify(CLI::App& app, verify_kind& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        const auto kind = parse_verify_kind(text);
        if (!kind) refuse(option, text, "prbs, counter (in imm[31:8]) and none");
        value = *kind;
    };
    return add(app, "--verify", "prbs|counter|none", "by what frames are judged", store)
        ->default_str(std::string(to_string(value)));
}

CLI::Option* prbs_width(CLI::App& app, std::size_t& word_bytes) {
    const auto store = [&word_bytes](const std::string& option, const std::string& text) {
        const auto bits = parse_number<std::uint32_t>(text);
        if (!bits || *bits < 32 || *bits > 8192 || *bits % 32 != 0)
            refuse(option, text, "multiples of 32 from 32 to 8192");
        word_bytes = *bits / 8;
    };
    return add(app, "--prbs-width", "BITS", "word of the PRBS (SsiPrbsTx tells it at 0x20)", store)
        ->default_str(std::to_string(word_bytes * 8));
}

CLI::Option* counter_wrap(CLI::App& app, std::uint32_t& value) {
    return add_number(app, "--counter-wrap", "values of the counter in imm[31:8]; 0: it stands still", value,
                      0, 1U << 24);
}

CLI::Option* http(CLI::App& app, std::optional<http_address>& value) {
    const auto store = [&value](const std::string&, const std::string& text) {
        value = parse_http_address(text);
    };
    return add(app, "--http", "[ADDR:]PORT", "serve the status over HTTP; port 0: a free one", store);
}

CLI::Option* seconds(CLI::App& app, std::optional<std::chrono::nanoseconds>& value) {
    const auto store = [&value](const std::string& o, const std::string& text) {
        value = parse_duration(o, text);
    };
    return add(app, "--seconds", "TIME", "stop after this time", store);
}

CLI::Option* count(CLI::App& app, std::optional<std::uint64_t>& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        value = parse_between(option, text, 1, std::numeric_limits<std::uint64_t>::max());
    };
    return add(app, "--count", "N", "stop after this many", store);
}

CLI::Option* json(CLI::App& app, bool& value) {
    return app.add_flag("--json", value, "print the result as one JSON object on the last line of stdout");
}

CLI::Option* ib_port(CLI::App& app, std::uint8_t& value) {
    return add_number(app, "--ib-port", "port of the device", value, 1, 255);
}

CLI::Option* min_rnr_timer(CLI::App& app, rnr_timer& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        const auto number = parse_number<std::uint32_t>(text);
        if (!number || *number > 31) {
            refuse(option, text,
                   "the codes 0 to 31: 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, 0 is 655.36 ms");
        }
        value = rnr_timer(*number);
    };
    return add(app, "--rnr-timer", "0..31", "how long a sender waits when no slot is free, as code", store)
        ->default_str(std::to_string(value.code()));
}

CLI::Option* rnr_retry(CLI::App& app, std::uint8_t& value) {
    return add_number(app, "--rnr-retry", "retries while the receiver has no slot; 7: endless", value, 0, 7);
}

CLI::Option* retry_count(CLI::App& app, std::uint8_t& value) {
    return add_number(app, "--retry-count", "retries without an acknowledgement", value, 0, 7);
}

CLI::Option* name(CLI::App& app, std::string& value) {
    return app.add_option("--name", value, "name in status and logs")->type_name("TEXT")->default_str(value);
}

CLI::Option* cpu(CLI::App& app, std::optional<unsigned>& value) {
    const auto last = configured_cpus() - 1;
    const auto store = [&value, last](const std::string& option, const std::string& text) {
        value = static_cast<unsigned>(parse_between(option, text, 0, last));
    };
    return add(app, "--cpu", "0.." + std::to_string(last), "pin the data plane's thread to this CPU", store);
}

CLI::Option* realtime_priority(CLI::App& app, std::optional<int>& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        value = static_cast<int>(parse_between(option, text, 1, 99));
    };
    return add(app, "--realtime-priority", "1..99",
               "run the data plane's thread in real time (SCHED_FIFO); needs RLIMIT_RTPRIO or CAP_SYS_NICE",
               store);
}

CLI::Option* poll(CLI::App& app, polling_policy& value) {
    const auto store = [&value](const std::string& o, const std::string& text) {
        value = parse_policy(o, text);
    };
    return add(app, "--poll", "park|hybrid[:TIME]|spin",
               "how long to poll before waiting in the kernel; hybrid: 50us", store)
        ->default_str(std::string(value.name()));
}

CLI::Option* huge_pages(CLI::App& app, rocio::huge_pages& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        using kind = rocio::huge_pages;
        for (const auto k : {kind::no, kind::transparent, kind::mib2, kind::gib1}) {
            if (text != to_string(k)) continue;
            value = k;
            return;
        }
        refuse(option, text, "no, thp (transparent huge pages), 2M and 1G (reserved ones)");
    };
    return add(app, "--huge-pages", "no|thp|2M|1G", "pages of the slots' memory", store)
        ->default_str(std::string(to_string(value)));
}

CLI::Option* numa_node(CLI::App& app, std::optional<unsigned>& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        value = static_cast<unsigned>(parse_between(option, text, 0, 1023));
    };
    return add(app, "--numa-node", "N", "preferred NUMA node of the slots' memory, best the NIC's", store);
}

CLI::Option* prefault(CLI::App& app, bool& value) {
    return app.add_flag("--prefault", value, "fault the slots' memory in before the first message comes");
}

CLI::Option* lock_memory(CLI::App& app, bool& value) {
    return app.add_flag(
        "--lock-memory", value,
        "keep the slots' memory from being swapped out; needs RLIMIT_MEMLOCK or CAP_IPC_LOCK");
}

void thread(CLI::App& app, thread_placement& value) {
    cpu(app, value.cpu);
    realtime_priority(app, value.realtime_priority);
}

void memory(CLI::App& app, memory_options& value) {
    for (auto* option : {huge_pages(app, value.huge_pages), numa_node(app, value.numa_node),
                         prefault(app, value.prefault), lock_memory(app, value.lock)})
        option->group("Memory");
}

CLI::Option* connect(CLI::App& app, connection_kind& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        if (text == "tcp")
            value = connection_kind::tcp;
        else if (text == "cm")
            value = connection_kind::cm;
        else if (text == "static")
            value = connection_kind::fixed;
        else
            refuse(
                option, text,
                "tcp (rocio's rendezvous), cm (rdma_cm, system devices only) and static (numbers by hand)");
    };
    return add(app, "--connect", "tcp|cm|static", "how the two sides find each other", store)
        ->default_str(std::string(to_string(value)));
}

CLI::Option* connect_timeout(CLI::App& app, std::chrono::milliseconds& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        value = std::chrono::ceil<std::chrono::milliseconds>(parse_duration(option, text));
    };
    return add(app, "--connect-timeout", "TIME", "how long to wait for the other side", store)
        ->default_str(std::to_string(value.count()) + "ms");
}

CLI::Option* log(CLI::App& app, log_levels& value) {
    const auto store = [&value](const std::string& option, const std::string& text) {
        try {
            value = log_levels::parse(text);
        } catch (const std::invalid_argument& refusal) {
            throw CLI::ValidationError(option, refusal.what());
        }
    };
    return add(app, "--log", "LEVEL[,ROOM=LEVEL]", "what to tell on stderr: debug, info, warning, error, off",
               store)
        ->envname("ROCIO_LOG");
}

} // namespace rocio::tools::options
