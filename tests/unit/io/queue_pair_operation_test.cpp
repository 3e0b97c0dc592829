// Sends and receives: order, waiting for a place, inline data, errors.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <memory_resource>
#include <thread>

namespace rocio::test {
namespace {

class queue_pair_operation : public queue_pair_fixture {
  protected:
    registered_buffer small(std::size_t i = 0) { return memory.buffer(i * 64, 64); }
};

TEST_F(queue_pair_operation, gives_the_device_what_was_asked_for) {
    auto qp = connected();
    recorder<> plain, immediate, inlined, both;
    qp.async_send(text("plain"), plain.handler());
    qp.async_send_with_immediate(text("numbered", 64), 0xA1B2C3D4, immediate.handler());
    std::string small_text = "in line";
    qp.async_send(inline_bytes(bytes_of(small_text)), inlined.handler());
    qp.async_send_with_immediate(inline_bytes(bytes_of(small_text)), 5, both.handler());
    small_text = "changed";
    const auto log = dev->send_log();
    ASSERT_EQ(log.size(), 4U);
    EXPECT_EQ(log[0].request.op, opcode::send);
    EXPECT_TRUE(log[0].request.signalled);
    EXPECT_THAT(log[0].bytes, ::testing::ElementsAreArray(bytes_of("plain")));
    EXPECT_EQ(log[0].request.buffer.key, memory.buffer().key);
    EXPECT_EQ(log[1].request.op, opcode::send_with_immediate);
    EXPECT_EQ(log[1].request.immediate, 0xA1B2C3D4U);
    EXPECT_TRUE(log[2].request.inlined);
    EXPECT_THAT(log[2].bytes, ::testing::ElementsAreArray(bytes_of("in line")));
    EXPECT_EQ(log[3].request.immediate, 5U);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(dev->complete_send(0));
    run();
    for (const auto* r : {&plain, &immediate, &inlined, &both}) {
        EXPECT_EQ(r->calls(), 1);
        EXPECT_FALSE(r->ec());
    }
}

TEST_F(queue_pair_operation, tells_size_and_immediate_of_a_message) {
    auto qp = connected();
    recorder<received_message> with, without, empty;
    qp.async_receive(small(0), with.handler());
    qp.async_receive(small(1), without.handler());
    qp.async_receive(small(2), empty.handler());
    dev->complete_receive(0, bytes_of("abc"), 0xFFFFFFFF);
    dev->complete_receive(0, bytes_of("abcd"));
    dev->complete_receive(0, {});
    run();
    EXPECT_EQ(with.result().size, 3U);
    EXPECT_EQ(with.result().immediate, 0xFFFFFFFFU);
    EXPECT_EQ(text_of(small(0), 3), "abc");
    EXPECT_EQ(without.result().size, 4U);
    EXPECT_EQ(without.result().immediate, std::nullopt);
    EXPECT_EQ(empty.result().size, 0U);
    EXPECT_FALSE(empty.ec());
}

TEST_F(queue_pair_operation, completes_in_order) {
    auto qp = connected({.send_depth = 3, .receive_depth = 3});
    std::vector<int> order;
    for (int i = 0; i < 10; ++i) {
        qp.async_receive(small(), [&order, i](error_code ec, received_message) {
            EXPECT_FALSE(ec);
            order.push_back(i);
        });
    }
    for (int i = 0; i < 10; ++i) {
        run_until([&] { return dev->posted_receives() > 0 && order.size() == static_cast<std::size_t>(i); });
        dev->complete_receive(0, bytes_of("x"));
        run_until([&] { return order.size() == static_cast<std::size_t>(i) + 1; });
    }
    EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(queue_pair_operation, waits_in_the_object_for_a_place_on_the_device) {
    auto qp = connected({.send_depth = 2, .receive_depth = 2});
    int sent = 0;
    for (int i = 0; i < 7; ++i) qp.async_send(small(), [&](error_code ec) { sent += !ec; });
    EXPECT_EQ(dev->posted_sends(), 2U);
    EXPECT_EQ(dev->calls(device_call::post_send), 2U);
    for (int i = 1; i <= 7; ++i) {
        ASSERT_TRUE(dev->complete_send(0));
        run_until([&] { return sent == i; });
        EXPECT_EQ(dev->posted_sends(), std::min<std::size_t>(2, 7 - static_cast<std::size_t>(i)));
    }
}

TEST_F(queue_pair_operation, keeps_inline_bytes_of_a_send_that_has_to_wait) {
    auto qp = connected({.send_depth = 1});
    recorder<> first, second;
    {
        std::string bytes = "first";
        qp.async_send(inline_bytes(bytes_of(bytes)), first.handler());
        bytes = "second one";
        qp.async_send(inline_bytes(bytes_of(bytes)), second.handler());
        bytes.assign(bytes.size(), '?');
    }
    dev->complete_send(0);
    run_until([&] { return first.done(); });
    EXPECT_THAT(dev->send_log().at(1).bytes, ::testing::ElementsAreArray(bytes_of("second one")));
    dev->complete_send(0);
    run();
    EXPECT_TRUE(second.done());
}

TEST_F(queue_pair_operation, refuses_more_inline_bytes_than_agreed) {
    auto qp = connected({.max_inline = 8});
    recorder<> fits, too_long;
    qp.async_send(inline_bytes(bytes_of("12345678")), fits.handler());
    qp.async_send(inline_bytes(bytes_of("123456789")), too_long.handler());
    dev->complete_send(0);
    run();
    EXPECT_FALSE(fits.ec());
    EXPECT_EQ(too_long.ec(), errc::inline_too_long);
    EXPECT_EQ(dev->calls(device_call::post_send), 1U);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(queue_pair_operation, needs_a_connection_to_send_and_none_to_receive) {
    queue_pair qp(context, dev);
    recorder<> sent;
    recorder<received_message> got;
    qp.async_send(small(), sent.handler());
    qp.async_receive(small(), got.handler());
    run_until([&] { return sent.done(); });
    EXPECT_EQ(sent.ec(), errc::invalid_state);
    EXPECT_EQ(dev->calls(device_call::post_receive), 0U);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    EXPECT_EQ(dev->posted_receives(), 1U);
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_FALSE(got.ec());
}

TEST_F(queue_pair_operation, posts_receives_before_the_peer_can_send) {
    queue_pair qp(context, dev);
    for (int i = 0; i < 3; ++i) qp.async_receive(small(), [](error_code, received_message) {});
    local_parameters ours;
    ASSERT_FALSE(qp.as_connectable()->prepare(ours));
    EXPECT_EQ(qp.state(), queue_pair_state::init);
    EXPECT_EQ(dev->posted_receives(), 3U);
    EXPECT_EQ(ours.depth, 128U);
    qp.close();
    run();
}

TEST_F(queue_pair_operation, gives_only_the_status_of_a_failed_completion) {
    auto qp = connected();
    recorder<received_message> got;
    qp.async_receive(small(), got.handler());
    dev->fail_receive(0, errc::local_length_error); // every other member is garbage
    run();
    EXPECT_EQ(got.ec(), errc::local_length_error);
    EXPECT_EQ(got.result().size, 0U);
    EXPECT_EQ(got.result().immediate, std::nullopt);
}

TEST_F(queue_pair_operation, closes_with_the_first_real_failure_and_flushes_the_rest) {
    auto qp = connected();
    recorder<> failed, flushed, closed;
    recorder<received_message> receive;
    qp.async_send(small(), failed.handler());
    qp.async_send(small(), flushed.handler());
    qp.async_receive(small(), receive.handler());
    qp.async_wait_closed(closed.handler());
    dev->complete_send(0, errc::remote_access_error);
    run();
    EXPECT_EQ(failed.ec(), errc::remote_access_error);
    EXPECT_EQ(flushed.ec(), errc::work_request_flushed);
    EXPECT_EQ(receive.ec(), errc::work_request_flushed);
    EXPECT_EQ(closed.ec(), errc::remote_access_error);
    EXPECT_EQ(qp.close_reason(), errc::remote_access_error);
    EXPECT_EQ(qp.last_error().code, errc::remote_access_error);
}

TEST_F(queue_pair_operation, does_not_call_a_flush_the_cause_when_the_cause_comes_later) {
    auto qp = connected();
    recorder<received_message> receive;
    recorder<> send;
    qp.async_receive(small(), receive.handler());
    qp.async_send(small(), send.handler());
    dev->fail_receive(0, errc::work_request_flushed);
    dev->complete_send(0, errc::retry_exceeded);
    run();
    EXPECT_EQ(send.ec(), errc::retry_exceeded);
    EXPECT_EQ(qp.close_reason(), errc::retry_exceeded);
}

TEST_F(queue_pair_operation, fails_only_the_operation_whose_post_is_refused) {
    auto qp = connected();
    recorder<> refused, good;
    recorder<received_message> receive_refused;
    dev->fail_call(device_call::post_send, 1, errc::message_too_long);
    dev->fail_call(device_call::post_receive, 1, errc::local_protection_error);
    qp.async_send(small(), refused.handler());
    qp.async_receive(small(), receive_refused.handler());
    qp.async_send(small(), good.handler());
    dev->complete_send(0);
    run();
    EXPECT_EQ(refused.ec(), errc::message_too_long);
    EXPECT_EQ(receive_refused.ec(), errc::local_protection_error);
    EXPECT_FALSE(good.ec());
}

TEST_F(queue_pair_operation, keeps_all_slots_when_posts_are_refused) {
    auto qp = connected({.receive_depth = 8});
    int refused = 0, good = 0;
    for (int round = 0; round < 50; ++round) {
        dev->fail_call(device_call::post_receive, 5, errc::local_protection_error);
        for (int i = 0; i < 8; ++i) {
            qp.async_receive(small(), [&](error_code ec, received_message) { ++(ec ? refused : good); });
        }
        EXPECT_EQ(dev->posted_receives(), 7U);
        for (int i = 0; i < 7; ++i) ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
        run();
    }
    EXPECT_EQ(refused, 50);
    EXPECT_EQ(good, 350);
}

TEST_F(queue_pair_operation, does_not_wait_for_room_on_an_idle_device) {
    auto qp = connected();
    recorder<> refused;
    dev->fail_call(device_call::post_send, 1, errc::queue_full);
    qp.async_send(small(), refused.handler());
    run();
    EXPECT_EQ(refused.ec(), errc::queue_full);
}

TEST_F(queue_pair_operation, waits_when_the_device_is_full_earlier_than_agreed) {
    auto qp = connected();
    recorder<> first, second;
    qp.async_send(small(), first.handler());
    dev->fail_call(device_call::post_send, 1, errc::queue_full);
    qp.async_send(small(), second.handler());
    EXPECT_EQ(dev->posted_sends(), 1U);
    dev->complete_send(0);
    run_until([&] { return first.done() && dev->posted_sends() == 1; });
    EXPECT_FALSE(second.done());
    dev->complete_send(0);
    run();
    EXPECT_FALSE(second.ec());
}

TEST_F(queue_pair_operation, lets_none_overtake_those_that_wait) {
    auto qp = connected({.send_depth = 1});
    recorder<> first;
    qp.async_send(text("0", 0), first.handler());
    dev->complete_send(0);
    run_until([&] { return first.done(); });
    int done = 0;
    qp.async_send(text("1", 64), [&](error_code) {
        ++done;
        qp.async_send(text("3", 192), [&](error_code) { ++done; });
    });
    qp.async_send(text("2", 128), [&](error_code) { ++done; });
    for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(dev->complete_send(0));
        run_until([&] { return done == i; });
    }
    std::string order;
    for (const auto& sent : dev->send_log()) order.push_back(static_cast<char>(sent.bytes[0]));
    EXPECT_EQ(order, "0123");
}

TEST_F(queue_pair_operation, tells_what_one_poll_found_in_its_order_also_around_a_failure) {
    auto qp = connected();
    std::vector<std::pair<int, error_code>> ends;
    for (int i = 0; i < 5; ++i)
        qp.async_send(small(), [&ends, i](error_code ec) { ends.emplace_back(i, ec); });
    for (const auto status : {errc::success, errc::success, errc::retry_exceeded, errc::work_request_flushed,
                              errc::work_request_flushed})
        ASSERT_TRUE(dev->complete_send(0, status));
    run();
    ASSERT_EQ(ends.size(), 5U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ends[static_cast<std::size_t>(i)].first, i);
    EXPECT_FALSE(ends[1].second);
    EXPECT_EQ(ends[2].second, errc::retry_exceeded);
    EXPECT_EQ(ends[3].second, errc::work_request_flushed);
    EXPECT_EQ(qp.close_reason(), errc::retry_exceeded);
}

TEST_F(queue_pair_operation, drops_a_completion_of_nothing_between_others) {
    auto qp = connected({.send_depth = 4, .receive_depth = 4});
    recorder<> before, after;
    recorder<received_message> got;
    qp.async_send(small(), before.handler());
    qp.async_send(small(), after.handler());
    qp.async_receive(small(), got.handler());
    work_completion of_nothing;
    of_nothing.id = dev->send_log().at(0).request.id;
    ASSERT_TRUE(dev->complete_send(0));
    for (const std::uint32_t slot : {3U, 7U, 8U, 0xFFFFFFFFU}) {
        of_nothing.id.slot = slot;
        dev->inject(of_nothing);
    }
    ASSERT_TRUE(dev->complete_receive(0, bytes_of("x")));
    ASSERT_TRUE(dev->complete_send(0));
    run();
    EXPECT_EQ(engine().snapshot().stale_completions, 4U);
    for (const auto* r : {&before, &after}) EXPECT_FALSE(r->ec());
    EXPECT_EQ(got.result().size, 1U);
}

TEST_F(queue_pair_operation, asks_anew_after_each_connection) {
    auto qp = connected();
    for (int round = 0; round < 3; ++round) {
        recorder<> sent, flushed, closed, early;
        qp.async_send(small(), sent.handler());
        dev->complete_send(static_cast<std::size_t>(round));
        run_until([&] { return sent.done(); });
        EXPECT_FALSE(sent.ec());
        qp.async_send(small(), flushed.handler());
        qp.close();
        qp.async_send(small(), closed.handler());
        run();
        EXPECT_EQ(flushed.ec(), errc::work_request_flushed);
        EXPECT_EQ(closed.ec(), errc::work_request_flushed);
        local_parameters ours;
        ASSERT_FALSE(qp.as_connectable()->prepare(ours));
        qp.async_send(small(), early.handler());
        run();
        EXPECT_EQ(early.ec(), errc::invalid_state);
        ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    }
}

TEST_F(queue_pair_operation, waits_for_the_engine_that_another_thread_holds) {
    auto qp = connected();
    recorder<> sent;
    recorder<received_message> got;
    std::atomic<bool> held = false;
    std::thread other([&] {
        const auto lock = engine().lock();
        held = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    });
    while (!held) std::this_thread::yield();
    qp.async_send(small(), sent.handler());
    qp.async_receive(small(), got.handler());
    other.join();
    dev->complete_send(0);
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_FALSE(sent.ec());
    EXPECT_FALSE(got.ec());
}

TEST_F(queue_pair_operation, accepts_move_only_handlers) {
    auto qp = connected();
    auto owned = std::make_unique<int>(41);
    int seen = 0;
    qp.async_send(small(), [p = std::move(owned), &seen](error_code) { seen = *p + 1; });
    dev->complete_send(0);
    run();
    EXPECT_EQ(seen, 42);
}

/// Counts what it gives out.
class counting_resource : public std::pmr::memory_resource {
  public:
    std::size_t live = 0, total = 0;

  private:
    void* do_allocate(std::size_t n, std::size_t alignment) override {
        ++live, ++total;
        return std::pmr::new_delete_resource()->allocate(n, alignment);
    }
    void do_deallocate(void* p, std::size_t n, std::size_t alignment) override {
        --live;
        std::pmr::new_delete_resource()->deallocate(p, n, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST_F(queue_pair_operation, lives_in_its_handlers_memory_which_is_free_before_the_handler_runs) {
    auto qp = connected();
    counting_resource resource;
    std::size_t live_in_handler = 99;
    qp.async_send(small(), asio::bind_allocator(std::pmr::polymorphic_allocator<void>(&resource),
                                                [&](error_code) { live_in_handler = resource.live; }));
    EXPECT_EQ(resource.live, 1U);
    dev->complete_send(0);
    run();
    EXPECT_EQ(resource.total, 1U);
    EXPECT_EQ(live_in_handler, 0U);
}

TEST_F(queue_pair_operation, takes_the_hop_to_another_executor_in_its_handlers_memory) {
    auto qp = connected();
    counting_resource resource;
    auto strand = asio::make_strand(context);
    bool on_strand = false;
    qp.async_send(small(), asio::bind_executor(
                               strand, asio::bind_allocator(std::pmr::polymorphic_allocator<void>(&resource),
                                                            [&](error_code) {
                                                                on_strand = strand.running_in_this_thread();
                                                            })));
    dev->complete_send(0);
    run();
    EXPECT_TRUE(on_strand);
    EXPECT_EQ(resource.live, 0U);
    EXPECT_GE(resource.total, 1U);
}

struct alignas(64) over_aligned {
    bool* seen;
    void operator()(error_code) const { *seen = reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
};

TEST_F(queue_pair_operation, keeps_over_aligned_handlers_aligned) {
    auto qp = connected();
    bool aligned = false;
    qp.async_send(small(), over_aligned{&aligned});
    dev->complete_send(0);
    run();
    EXPECT_TRUE(aligned);
}

struct throws_when_moved {
    int* left;
    explicit throws_when_moved(int* l) : left(l) {}
    throws_when_moved(const throws_when_moved& other) : left(other.left) { step(); }
    throws_when_moved(throws_when_moved&& other) : left(other.left) { step(); } // NOLINT
    void step() const {
        if (--*left == 0) throw std::runtime_error("moved once too often");
    }
    void operator()(error_code) const {}
};

TEST_F(queue_pair_operation, leaves_nothing_behind_when_a_handler_throws_on_its_way_in) {
    auto qp = connected();
    int moves = 1000;
    qp.async_send(small(), throws_when_moved(&moves));
    const int needed = 1000 - moves;
    for (int k = 1; k <= needed; ++k) {
        int left = k;
        EXPECT_THROW(qp.async_send(small(), throws_when_moved(&left)), std::runtime_error);
    }
    EXPECT_EQ(dev->posted_sends(), 1U);
    EXPECT_EQ(engine().snapshot().outstanding, 1U);
    dev->complete_send(0);
    run();
}

} // namespace
} // namespace rocio::test
