#pragma once

#include "soft/socket_address.hpp"

#include <rocio/soft/link.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include <sys/socket.h>
#include <sys/uio.h>

namespace rocio::soft {

/// The receiving half of a udp_link. While messages go to and fro it takes one datagram at a time; while they
/// come in bursts, many per call, and segmented sends as the one piece they were sent as (UDP_GRO, which
/// costs 0.3 us per round trip where there is nothing to join). What the sweeps find decides between the two.
class udp_receiver {
  public:
    /// `fd`: a bound, non-blocking UDP socket that outlives this object.
    explicit udp_receiver(int fd);

    /// As link::receive(). A train ends a batch, so that it is acknowledged before the next one is looked at.
    std::size_t receive(std::span<received_datagram> out) noexcept;

    relaxed_counter calls, trains, socket_errors;

  private:
    static constexpr std::size_t messages = 16;
    /// More than any UDP datagram; not a power of two, so that the first bytes of all do not share their sets
    /// of the cache. Pages that nothing arrives in are never touched.
    static constexpr std::size_t stride = 65'536 + 4'096 + 64;

    /// One message of the kernel that is not given out yet: a datagram, or a train of them.
    struct message {
        std::size_t length = 0;
        std::size_t segment = 0; ///< Bytes of each datagram in it but the last.
    };

    std::byte* place(std::size_t i) noexcept { return staging_.get() + i * stride; }
    bool is_passed_over(int error) noexcept;
    std::size_t receive_single(std::span<received_datagram> out) noexcept;
    std::size_t receive_one() noexcept;
    std::size_t receive_burst(std::span<received_datagram> out) noexcept;
    int receive_message(std::size_t i) noexcept;
    void fetch(std::size_t first, std::size_t most) noexcept;
    void prepare(std::size_t i) noexcept;
    std::size_t give_out(std::span<received_datagram> out) noexcept;
    bool may_be_train() noexcept;
    void learn_single() noexcept;
    void learn_burst() noexcept;
    void end_burst() noexcept;
    void set_burst(bool on) noexcept;

    int fd_;
    std::unique_ptr<std::byte[]> staging_;
    std::array<mmsghdr, messages> headers_{};
    std::array<iovec, messages> pieces_{};
    std::array<socket_address, messages> from_{};
    struct control {
        alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> space;
    };
    std::array<control, messages> controls_{};
    std::array<message, messages> fetched_{};
    std::size_t fetched_count_ = 0;
    std::size_t current_ = 0; ///< Of `fetched_`, the one to give out next,
    std::size_t offset_ = 0;  ///< from this byte on.
    bool burst_ = false;
    bool joins_ = false; ///< UDP_GRO is on.
    /// A train that was joined before UDP_GRO was switched off may still wait.
    bool may_hold_train_ = false;
    bool expects_train_ = false; ///< The last message was one.
    unsigned patience_ = 4;      ///< As long a streak makes a burst of it.
    int gain_ = 0;        ///< Of this burst: fetches that brought more than single looks, less the others.
    unsigned run_ = 0;    ///< Datagrams since a look that found nothing.
    unsigned streak_ = 0; ///< How often the other mode would have been better.
};

} // namespace rocio::soft
