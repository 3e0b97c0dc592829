#include "memory_texts.hpp"

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/machine_limits.hpp>

#include <climits>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <new>
#include <optional>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rocio::detail {

namespace {

constexpr std::size_t mib2_size = std::size_t{1} << 21;
constexpr std::size_t gib1_size = std::size_t{1} << 30;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14
constexpr int huge_size_shift = 26; // MAP_HUGE_SHIFT

std::size_t ordinary_page() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t round_up(std::size_t size, std::size_t unit) noexcept {
    return (size + unit - 1) / unit * unit;
}

/// What is tried when `kind` cannot be had.
std::optional<huge_pages> next_best(huge_pages kind) noexcept {
    switch (kind) {
    case huge_pages::gib1:
        return huge_pages::mib2;
    case huge_pages::mib2:
        return huge_pages::transparent;
    case huge_pages::transparent:
        return huge_pages::no;
    case huge_pages::no:
        break;
    }
    return std::nullopt;
}

/// A set of NUMA nodes as the kernel takes it.
constexpr std::size_t most_nodes = 1024;
constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
using node_mask = std::array<unsigned long, most_nodes / bits>;

/// The bytes of the mapping that begins at `begin` in transparent huge pages.
std::uint64_t transparent_bytes(const std::byte* begin) {
    const auto address = std::bit_cast<std::uintptr_t>(begin);
    std::ifstream in("/proc/self/smaps");
    bool ours = false;
    for (std::string line; std::getline(in, line);) {
        std::uintptr_t from = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), from, 16);
        if (error == std::errc{} && end != line.data() + line.size() && *end == '-') {
            ours = from == address;
            continue;
        }
        if (!ours || !line.starts_with("AnonHugePages:")) continue;
        return std::stoull(line.substr(line.find(':') + 1)) * 1024;
    }
    return 0;
}

} // namespace

mapped_memory::mapped_memory(std::size_t bytes, const memory_options& options) {
    if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() - 2 * gib1_size) return;
    if (options.numa_node) {
        const auto limits = read_machine_limits();
        if (std::ranges::count(limits.nodes, *options.numa_node) > 0)
            got_.numa_node = options.numa_node;
        else
            warn(memory_texts::no_such_node(limits, *options.numa_node));
    }
    std::optional<huge_pages> kind = options.huge_pages;
    while (kind && !map(bytes, *kind)) kind = next_best(*kind);
    if (!data_) return;
    if (got_.pages != options.huge_pages) {
        const auto limits = read_machine_limits();
        warn(options.huge_pages == huge_pages::transparent
                 ? memory_texts::no_transparent_pages(limits)
                 : memory_texts::no_huge_pages(limits, options.huge_pages, bytes, got_.pages));
    }
    if (options.prefault && !got_.prefaulted) {
        const int error = prefault();
        if (error != 0) warn(memory_texts::not_faulted_in(size(), error));
    }
    if (options.lock) lock();
    if (!got_.prefaulted) return;
    count_transparent();
    if (got_.numa_node) check_node();
}

mapped_memory::~mapped_memory() {
    unmap();
}

std::byte* mapped_memory::data_or_throw() const {
    if (!data_) throw std::bad_alloc();
    return data_;
}

bool mapped_memory::map(std::size_t bytes, huge_pages kind) {
    const bool mapped = kind == huge_pages::no            ? map_ordinary(bytes)
                        : kind == huge_pages::transparent ? map_transparent(bytes)
                                                          : map_reserved(bytes, kind);
    if (!mapped) return false;
    if (got_.numa_node) bind(*got_.numa_node);
    if (kind != huge_pages::mib2 && kind != huge_pages::gib1) return true;
    // mmap() has promised as many pages, but not on that node, nor within the control group's limit.
    if (prefault() == 0) return true;
    unmap();
    return false;
}

bool mapped_memory::map_reserved(std::size_t bytes, huge_pages kind) {
    const auto page = kind == huge_pages::gib1 ? gib1_size : mib2_size;
    const auto size_flag = std::countr_zero(page) << huge_size_shift;
    mapped_ = round_up(bytes, page);
    mapping_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size_flag, -1, 0);
    if (mapping_ == MAP_FAILED) {
        mapping_ = nullptr;
        return false;
    }
    data_ = static_cast<std::byte*>(mapping_);
    got_.pages = kind;
    got_.bytes = got_.huge_bytes.emplace(mapped_);
    got_.page_size = page;
    return true;
}

/// Aligned as huge pages are, and between pages that cannot be touched: else the kernel would join it with
/// its neighbours, and what is told of them be told of it.
bool mapped_memory::map_transparent(std::size_t bytes) {
    const auto whole = round_up(bytes, mib2_size);
    mapped_ = whole + 2 * mib2_size;
    mapping_ = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
        mapping_ = nullptr;
        return false;
    }
    const auto base = std::bit_cast<std::uintptr_t>(mapping_);
    data_ = static_cast<std::byte*>(mapping_) + (round_up(base + 1, mib2_size) - base);
    if (::mprotect(data_, whole, PROT_READ | PROT_WRITE) != 0 ||
        ::madvise(data_, whole, MADV_HUGEPAGE) != 0) {
        unmap();
        return false;
    }
    // The kernel takes the advice even where an administrator has switched it off.
    const auto setting = read_machine_limits().transparent;
    if (setting.empty() || setting == "never") {
        unmap();
        return false;
    }
    got_.pages = huge_pages::transparent;
    got_.bytes = whole;
    got_.page_size = ordinary_page();
    return true;
}

bool mapped_memory::map_ordinary(std::size_t bytes) {
    mapped_ = round_up(bytes, ordinary_page());
    mapping_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
        mapping_ = nullptr;
        return false;
    }
    data_ = static_cast<std::byte*>(mapping_);
    got_.bytes = mapped_;
    got_.page_size = ordinary_page();
    return true;
}

void mapped_memory::unmap() noexcept {
    if (mapping_) ::munmap(mapping_, mapped_);
    mapping_ = nullptr;
    data_ = nullptr;
    got_.huge_bytes.reset();
    got_.pages = huge_pages::no;
    got_.prefaulted = false;
}

/// Two system calls, for which libnuma would be a dependency of everything that uses this library.
void mapped_memory::bind(unsigned node) {
    node_mask mask{};
    mask[node / bits] |= 1UL << (node % bits);
    // The kernel takes one bit less than it is told.
    if (::syscall(SYS_mbind, data_, size(), MPOL_PREFERRED, mask.data(), most_nodes + 1, 0U) == 0) return;
    got_.numa_node.reset();
    warn(memory_texts::node_refused(node, errno));
}

void mapped_memory::check_node() {
    constexpr std::size_t most = 256;
    const auto pages = size() / static_cast<std::size_t>(got_.page_size);
    const auto count = std::min(pages, most);
    std::array<void*, most> places{};
    std::array<int, most> nodes{};
    for (std::size_t i = 0; i < count; ++i)
        places[i] = data_ + i * pages / count * static_cast<std::size_t>(got_.page_size);
    // Without a list of targets it moves nothing and tells where each page is.
    if (::syscall(SYS_move_pages, 0, count, places.data(), nullptr, nodes.data(), 0) != 0) return;
    const auto wanted = static_cast<int>(*got_.numa_node);
    const auto elsewhere = std::count_if(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count),
                                         [&](int node) { return node >= 0 && node != wanted; });
    if (elsewhere == 0) return;
    warn(memory_texts::node_full(*got_.numa_node, static_cast<std::uint64_t>(elsewhere), count));
}

int mapped_memory::prefault() noexcept {
    if (::madvise(data_, size(), populate_write) != 0) {
        if (errno != EINVAL) return errno;
        // An older kernel.
        for (std::size_t at = 0; at < size(); at += ordinary_page())
            *static_cast<volatile std::byte*>(data_ + at) = std::byte{0};
    }
    got_.prefaulted = true;
    return 0;
}

void mapped_memory::lock() {
    // Not mlock(), which the sanitizers turn into nothing.
    if (::mlock2(data_, size(), 0) == 0) {
        got_.locked = got_.prefaulted = true;
        return;
    }
    const int error = errno;
    (void)::munlock(data_, size()); // a part may be
    warn(memory_texts::not_locked(read_machine_limits(), size(), error));
}

void mapped_memory::count_transparent() {
    if (got_.pages == huge_pages::transparent) got_.huge_bytes = transparent_bytes(data_);
}

} // namespace rocio::detail
