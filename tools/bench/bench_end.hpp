#pragma once

#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/open/open_device.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <memory>
#include <string>
#include <utility>

namespace rocio::tools {

/// One end of a benchmark in one process: a spinning thread with a device.
struct bench_end {
    bench_end(const std::string& name, unsigned cpu) : dev(open_device(name)), thread(on_cpu(cpu)) {}

    static busy_poll_thread_config on_cpu(unsigned cpu) {
        busy_poll_thread_config c;
        c.cpu = cpu;
        return c;
    }

    std::shared_ptr<device> dev;
    busy_poll_thread thread;
};

/// Runs `f` on the end's own thread and waits for it. End: whatever has a busy_poll_thread `thread`.
template <class End, class F>
auto on(End& end, F f) {
    return boost::asio::post(end.thread.context(), boost::asio::use_future(std::move(f))).get();
}

} // namespace rocio::tools
