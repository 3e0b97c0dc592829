#include "commands/status_front.hpp"

#include <rocio/io/completion_engine.hpp>

#include <iostream>
#include <utility>

namespace rocio::tools {

namespace {

status_server_config server_config(const std::optional<options::http_address>& where,
                                   std::shared_ptr<log_sink> log) {
    status_server_config c;
    c.log = std::move(log);
    if (!where) return c;
    c.address = where->address;
    c.port = where->port;
    return c;
}

} // namespace

status_front::status_front(boost::asio::io_context& context,
                           const std::optional<options::http_address>& where, const std::string& program,
                           std::shared_ptr<log_sink> log, status_source::provider show)
    : source_("rocio " + program),
      shown_(source_.add(std::move(show))),
      server_(context, source_, server_config(where, std::move(log))) {
    std::cerr << "status " << server_.url() << std::endl;
}

void status_front::watch(boost::asio::io_context& context, const std::shared_ptr<device>& dev) {
    monitor_.emplace(context, dev);
    await_event();
}

void status_front::await_event() {
    monitor_->async_next_event([this](const error_code& ec, const device_event&) {
        if (ec == boost::asio::error::operation_aborted) return; // this object may be gone
        source_.notify();
        if (!ec) await_event();
    });
}

void status_front::stop() {
    if (monitor_) monitor_->cancel();
    server_.stop();
}

void show_machinery(status_snapshot& status, boost::asio::io_context& context,
                    const std::shared_ptr<device>& dev) {
    status.engines.push_back(completion_engine::of(context).snapshot());
    status.devices.push_back(dev->snapshot());
}

} // namespace rocio::tools
