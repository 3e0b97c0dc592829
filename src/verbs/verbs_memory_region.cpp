#include "verbs/verbs_memory_region.hpp"

#include "verbs/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rocio::verbs {

namespace {

std::optional<std::uint64_t> memlock_limit() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

std::uint64_t page_size() noexcept {
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Registering a hole fails with ENOMEM where fork protection marks the pages first, like a missing right to
/// lock them: only asking tells one from the other.
bool is_mapped(std::span<std::byte> bytes) noexcept {
    unsigned char state[1024];
    const std::uint64_t page = page_size();
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(bytes.data())};
    const std::uint64_t end = address + bytes.size();
    for (std::uint64_t at = address / page * page; at < end; at += page * sizeof state) {
        const std::uint64_t length = std::min<std::uint64_t>(end - at, page * sizeof state);
        if (mincore(reinterpret_cast<void*>(at), length, state) != 0 && errno == ENOMEM) return false;
    }
    return true;
}

error_info check(const device_core& core, std::span<std::byte> bytes, std::uint64_t iova,
                 memory_access access) {
    if (bytes.empty() || bytes.size() > core.attributes().max_mr_size)
        return outside(errc::invalid_argument, "bytes of a memory region", core.name(), bytes.size(), 1,
                       core.attributes().max_mr_size);
    if (iova + (bytes.size() - 1) < iova)
        return {errc::invalid_argument, "iova " + std::to_string(iova) + " with " +
                                            std::to_string(bytes.size()) +
                                            " bytes asked; the end must lie within 64 bits"};
    const std::uint64_t page = page_size();
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(bytes.data())};
    if (iova % page != address % page)
        return {errc::invalid_argument, "iova " + std::to_string(iova) + " asked for memory that begins " +
                                            std::to_string(address % page) + " bytes into its page; only " +
                                            "iovas with the same offset into a page of " +
                                            std::to_string(page) +
                                            " bytes are allowed: align the memory or the iova"};
    if (grants(access, memory_access::remote_write) && !grants(access, memory_access::local_write))
        return {errc::invalid_argument,
                "access remote_write asked without local_write; both are needed (IBA 10.6.3.1)"};
    return {};
}

} // namespace

error_info verbs_memory_region::make(std::shared_ptr<device_core> core, std::span<std::byte> bytes,
                                     const memory_region_config& config,
                                     std::unique_ptr<device_memory_region>& out) {
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(bytes.data())};
    const std::uint64_t iova = config.iova.value_or(address);
    if (auto bad = check(*core, bytes, iova, config.access)) return bad;

    std::unique_ptr<verbs_memory_region> made(new verbs_memory_region(std::move(core), bytes, iova));
    ibv_pd* const domain = made->core_->protection_domain();
    const int access = access_of_region(config.access);
    errno = 0;
    // Older kernels know the first form only, and it is the same where both addresses are.
    made->handle_.reset(iova == address ? ibv_reg_mr(domain, bytes.data(), bytes.size(), access)
                                        : ibv_reg_mr_iova(domain, bytes.data(), bytes.size(), iova, access));
    if (!made->handle_) {
        const int number = errno == ENOMEM && !is_mapped(bytes) ? EFAULT : errno;
        return registration_failure(number, bytes.size(), memlock_limit(), made->core_->name());
    }
    out = std::move(made);
    return {};
}

} // namespace rocio::verbs
