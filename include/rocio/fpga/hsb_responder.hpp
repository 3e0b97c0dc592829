#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::fpga {

/// What answers on a control channel: an emulated board, as hsb_board_server sees it.
class hsb_responder {
  public:
    virtual ~hsb_responder() = default;

    /// Carries a datagram out and writes the answer into `out`, at least hsb_max_datagram bytes; gives its
    /// length, 0 for none. `sender` tells one client from another.
    virtual std::size_t answer(std::span<const std::byte> datagram, std::uint64_t sender,
                               std::span<std::byte> out) = 0;

  protected:
    hsb_responder() = default;
    hsb_responder(const hsb_responder&) = default;
    hsb_responder& operator=(const hsb_responder&) = default;
};

} // namespace rocio::fpga
