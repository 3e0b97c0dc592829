#include "transport/remote_write.hpp"

#include <cstring>

namespace rocio::transport {

remote_write::verdict remote_write::check(const wire::packet_view& packet, const request_shape& shape,
                                          std::uint32_t path_mtu,
                                          const memory_region_table& regions) noexcept {
    checked_ = rest_;
    if (starts_message(shape.place)) {
        const wire::reth reth = packet.reth();
        if (reth.length > longest_message) return verdict::bad_length;
        checked_ = {reth.address, reth.key, reth.length};
    }
    const auto memory =
        regions.check_remote(checked_.key, checked_.address, checked_.length, memory_access::remote_write);
    if (!memory) return verdict::no_access;
    const std::size_t payload = packet.payload().size();
    const bool fits = ends_message(shape.place) ? payload == checked_.length
                                                : payload == path_mtu && payload < checked_.length;
    if (!fits) return verdict::bad_length;
    target_ = memory->data();
    return verdict::fits;
}

void remote_write::write(std::span<const std::byte> payload) noexcept {
    if (!active_) total_ = checked_.length;
    if (!payload.empty()) std::memcpy(target_, payload.data(), payload.size());
    rest_ = {checked_.address + payload.size(), checked_.key,
             checked_.length - static_cast<std::uint32_t>(payload.size())};
    active_ = rest_.length != 0;
}

} // namespace rocio::transport
