#include "verbs/failure.hpp"

#include <cerrno>

namespace rocio::verbs {

namespace {

std::string text_of(int number) {
    return boost::system::system_category().message(number) + " (" + std::to_string(number) + ")";
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

constexpr std::string_view make_soft_roce =
    "for the kernel's SoftRoCE run: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0 (with your "
    "interface); or use soft:127.0.0.2, which needs neither";

} // namespace

error_code code_of(int number) noexcept {
    switch (number) {
    case EIO:
    case ENODEV:
    case ENXIO:
        return errc::device_fatal;
    case EINVAL:
        return errc::invalid_argument;
    case ENOSYS:
    case EOPNOTSUPP:
        return errc::not_supported;
    case ENOMEM:
    case ENOSPC:
        return errc::limit_exceeded;
    default:
        return {number, boost::system::system_category()};
    }
}

error_info failure(int number, std::string_view step, std::string_view device, std::string_view asked) {
    std::string text = std::string(step) + " on " + std::string(device) + ": " + text_of(number);
    if (!asked.empty()) text += "; " + std::string(asked);
    return {code_of(number), std::move(text)};
}

error_info outside(errc code, std::string_view attribute, std::string_view device, std::uint64_t asked,
                   std::uint64_t least, std::uint64_t most) {
    return {code, std::string(attribute) + " of " + std::string(device) + ": " + std::to_string(asked) +
                      " asked, " + std::to_string(least) + " to " + std::to_string(most) + " allowed"};
}

errc post_error(int result, int number) noexcept {
    // -1 is also -EPERM, which no provider returns.
    const int error = result == -1 ? number : (result < 0 ? -result : result);
    switch (error) {
    case ENOMEM: // all other reasons for it are checked before the call
    case ENOSPC:
    case EAGAIN:
        return errc::queue_full;
    case EIO:
    case ENODEV:
        return errc::device_fatal;
    case EOPNOTSUPP:
    case ENOSYS:
        return errc::not_supported;
    default:
        return errc::invalid_argument;
    }
}

error_info registration_failure(int number, std::uint64_t bytes, std::optional<std::uint64_t> limit,
                                std::string_view device) {
    const std::string step = "registering " + std::to_string(bytes) + " bytes";
    error_info out = failure(number, step, device);
    if (number == EFAULT) {
        out.code = errc::invalid_argument;
        out.text +=
            "; the memory must be mapped, and writable unless access is local_read or remote_read only";
    }
    if (number != ENOMEM) return out;
    out.code = errc::registration_failed;
    if (!limit) {
        out.text +=
            "; RLIMIT_MEMLOCK is unlimited: the machine is out of memory, or the device out of regions";
        return out;
    }
    out.text +=
        "; asked " + std::to_string(bytes) + " bytes, RLIMIT_MEMLOCK allows " + std::to_string(*limit) +
        " bytes locked in all; raise it: ulimit -l unlimited, LimitMEMLOCK=infinity in a systemd unit, "
        "--ulimit memlock=-1 for a container";
    return out;
}

error_info route_failure(int number, const gid& peer, std::uint32_t gid_index, std::string_view device) {
    const std::string address = peer.to_address_string();
    const std::string index = std::to_string(gid_index);
    error_info out = failure(number, "connecting to " + address + " (RTR)", device, "GID index " + index);
    switch (number) {
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
        out.text += ": " + address +
                    " does not answer address resolution from there; check that it is up, the route "
                    "(ip route get " +
                    address + "), and that the GID's interface leads to it";
        break;
    case EINVAL:
        out.text +=
            ": the device refuses the address vector; check that the GID index has an address of the "
            "peer's family (rdma_rxe refuses link-local ones) and that the peer's numbers are in range";
        break;
    default:
        break;
    }
    return out;
}

std::string why_no_devices(const machine& here) {
    const std::string head = "No RDMA devices found";
    if (here.kernel_devices.empty())
        return head + ": the kernel has none (/sys/class/infiniband is empty); load the NIC's driver, or " +
               std::string(make_soft_roce);
    const std::string kernel = ": the kernel has " + joined(here.kernel_devices);
    if (!here.has_uverbs)
        return head + kernel +
               ", but does not give it to programs (/sys/class/infiniband_verbs is empty); run: "
               "modprobe ib_uverbs";
    return head + kernel +
           ", but libibverbs has no user-space provider for it; run: apt-get install ibverbs-providers";
}

error_info not_found(std::string_view name, const machine& here) {
    const std::string quoted = "\"" + std::string(name) + "\"";
    if (here.listed.empty()) return {errc::no_devices, why_no_devices(here) + "; " + quoted + " asked"};
    std::string text = "RDMA device " + quoted + " not found; there are: " + joined(here.listed);
    for (const auto& device : here.kernel_devices) {
        if (device != name) continue;
        text += "; the kernel has " + device +
                ", but libibverbs has no user-space provider for it; run: apt-get install ibverbs-providers";
    }
    return {errc::device_not_found, std::move(text)};
}

} // namespace rocio::verbs
