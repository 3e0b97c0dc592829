#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rocio {

/// What arrived in a posted receive.
struct received_message {
    std::size_t size = 0; ///< Bytes of the message, from the start of the buffer; or of the write.
    std::optional<std::uint32_t> immediate{}; ///< Host order.
    bool by_write = false; ///< An RDMA WRITE with immediate: the bytes are where the peer wrote them.
};

} // namespace rocio
