#include <rocio/io/machine_limits.hpp>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>

namespace rocio {

namespace {

constexpr unsigned cap_ipc_lock = 14;
constexpr unsigned cap_sys_nice = 23;

std::string text_in(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t number_in(const std::string& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    in >> value;
    return value;
}

/// What follows "KEY:" in a file of such lines.
std::string value_of(const std::string& key, const std::string& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key + ":")) return line.substr(key.size() + 1);
    return {};
}

std::uint64_t kib_of(const std::string& key, const std::string& file) {
    const auto text = value_of(key, file);
    const auto begin = text.find_first_not_of(" \t");
    std::uint64_t value = 0;
    if (begin != std::string::npos) std::from_chars(text.data() + begin, text.data() + text.size(), value);
    return value * 1024;
}

std::optional<machine_limits::huge_page_pool> pool_of(std::uint64_t page_size) {
    const auto kib = std::to_string(page_size / 1024);
    const auto folder = "/sys/kernel/mm/hugepages/hugepages-" + kib + "kB";
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec)) return std::nullopt;
    machine_limits::huge_page_pool pool;
    pool.page_size = page_size;
    const bool is_default = kib_of("Hugepagesize", "/proc/meminfo") == page_size;
    pool.setting = is_default ? "/proc/sys/vm/nr_hugepages" : folder + "/nr_hugepages";
    pool.total = number_in(folder + "/nr_hugepages");
    const auto free = number_in(folder + "/free_hugepages");
    const auto promised = number_in(folder + "/resv_hugepages");
    pool.free = free > promised ? free - promised : 0;
    return pool;
}

/// The word in brackets of "always [madvise] never".
std::string chosen_in(const std::string& text) {
    const auto begin = text.find('['), end = text.find(']');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return text.substr(begin + 1, end - begin - 1);
}

std::optional<std::uint64_t> limit_of(decltype(RLIMIT_MEMLOCK) resource) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

bool has_capability(unsigned number) {
    const auto text = value_of("CapEff", "/proc/thread-self/status");
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return false;
    std::uint64_t bits = 0;
    std::from_chars(text.data() + begin, text.data() + text.size(), bits, 16);
    return ((bits >> number) & 1U) != 0;
}

} // namespace

std::vector<unsigned> parse_number_list(const std::string& text) {
    constexpr unsigned most = 1U << 16;
    std::vector<unsigned> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        unsigned first = 0;
        auto [after, error] = std::from_chars(at, end, first);
        if (error != std::errc{}) break;
        unsigned last = first;
        if (after != end && *after == '-') {
            const auto range = std::from_chars(after + 1, end, last);
            if (range.ec != std::errc{}) break;
            after = range.ptr;
        }
        if (last >= most) break;
        for (auto n = first; n <= last; ++n) numbers.push_back(n);
        if (after == end || *after != ',') break;
        at = after + 1;
    }
    return numbers;
}

machine_limits read_machine_limits() {
    machine_limits out;
    out.mib2 = pool_of(2ULL << 20);
    out.gib1 = pool_of(1ULL << 30);
    out.transparent = chosen_in(text_in("/sys/kernel/mm/transparent_hugepage/enabled"));
    out.nodes = parse_number_list(text_in("/sys/devices/system/node/has_memory"));
    out.lockable = limit_of(RLIMIT_MEMLOCK);
    out.locked = kib_of("VmLck", "/proc/self/status");
    out.may_lock_more = has_capability(cap_ipc_lock);
    if (const auto priority = limit_of(RLIMIT_RTPRIO)) out.priority = static_cast<int>(*priority);
    out.may_set_priority = has_capability(cap_sys_nice);
    return out;
}

} // namespace rocio
