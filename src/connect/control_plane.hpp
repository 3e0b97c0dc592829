#pragma once

#include "connect/control_strand.hpp"

#include <boost/asio/execution_context.hpp>

#include <mutex>
#include <optional>

namespace rocio::detail {

/// One strand per context, on which all connections are made and watched. A connection's end and the next
/// attempt on the same queue pair are thereby in order, also when several threads run the context.
class control_plane final : public asio::execution_context::service {
  public:
    using key_type = control_plane;
    static asio::execution_context::id id;

    explicit control_plane(asio::execution_context& context) : service(context) {}

    /// The strand of the context that `executor` belongs to.
    static control_strand strand_of(const asio::any_io_executor& executor);

  private:
    void shutdown() override;

    std::mutex mutex_;
    std::optional<control_strand> strand_;
};

} // namespace rocio::detail
