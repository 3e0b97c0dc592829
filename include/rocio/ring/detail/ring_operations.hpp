#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/ring/ring_slot.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <memory>

namespace rocio::detail {

class ring_core;

/// Completes with void(error_code, ring_slot).
class ring_receive_operation : public async::operation<ring_slot> {
  public:
    std::uint64_t id = 0; ///< Names the operation in a cancellation that may come after it is gone.

  protected:
    using operation::operation;
    ~ring_receive_operation() = default;
};

/// Completes with void(error_code).
class ring_wait_operation : public async::operation<> {
  public:
    std::uint64_t id = 0;
    bool also_sent = false; ///< A send that is done ends it too.

  protected:
    ring_wait_operation(function f, bool sent) noexcept : operation(f), also_sent(sent) {}
    ~ring_wait_operation() = default;
};

/// Lives in a handler's cancellation slot.
struct cancel_ring_operation {
    std::weak_ptr<ring_core> ring;
    std::uint64_t id;
    void operator()(boost::asio::cancellation_type type) const;
};

} // namespace rocio::detail
