#include "transport/reassembly.hpp"

#include <cassert>
#include <cstring>

namespace rocio::transport {

void reassembly::begin(const receive_request& receive) noexcept {
    assert(!active_);
    receive_ = receive;
    received_ = 0;
    active_ = true;
}

errc reassembly::append(std::span<const std::byte> payload, const memory_region_table& regions) noexcept {
    assert(active_);
    if (payload.size() > receive_.buffer.size - received_) return errc::local_length_error;
    // Looked up for every packet: the region may be removed while a message is under way.
    if (!regions.check_local(receive_.buffer, memory_access::local_write))
        return errc::local_protection_error;
    if (!payload.empty()) std::memcpy(receive_.buffer.data + received_, payload.data(), payload.size());
    received_ += static_cast<std::uint32_t>(payload.size());
    return errc::success;
}

work_completion reassembly::finish(std::optional<std::uint32_t> immediate) noexcept {
    active_ = false;
    work_completion c;
    c.id = receive_.id;
    c.op = completion_opcode::receive;
    c.has_immediate = immediate.has_value();
    c.immediate = immediate.value_or(0);
    c.byte_len = received_;
    return c;
}

} // namespace rocio::transport
