#include "io_context_fixture.hpp"
#include "line_sink.hpp"
#include "scripted_device.hpp"

#include <rocio/connect/static_peer.hpp>
#include <rocio/ring/sensor_receiver.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <vector>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A receiver on a device whose completions the test makes.
class SensorCore : public io_context_fixture {
  protected:
    static constexpr std::uint32_t frame_size = 1000, page_size = 1152;

    SensorCore() {
        config.device = dev;
        config.frame_size = frame_size;
        config.pages = 4;
        config.receives = 8;
    }
    void connect() {
        if (!receiver) receiver.emplace(context, config);
        peer_parameters peer;
        peer.address = gid::parse("10.0.0.2").value();
        peer.queue_pair = qpn{0xABCDEF};
        peer.immediates = hsb_immediate_layout(0x2606);
        std::optional<error_code> result;
        receiver->async_connect(static_peer(context, peer), [&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        ASSERT_FALSE(*result) << receiver->last_error().message();
    }
    std::span<std::byte> page(std::uint32_t n) {
        return dev->live_ranges().front().subspan(std::size_t{n} * page_size, page_size);
    }
    void write_page(std::uint32_t n, std::uint32_t psn, std::uint16_t number,
                    std::uint64_t bytes = frame_size) {
        frame_metadata m;
        m.psn = psn;
        m.frame_number = number;
        m.bytes_written = bytes;
        m.early_end = bytes < frame_size;
        m.encode(page(n).subspan(1024).first<frame_metadata::size>());
    }
    work_completion completion(std::uint32_t immediate) {
        work_completion c;
        c.id = dev->receive_log(pair).back().id;
        c.op = completion_opcode::receive_rdma_write_with_immediate;
        c.has_immediate = true;
        c.immediate = immediate;
        c.byte_len = frame_metadata::size;
        return c;
    }
    void tell(std::uint32_t n, std::uint32_t psn) {
        dev->inject(completion(pack(hsb_immediate_layout(0x2606), {n, psn})));
    }
    void arrive(std::uint32_t n, std::uint32_t psn, std::uint16_t number, std::uint64_t bytes = frame_size) {
        write_page(n, psn, number, bytes);
        tell(n, psn);
    }
    sensor_receiver_snapshot after(const std::function<bool(const sensor_receiver_snapshot&)>& holds) {
        run_until([&] { return holds(receiver->snapshot()); });
        return receiver->snapshot();
    }
    sensor_frame next() {
        std::optional<sensor_frame> got;
        receiver->async_receive([&](const error_code& ec, sensor_frame f) {
            EXPECT_FALSE(ec);
            got.emplace(std::move(f));
        });
        run_until([&] { return got.has_value(); });
        return got ? std::move(*got) : sensor_frame();
    }
    void TearDown() override {
        receiver.reset();
        io_context_fixture::TearDown();
        EXPECT_THAT(dev->violations(), IsEmpty());
        EXPECT_EQ(dev->live_regions(), 0U);
        EXPECT_EQ(dev->live_queue_pairs(), 0U);
    }

    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    sensor_receiver_config config;
    std::optional<sensor_receiver> receiver;
    std::size_t pair = 0;
};

TEST_F(SensorCore, memory_that_cannot_be_had_as_asked_is_a_warning) {
    const auto sink = std::make_shared<line_sink>();
    engine().set_log_sink(sink);
    config.memory = {.numa_node = 4711, .prefault = true};
    connect();
    const auto memory = receiver->snapshot().memory;
    engine().set_log_sink(nullptr);
    EXPECT_TRUE(memory.prefaulted);
    ASSERT_EQ(memory.warnings.size(), 1U);
    ASSERT_EQ(sink->lines().size(), 1U);
    EXPECT_EQ(sink->lines()[0].text, "sensor: " + memory.warnings[0]);
}

TEST_F(SensorCore, posts_receives_that_bring_no_bytes_and_posts_them_again) {
    connect();
    EXPECT_EQ(dev->posted_receives(pair), 8U);
    EXPECT_EQ(dev->receive_log(pair).front().buffer.size, 0U);
    EXPECT_TRUE(dev->complete_receive(pair, {}, 0U)); // whatever it was
    run_until([&] { return dev->receive_log(pair).size() == 9; });
    EXPECT_EQ(receiver->snapshot().receives_posted, 8U);
}

TEST_F(SensorCore, tells_region_pages_and_page_size_to_the_handshake) {
    receiver.emplace(context, config);
    receiver->setup();
    const auto local = receiver->local();
    EXPECT_EQ(local.region.address, 0U);
    EXPECT_EQ(local.region.length, 4U * page_size);
    EXPECT_NE(local.region.key.value, 0U);
    EXPECT_EQ(local.depth, 4U);
    EXPECT_EQ(local.max_payload, page_size);
    EXPECT_EQ(dev->initialisation(pair)->remote_access, memory_access::remote_write);
}

TEST_F(SensorCore, gives_what_the_metadata_say) {
    connect();
    page(2)[0] = std::byte{0x5A};
    arrive(2, 0x12345, 7);
    const auto frame = next();
    EXPECT_EQ(frame.page(), 2U);
    EXPECT_EQ(frame.number(), 7U);
    EXPECT_EQ(frame.metadata().psn, 0x12345U);
    EXPECT_EQ(frame.immediate(), 0x12345U << 12 | 2);
    EXPECT_EQ(frame.size(), frame_size);
    EXPECT_EQ(frame.data()[0], std::byte{0x5A});
}

TEST_F(SensorCore, a_frame_that_ended_early_is_shorter_and_a_wrong_length_is_cut) {
    connect();
    arrive(0, 3, 0, 400);
    EXPECT_EQ(next().size(), 400U);
    arrive(1, 7, 1, ~std::uint64_t{0});
    EXPECT_EQ(next().size(), frame_size);
    arrive(2, 11, 2, 0);
    EXPECT_EQ(next().size(), 0U);
    EXPECT_EQ(receiver->snapshot().ended_early, 2U);
}

TEST_F(SensorCore, metadata_of_another_packet_are_no_frame) {
    connect();
    write_page(0, 7, 1); // the next frame is in the page already
    tell(0, 3);
    auto s = after([](const auto& x) { return x.dropped == 1; });
    EXPECT_EQ(s.frames, 0U);
    tell(0, 7);
    EXPECT_EQ(next().number(), 1U);
    EXPECT_EQ(receiver->snapshot().lost, 0U);
}

TEST_F(SensorCore, frames_whose_metadata_were_gone_are_dropped_and_not_lost) {
    connect();
    arrive(0, 3, 0);
    (void)next();
    write_page(1, 19, 4);
    tell(1, 7);  // frame 1, whose page has frame 4 by now
    tell(1, 19); // frame 4; of 2 and 3 nothing came
    EXPECT_EQ(next().number(), 4U);
    EXPECT_EQ(receiver->snapshot().dropped, 1U);
    EXPECT_EQ(receiver->snapshot().lost, 2U);
}

TEST_F(SensorCore, frame_numbers_wrap_and_may_begin_anew) {
    connect();
    arrive(0, 3, 0xFFFF);
    EXPECT_EQ(next().number(), 0xFFFFU);
    arrive(1, 7, 0);
    EXPECT_EQ(next().number(), 0x10000U);
    EXPECT_EQ(receiver->snapshot().lost, 0U);
    arrive(2, 11, 0xFFF0);
    (void)next();
    EXPECT_EQ(receiver->snapshot().renumbered, 1U);
}

TEST_F(SensorCore, pages_that_are_not_ours_and_other_completions_are_counted) {
    connect();
    tell(4, 3);
    tell(0xFFF, 3);
    auto send = completion(0);
    send.op = completion_opcode::receive;
    dev->inject(send);
    auto bare = completion(0);
    bare.has_immediate = false;
    dev->inject(bare);
    const auto s = after([](const auto& x) { return x.unexpected == 2; });
    EXPECT_EQ(s.bad_page, 2U);
    EXPECT_EQ(s.frames, 0U);
    EXPECT_EQ(s.state, "connected");
}

TEST_F(SensorCore, a_queued_frame_whose_metadata_change_is_not_given_out) {
    connect();
    arrive(0, 3, 0);
    arrive(1, 7, 1);
    (void)after([](const auto& x) { return x.queued == 2; });
    write_page(0, 19, 4); // told later
    EXPECT_EQ(next().number(), 1U);
    EXPECT_EQ(receiver->snapshot().dropped, 1U);
}

TEST_F(SensorCore, a_failed_receive_ends_the_connection_and_what_waits) {
    connect();
    std::optional<error_code> ended;
    receiver->async_receive([&](const error_code& ec, const sensor_frame&) { ended = ec; });
    dev->fail_receive(pair, errc::local_protection_error);
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, errc::local_protection_error);
    EXPECT_EQ(receiver->snapshot().state, "disconnected");
    EXPECT_EQ(receiver->snapshot().receive_errors, 1U);
    pair = 1;
    connect();
    arrive(0, 3, 0);
    EXPECT_EQ(next().number(), 0U);
}

TEST_F(SensorCore, what_had_arrived_can_be_taken_after_the_end) {
    connect();
    arrive(0, 3, 0);
    (void)after([](const auto& x) { return x.queued == 1; });
    dev->fail_receive(pair, errc::local_protection_error);
    (void)after([](const auto& x) { return x.state == "disconnected"; });
    EXPECT_EQ(next().number(), 0U);
    std::optional<error_code> ended;
    receiver->async_receive([&](const error_code& ec, const sensor_frame&) { ended = ec; });
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, errc::local_protection_error);
}

TEST_F(SensorCore, the_devices_events_end_it_with_a_sentence) {
    connect();
    device_event event;
    event.kind = device_event_kind::port_error;
    event.port = 1;
    dev->raise(event);
    (void)after([](const auto& x) { return x.state == "disconnected"; });
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("port 1 of scripted lost its link"));
}

TEST_F(SensorCore, each_call_that_the_device_refuses_is_told_and_the_next_attempt_succeeds) {
    for (std::size_t k = 1; k < 40; ++k) {
        receiver.emplace(context, config);
        dev->fail_any_call(k, errc::limit_exceeded);
        error_info error;
        receiver->setup(error);
        dev->fail_any_call(0, errc::success);
        if (!error) {
            EXPECT_GT(k, 5U);
            receiver.reset();
            return;
        }
        EXPECT_EQ(error.code, errc::limit_exceeded) << k;
        receiver->setup(error);
        EXPECT_FALSE(error) << k << ": " << error.message();
        receiver.reset();
    }
    ADD_FAILURE() << "setup() never succeeded";
}

TEST_F(SensorCore, any_token_takes_frames) {
    connect();
    std::vector<std::uint32_t> numbers;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto first = co_await receiver->async_receive(asio::use_awaitable);
            numbers.push_back(first.number());
            const auto [ec, second] = co_await receiver->async_receive(asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec);
            numbers.push_back(second.number());
            const auto third = co_await receiver->async_receive();
            numbers.push_back(third.number());
        },
        [](const std::exception_ptr& e) { EXPECT_EQ(e, nullptr); });
    for (std::uint16_t i = 0; i < 3; ++i) {
        arrive(i, 4U * i + 3, i);
        run_until([&] { return numbers.size() == i + 1U; });
    }
    auto future = receiver->async_receive(asio::use_future);
    receiver->async_receive(
        [only = std::make_unique<int>(4), &numbers](const error_code&, const sensor_frame& f) {
            numbers.push_back(f.number() + static_cast<std::uint32_t>(*only) - 4);
        });
    arrive(3, 15, 3);
    arrive(0, 19, 4);
    run_until([&] { return numbers.size() == 4; });
    EXPECT_EQ(future.get().number(), 3U);
    EXPECT_THAT(numbers, ::testing::ElementsAre(0, 1, 2, 4));
}

TEST_F(SensorCore, a_receiver_is_moved_with_its_connection) {
    connect();
    auto other = std::move(*receiver);
    receiver.emplace(std::move(other));
    arrive(0, 3, 0);
    EXPECT_EQ(next().number(), 0U);
    receiver->stop();
    receiver->stop();
    error_info error;
    receiver->setup(error);
    EXPECT_EQ(error.code, errc::stopped);
}

} // namespace
} // namespace rocio::test
