#pragma once

#include "soft/socket_address.hpp"

#include <rocio/soft/link.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

namespace rocio::soft {

/// The sending half of a udp_link: datagrams by sendmmsg(), trains by one segmented send each (UDP_SEGMENT).
class udp_sender {
  public:
    /// `fd`: a bound, non-blocking UDP socket of address family `v4`, without UDP checksums, that outlives
    /// this object. `scope`: the interface of a link-local address.
    udp_sender(int fd, bool v4, std::uint32_t scope);

    /// As link::send(). A train that the kernel refuses to segment is not taken, and longest_train() is 1
    /// from then on.
    std::size_t send(std::span<const outgoing_datagram> datagrams) noexcept;
    std::uint8_t longest_train() const noexcept { return longest_train_; }

    relaxed_counter calls, trains, would_block, errors;

  private:
    static constexpr std::size_t batch_size = 16;

    /// Control messages of one send: IP fields that are not the socket's, and the size of the segments.
    struct control {
        alignas(cmsghdr) std::array<std::byte, 3 * CMSG_SPACE(sizeof(int))> space;
    };

    int send_some(std::span<const outgoing_datagram> datagrams) noexcept;
    int send_gathered(const outgoing_datagram& d) noexcept;
    int send_train(std::span<const outgoing_datagram> train) noexcept;
    std::size_t add_pieces(const outgoing_datagram& d, std::size_t pieces) noexcept;
    void describe(std::size_t i, const outgoing_datagram& d, std::size_t first_piece) noexcept;
    void set_fields(std::size_t i, const destination& to) noexcept;
    bool set_checksums(bool on) noexcept;

    int fd_;
    bool v4_;
    std::uint32_t scope_;
    std::uint8_t longest_train_ = longest_segment_train;
    bool checksums_ = false;
    std::array<mmsghdr, batch_size> out_{};
    std::array<iovec, 3 * batch_size> pieces_{};
    std::array<socket_address, batch_size> to_{};
    std::array<control, batch_size> controls_{};
};

} // namespace rocio::soft
