#include <rocio/types/remote_buffer.hpp>

#include <string>

namespace rocio {

remote_buffer remote_region::buffer(std::uint64_t offset, std::uint64_t n) const {
    error_code ec;
    const auto b = buffer(offset, n, ec);
    if (!ec) return b;
    throw exception({errc::not_in_region, std::to_string(n) + " bytes from offset " + std::to_string(offset) +
                                              " do not lie inside the peer's region of " +
                                              std::to_string(length) + " bytes"});
}

remote_buffer remote_region::buffer(std::uint64_t offset, std::uint64_t n, error_code& ec) const noexcept {
    if (offset > length || n > length - offset) {
        ec = errc::not_in_region;
        return {};
    }
    ec = {};
    return {address + offset, n, key};
}

} // namespace rocio
