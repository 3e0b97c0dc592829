#pragma once

#include "io/fixed_memory.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace rocio {

namespace asio = boost::asio;

/// Waits for one descriptor of a device, on a dup of it: Asio closes what it is given, and so does the
/// device. The dup lives from the first wait until close(): a socket that is in an epoll set while nobody
/// waits costs 0.4 us per round trip, so the engine closes it while it spins. Every member needs the engine's
/// lock.
class device_waiter : public std::enable_shared_from_this<device_waiter> {
  public:
    explicit device_waiter(int descriptor) noexcept : source_(descriptor) {}

    /// Whether epoll takes the descriptor at all (it refuses regular files).
    boost::system::error_code probe() const noexcept;

    /// Begins a wait unless one is pending; `ready(waiter, round, ec)` is called on the context, without the
    /// lock, when the descriptor is readable. False if the descriptor cannot be waited for.
    template <class Ready>
    bool wait(asio::io_context& context, Ready ready) {
        if (waiting_) return true;
        if (failed_ || !open(context)) return false;
        auto on_ready = [self = shared_from_this(), ready, round = round_](
                            const boost::system::error_code& ec) mutable { ready(*self, round, ec); };
        descriptor_->async_wait(asio::posix::stream_descriptor::wait_read,
                                fixed_handler<decltype(on_ready)>{&memory_, std::move(on_ready)});
        waiting_ = true;
        return true;
    }
    /// To be called by `ready` first: false if that wait was given up by close() before its handler ran.
    bool finish(std::uint32_t round, const boost::system::error_code& ec) noexcept {
        if (!waiting_ || round != round_) return false;
        waiting_ = false;
        failed_ = ec.failed();
        return true;
    }
    void close() noexcept;

  private:
    bool open(asio::io_context& context);

    int source_;
    bool waiting_ = false;
    bool failed_ = false;
    std::uint32_t round_ = 0; ///< Tells a wait from those before the last close().
    std::optional<asio::posix::stream_descriptor> descriptor_;
    fixed_memory memory_;
};

} // namespace rocio
