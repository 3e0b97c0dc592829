#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/device_monitor.hpp>

#include <boost/asio/thread_pool.hpp>

#include <functional>

#include <fcntl.h>

namespace rocio::test {
namespace {

class monitored_device : public queue_pair_fixture {
  protected:
    using queue_pair_fixture::queue_pair_fixture;
    device_event port_event(device_event_kind kind, std::uint8_t port) { return {kind, port, {}}; }
};

TEST_F(monitored_device, gives_kind_port_and_queue_pair_in_order) {
    device_monitor monitor(context, dev);
    std::vector<device_event> events;
    std::function<void()> next = [&] {
        monitor.async_next_event([&](error_code ec, device_event e) {
            if (ec) return;
            events.push_back(e);
            next();
        });
    };
    next();
    dev->raise(port_event(device_event_kind::port_error, 2));
    dev->raise(port_event(device_event_kind::gid_change, 1));
    dev->raise({device_event_kind::queue_pair_access_error, 0, qpn{0x42}});
    dev->raise(port_event(device_event_kind::port_active, 2));
    run_until([&] { return events.size() == 4; });
    EXPECT_EQ(events[0].kind, device_event_kind::port_error);
    EXPECT_EQ(events[0].port, 2);
    EXPECT_EQ(events[1].kind, device_event_kind::gid_change);
    EXPECT_EQ(events[1].port, 1);
    EXPECT_EQ(events[2].queue_pair, qpn{0x42});
    EXPECT_EQ(events[3].kind, device_event_kind::port_active);
    monitor.cancel();
    run();
    EXPECT_EQ(monitor.lost(), 0U);
}

TEST_F(monitored_device, keeps_events_that_nobody_waits_for_and_counts_what_falls_out) {
    device_monitor monitor(context, dev);
    auto qp = connected();
    qp.async_wait_closed([](error_code) {}); // keeps the engine reading events
    for (std::uint32_t i = 0; i < 70; ++i)
        dev->raise({device_event_kind::queue_pair_fatal, 0, qpn{1000 + i}});
    // The last is the queue pair's own.
    dev->raise({device_event_kind::queue_pair_fatal, 0, qp.number()});
    run();
    EXPECT_EQ(monitor.lost(), 7U);
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < 64; ++i) {
        monitor.async_next_event([&](error_code ec, device_event e) {
            EXPECT_FALSE(ec);
            numbers.push_back(e.queue_pair.value());
        });
    }
    run();
    ASSERT_EQ(numbers.size(), 64U);
    EXPECT_EQ(numbers.front(), 1007U);
    EXPECT_EQ(numbers[62], 1069U);
    EXPECT_EQ(numbers.back(), qp.number().value());
}

TEST_F(monitored_device, tells_every_monitor) {
    device_monitor a(context, dev), b(context, dev);
    recorder<device_event> at_a, at_b;
    a.async_next_event(at_a.handler());
    b.async_next_event(at_b.handler());
    dev->raise(port_event(device_event_kind::gid_change, 1));
    run();
    EXPECT_EQ(at_a.result().kind, device_event_kind::gid_change);
    EXPECT_EQ(at_b.result().kind, device_event_kind::gid_change);
}

TEST_F(monitored_device, tells_nobody_of_another_device) {
    auto other = std::make_shared<scripted_device>();
    device_monitor mine(context, dev), theirs(context, other);
    recorder<device_event> at_mine, at_theirs;
    mine.async_next_event(at_mine.handler());
    theirs.async_next_event(at_theirs.handler());
    other->raise(port_event(device_event_kind::port_error, 1));
    run_until([&] { return at_theirs.done(); });
    EXPECT_FALSE(at_mine.done());
    mine.cancel();
    run();
}

TEST_F(monitored_device, serves_several_waits_in_order) {
    device_monitor monitor(context, dev);
    std::vector<int> order;
    for (int i = 0; i < 3; ++i) {
        monitor.async_next_event([&order, i](error_code, device_event e) {
            order.push_back(i);
            EXPECT_EQ(e.port, i);
        });
    }
    for (std::uint8_t i = 0; i < 3; ++i) dev->raise(port_event(device_event_kind::port_error, i));
    run();
    EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2));
}

TEST_F(monitored_device, says_once_that_the_device_is_gone_and_then_that_nothing_more_comes) {
    device_monitor monitor(context, dev);
    recorder<device_event> event, second, later;
    monitor.async_next_event(event.handler());
    monitor.async_next_event(second.handler());
    dev->raise({device_event_kind::device_fatal, 0, {}});
    dev->break_async_event_fd();
    run();
    EXPECT_FALSE(event.ec());
    EXPECT_EQ(event.result().kind, device_event_kind::device_fatal);
    EXPECT_EQ(second.ec(), errc::device_fatal);
    monitor.async_next_event(later.handler());
    run();
    EXPECT_EQ(later.ec(), errc::device_fatal);
}

TEST_F(monitored_device, ends_waits_when_it_is_cancelled_destroyed_or_assigned_over) {
    recorder<device_event> cancelled, destroyed, assigned;
    device_monitor monitor(context, dev);
    monitor.async_next_event(cancelled.handler());
    monitor.cancel();
    {
        device_monitor other(context, dev);
        other.async_next_event(destroyed.handler());
    }
    device_monitor target(context, dev);
    target.async_next_event(assigned.handler());
    target = std::move(monitor);
    run();
    for (const auto* r : {&cancelled, &destroyed, &assigned})
        EXPECT_EQ(r->ec(), asio::error::operation_aborted);
}

TEST_F(monitored_device, moves_and_changes_its_executor_type) {
    basic_device_monitor<asio::io_context::executor_type> typed(context, dev);
    recorder<device_event> event;
    typed.async_next_event(event.handler());
    device_monitor erased(std::move(typed));
    dev->raise(port_event(device_event_kind::gid_change, 1));
    run();
    EXPECT_FALSE(event.ec());
}

TEST_F(monitored_device, can_be_opened_and_closed_a_thousand_times) {
    const auto descriptors = [] {
        std::size_t n = 0;
        for (int fd = 0; fd < 512; ++fd) n += ::fcntl(fd, F_GETFD) >= 0;
        return n;
    };
    engine(); // makes the context's own descriptors
    const auto before = descriptors();
    for (int i = 0; i < 1000; ++i) {
        device_monitor monitor(context, dev);
        monitor.async_next_event([](error_code, device_event) {});
        if (i % 2 == 0) poll();
    }
    run();
    EXPECT_EQ(descriptors(), before);
}

TEST_F(monitored_device, needs_an_io_context) {
    asio::thread_pool pool(1);
    EXPECT_THROW(basic_device_monitor<asio::thread_pool::executor_type>(pool.get_executor(), dev), exception);
    EXPECT_THROW(device_monitor(context, nullptr), exception);
}

class monitored_polled_device : public monitored_device {
  protected:
    monitored_polled_device() : monitored_device(scripted_device_config{.has_async_event_fd = false}) {}
};

TEST_F(monitored_polled_device, gives_events_that_come_with_progress) {
    device_monitor monitor(context, dev);
    recorder<device_event> event;
    monitor.async_next_event(event.handler());
    dev->raise(port_event(device_event_kind::port_error, 1));
    dev->raise_spurious_event();
    run();
    EXPECT_EQ(event.result().kind, device_event_kind::port_error);
}

} // namespace
} // namespace rocio::test
