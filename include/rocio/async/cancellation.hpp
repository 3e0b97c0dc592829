#pragma once

#include <rocio/async/operation.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <memory>

namespace rocio::async {

/// Lives in a handler's cancellation slot while its operation is pending and passes a cancellation on to
/// `Target::cancel(const void* key, asio::cancellation_type)`.
///
/// The key is the address of this object, not of the operation: an operation's memory is used again before
/// its handler runs on another executor, while the slot, and so this address, is taken until the handler is
/// called.
template <class Target>
class slot_cancellation {
  public:
    explicit slot_cancellation(const std::shared_ptr<Target>& target) noexcept : target_(target) {}

    void operator()(asio::cancellation_type type) const {
        if (type == asio::cancellation_type::none) return;
        if (auto target = target_.lock()) target->cancel(static_cast<const void*>(this), type);
    }

  private:
    std::weak_ptr<Target> target_;
};

/// Makes `op` cancellable through its handler's slot. To be called before the operation is started. Throws
/// what the slot's allocation throws; the operation is destroyed then.
template <class Target>
void connect_slot(asio::cancellation_slot slot, const std::shared_ptr<Target>& target, operation_base& op) {
    if (!slot.is_connected()) return;
    try {
        op.cancellation_key = &slot.template emplace<slot_cancellation<Target>>(target);
    } catch (...) {
        op.destroy();
        throw;
    }
}

} // namespace rocio::async
