#include "connect/cudaq_numbers.hpp"

#include "connect/big_endian.hpp"

#include <algorithm>
#include <vector>

namespace rocio::cudaq_numbers {

error_info encode(const local_parameters& local, bytes& out) {
    const auto address = local.address.v4();
    if (!address) {
        return {errc::invalid_argument, "CUDA-Q's rendezvous tells an IPv4 address, ours is " +
                                            local.address.to_address_string() + ": choose an IPv4 GID"};
    }
    std::vector<std::byte> text;
    rendezvous::big_endian_writer w(text);
    w.u32(local.queue_pair.value());
    w.u32(local.region.key.value);
    w.bytes(std::as_bytes(std::span(*address)));
    std::copy(text.begin(), text.end(), out.begin());
    return {};
}

peer_parameters decode(std::span<const std::byte, size> in, const local_parameters& local) {
    rendezvous::big_endian_reader r(in);
    peer_parameters out;
    out.queue_pair = qpn(r.u32() & 0xFFFFFF);
    out.region.key = rkey{r.u32()};
    gid::v4_bytes address{};
    r.bytes(std::as_writable_bytes(std::span(address)));
    out.address = gid::from_v4(address);
    out.path_mtu = local.path_mtu;
    return out;
}

} // namespace rocio::cudaq_numbers
