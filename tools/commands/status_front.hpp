#pragma once

#include "lib/options.hpp"

#include <rocio/device/device.hpp>
#include <rocio/io/device_monitor.hpp>
#include <rocio/status/status_server.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

/// The status of a program over HTTP, on a context of its choice; prints its address first, on stderr.
class status_front {
  public:
    /// `program` is its name, as the status shows it; `where` a free port of loopback by default. `show` is
    /// called on any thread.
    status_front(boost::asio::io_context& context, const std::optional<options::http_address>& where,
                 const std::string& program, std::shared_ptr<log_sink> log, status_source::provider show);

    status_source& source() noexcept { return source_; }
    /// Tells subscribers of the device's events at once, until stop(). `context` is the device's.
    void watch(boost::asio::io_context& context, const std::shared_ptr<device>& dev);
    void stop();

  private:
    void await_event();

    status_source source_;
    status_registration shown_;
    status_server server_;
    std::optional<device_monitor> monitor_{};
};

/// Shows engine and device.
void show_machinery(status_snapshot& status, boost::asio::io_context& context,
                    const std::shared_ptr<device>& dev);

} // namespace rocio::tools
