// Construction, moves, connecting and reconnecting, failing at every step.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

class queue_pair_lifecycle : public queue_pair_fixture {
  protected:
    registered_buffer small() { return memory.buffer(0, 64); }
    template <class Make>
    error_info failure_of(Make make) {
        try {
            make();
            return {};
        } catch (const exception& e) {
            return {e.code(), e.what()};
        }
    }
};

TEST_F(queue_pair_lifecycle, takes_any_executor_of_an_io_context) {
    const asio::any_io_executor erased = context.get_executor();
    queue_pair from_context(context, dev), from_executor(erased, dev);
    queue_pair from_strand(asio::make_strand(context), dev),
        from_erased_strand(asio::make_strand(erased), dev);
    queue_pair from_tracked(asio::require(context.get_executor(), asio::execution::outstanding_work.tracked),
                            dev);
    basic_queue_pair<asio::io_context::executor_type> typed(context, dev);
    basic_queue_pair<asio::strand<asio::io_context::executor_type>> stranded(asio::make_strand(context), dev);
    using by_default = asio::use_awaitable_t<>::as_default_on_t<queue_pair>;
    by_default defaulted(context, dev);
    using typed_default =
        asio::use_awaitable_t<>::as_default_on_t<basic_queue_pair<asio::io_context::executor_type>>;
    typed_default typed_and_defaulted(context, dev);
    EXPECT_EQ(dev->live_queue_pairs(), 9U);
    EXPECT_EQ(typed.get_executor(), context.get_executor());
}

TEST_F(queue_pair_lifecycle, refuses_every_other_context) {
    asio::thread_pool pool(1);
    const auto make_on = [&](asio::any_io_executor executor) {
        return [this, executor] { queue_pair(executor, dev); };
    };
    EXPECT_EQ(failure_of(make_on(pool.get_executor())).code, errc::unsupported_context);
    EXPECT_EQ(failure_of(make_on(asio::system_executor())).code, errc::unsupported_context);
    EXPECT_EQ(failure_of(make_on(asio::make_strand(pool))).code, errc::unsupported_context);
    const auto typed =
        failure_of([&] { basic_queue_pair<asio::thread_pool::executor_type>(pool.get_executor(), dev); });
    EXPECT_EQ(typed.code, errc::unsupported_context);
    EXPECT_THAT(typed.text, ::testing::HasSubstr("io_context"));
    executor_tracker tracker;
    const auto hidden = make_on(tracker_executor(context.get_executor(), tracker));
    EXPECT_EQ(failure_of(hidden).code, errc::unsupported_context);
    EXPECT_EQ(dev->calls(device_call::create_queue_pair), 0U);
}

TEST_F(queue_pair_lifecycle, needs_a_device) {
    EXPECT_EQ(failure_of([&] { queue_pair(context, nullptr); }).code, errc::device_not_found);
}

struct bad_config {
    const char* names;
    queue_pair_config config;
    errc code;
};

class queue_pair_config_check : public queue_pair_lifecycle,
                                public ::testing::WithParamInterface<bad_config> {};

TEST_P(queue_pair_config_check, refuses_and_names_the_attribute) {
    const auto e = failure_of([&] { queue_pair(context, dev, GetParam().config); });
    EXPECT_EQ(e.code, GetParam().code);
    EXPECT_THAT(e.text, ::testing::HasSubstr(GetParam().names));
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
    EXPECT_EQ(engine().snapshot().devices, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    values, queue_pair_config_check,
    ::testing::Values(bad_config{"send_depth", {.send_depth = 0}, errc::invalid_argument},
                      bad_config{"receive_depth", {.receive_depth = 65537}, errc::invalid_argument},
                      bad_config{"receive_depth", {.receive_depth = 4097}, errc::limit_exceeded},
                      bad_config{"send_depth is 5000, device scripted allows at most 4096",
                                 {.send_depth = 5000},
                                 errc::limit_exceeded},
                      bad_config{"max_inline", {.max_inline = 257}, errc::limit_exceeded},
                      bad_config{"port", {.port = 0}, errc::invalid_argument},
                      bad_config{"port", {.port = 3}, errc::limit_exceeded},
                      bad_config{"retry_count", {.retry_count = 8}, errc::invalid_argument},
                      bad_config{"rnr_retry", {.rnr_retry = 8}, errc::invalid_argument},
                      bad_config{"hop_limit", {.hop_limit = 0}, errc::invalid_argument}));

TEST_F(queue_pair_lifecycle, refuses_a_device_that_belongs_to_another_context) {
    asio::io_context other;
    const auto bound = std::make_shared<scripted_device>(scripted_device_config{.exclusive = true});
    std::optional<queue_pair> first(std::in_place, other, bound);
    const auto refused = failure_of([&] { queue_pair(context, bound); });
    EXPECT_EQ(refused.code, errc::device_bound);
    EXPECT_THAT(refused.text, ::testing::HasSubstr("another io_context"));
    first.reset();
    queue_pair now_mine(context, bound);
    EXPECT_EQ(bound->live_queue_pairs(), 1U);
}

TEST_F(queue_pair_lifecycle, shares_one_completion_queue_until_it_is_full) {
    std::vector<queue_pair> pairs;
    for (int i = 0; i < 4; ++i) pairs.emplace_back(context, dev);
    EXPECT_EQ(dev->live_completion_queues(), 1U);
    pairs.emplace_back(context, dev);
    EXPECT_EQ(dev->live_completion_queues(), 2U);
    pairs.pop_back();
    pairs.pop_back();
    pairs.emplace_back(context, dev);
    EXPECT_EQ(dev->live_completion_queues(), 2U) << "freed places are used again";
    pairs.clear();
    EXPECT_EQ(dev->live_completion_queues(), 0U);
}

TEST_F(queue_pair_lifecycle, keeps_operations_when_it_moves) {
    auto first = connected();
    recorder<> sent, closed;
    first.async_send(small(), sent.handler());
    first.async_wait_closed(closed.handler());
    queue_pair second(std::move(first));
    queue_pair third(context, dev);
    third = std::move(second);
    EXPECT_EQ(dev->live_queue_pairs(), 1U) << "what was assigned over is gone";
    dev->complete_send(0);
    run_until([&] { return sent.done(); });
    EXPECT_FALSE(sent.ec());
    EXPECT_FALSE(closed.done());
    third.close();
    run();
    EXPECT_EQ(closed.ec(), asio::error::operation_aborted);
}

TEST_F(queue_pair_lifecycle, ends_operations_that_are_assigned_over) {
    auto victim = connected();
    recorder<> sent;
    victim.async_send(small(), sent.handler());
    victim = connected();
    run();
    EXPECT_EQ(sent.ec(), asio::error::operation_aborted);
}

TEST_F(queue_pair_lifecycle, survives_assignment_to_itself) {
    auto qp = connected();
    auto& same = qp;
    qp = std::move(same);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(queue_pair_lifecycle, moves_to_another_executor_type) {
    basic_queue_pair<asio::io_context::executor_type> typed(context, dev);
    ASSERT_FALSE(connect_to(typed, qpn{script_peer}));
    recorder<> sent;
    typed.async_send(small(), sent.handler());
    using rebound =
        basic_queue_pair<asio::io_context::executor_type>::rebind_executor<asio::any_io_executor>::other;
    static_assert(std::is_same_v<rebound, queue_pair>);
    queue_pair erased(std::move(typed));
    queue_pair assigned(context, dev);
    assigned = connected();
    basic_queue_pair<asio::io_context::executor_type> more(context, dev);
    assigned = std::move(more);
    dev->complete_send(0);
    run();
    EXPECT_FALSE(sent.ec());
    EXPECT_EQ(erased.get_executor(), asio::any_io_executor(context.get_executor()));
}

TEST_F(queue_pair_lifecycle, ends_every_operation_when_it_is_destroyed) {
    recorder<> posted, waiting, closed;
    recorder<received_message> receive;
    {
        auto qp = connected({.send_depth = 1});
        qp.async_send(small(), posted.handler());
        qp.async_send(small(), waiting.handler());
        qp.async_receive(small(), receive.handler());
        qp.async_wait_closed(closed.handler());
    }
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
    run();
    for (const auto* r : {&posted, &waiting, &closed}) EXPECT_EQ(r->ec(), asio::error::operation_aborted);
    EXPECT_EQ(receive.ec(), asio::error::operation_aborted);
}

TEST_F(queue_pair_lifecycle, tells_the_device_and_the_handshake_our_numbers) {
    queue_pair qp(context, dev,
                  {.remote_access = memory_access::remote_write,
                   .path_mtu = mtu::b2048,
                   .timeout = ack_timeout{10},
                   .min_rnr_timer = rnr_timer{12},
                   .retry_count = 3,
                   .rnr_retry = 4,
                   .hop_limit = 9,
                   .traffic_class = 32});
    local_parameters ours;
    ASSERT_FALSE(qp.as_connectable()->prepare(ours));
    EXPECT_EQ(ours.address.to_address_string(), "10.0.0.1");
    EXPECT_EQ(ours.queue_pair, qp.number());
    EXPECT_EQ(ours.udp_port, 4791);
    EXPECT_EQ(ours.path_mtu, mtu::b2048);
    EXPECT_EQ(ours.send_psn, ours.receive_psn);
    EXPECT_EQ(ours.timeout, ack_timeout{10});
    EXPECT_EQ(ours.retry_count, 3);
    EXPECT_EQ(ours.rnr_retry, 4);
    EXPECT_TRUE(ours.capabilities.exact_icrc);
    EXPECT_EQ(dev->initialisation()->remote_access, memory_access::remote_write);
    EXPECT_EQ(dev->initialisation()->gid_index, 0U);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    const auto c = dev->connection().value();
    EXPECT_EQ(c.peer.queue_pair, qpn{script_peer});
    EXPECT_EQ(c.local.send_psn, ours.send_psn);
    EXPECT_EQ(c.hop_limit, 9);
    EXPECT_EQ(c.traffic_class, 32);
}

TEST_F(queue_pair_lifecycle, finds_its_address_anew_at_every_connect) {
    auto qp = connected();
    qp.close();
    run();
    gid_table_entry moved;
    moved.index = 3;
    moved.value = gid::parse("10.0.0.77").value();
    moved.prefix = 24;
    dev->set_gid_table(1, {moved});
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    EXPECT_EQ(dev->initialisation(1)->gid_index, 3U);
    EXPECT_EQ(dev->connection(1)->local.address.to_address_string(), "10.0.0.77");
}

TEST_F(queue_pair_lifecycle, refuses_a_path_mtu_the_port_does_not_carry) {
    port_attributes port{
        .state = port_state::active, .active_mtu = mtu::b1024, .netdev_mtu = 1500, .netdev = "eth7"};
    dev->set_port(1, port);
    queue_pair qp(context, dev, {.path_mtu = mtu::b4096});
    local_parameters ours;
    const auto e = qp.as_connectable()->prepare(ours);
    EXPECT_EQ(e.code, errc::path_mtu_too_large);
    for (const char* part : {"4096", "1024", "eth7", "1500"}) EXPECT_THAT(e.text, ::testing::HasSubstr(part));
    queue_pair fits(context, dev);
    ASSERT_FALSE(fits.as_connectable()->prepare(ours));
    EXPECT_EQ(ours.path_mtu, mtu::b1024);
}

TEST_F(queue_pair_lifecycle, refuses_a_port_without_a_link) {
    dev->set_port(1, {.state = port_state::down, .netdev = "eth7"});
    queue_pair qp(context, dev);
    local_parameters ours;
    const auto e = qp.as_connectable()->prepare(ours);
    EXPECT_EQ(e.code, errc::port_down);
    EXPECT_THAT(e.text, ::testing::HasSubstr("eth7"));
}

TEST_F(queue_pair_lifecycle, connects_one_peer_at_a_time) {
    auto qp = connected();
    local_parameters ours;
    EXPECT_EQ(qp.as_connectable()->prepare(ours).code, errc::already_connected);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(queue_pair_lifecycle, reconnects_with_a_fresh_queue_pair) {
    auto qp = connected();
    const auto number = qp.number();
    const auto psn_before = dev->connection(0)->local.send_psn;
    for (std::size_t round = 1; round <= 5; ++round) {
        recorder<> flushed, closed, sent;
        qp.async_send(small(), flushed.handler());
        qp.async_wait_closed(closed.handler());
        qp.as_connectable()->disconnected({errc::peer_lost, "the peer went away"});
        run();
        EXPECT_EQ(flushed.ec(), errc::work_request_flushed);
        EXPECT_EQ(closed.ec(), errc::peer_lost);
        EXPECT_EQ(qp.last_error().text, "the peer went away");
        ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
        EXPECT_NE(qp.number(), number);
        EXPECT_FALSE(qp.close_reason());
        qp.async_send(small(), sent.handler());
        dev->complete_send(round);
        run();
        EXPECT_FALSE(sent.ec());
        EXPECT_EQ(dev->live_queue_pairs(), 1U);
    }
    EXPECT_NE(dev->connection(5)->local.send_psn, psn_before);
}

TEST_F(queue_pair_lifecycle, ends_what_is_still_posted_when_it_reconnects) {
    dev->set_flush(flush_behaviour::none);
    auto qp = connected();
    recorder<> sent;
    qp.async_send(small(), sent.handler());
    qp.close();
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    run();
    EXPECT_EQ(sent.ec(), errc::work_request_flushed);
    EXPECT_EQ(engine().snapshot().incomplete_drains, 0U);
}

TEST_F(queue_pair_lifecycle, answers_after_the_end_of_a_connection) {
    auto qp = connected();
    qp.as_connectable()->disconnected({errc::peer_closed, {}});
    recorder<> sent, closed;
    recorder<received_message> got;
    qp.async_send(small(), sent.handler());
    qp.async_receive(small(), got.handler());
    qp.async_wait_closed(closed.handler());
    run();
    EXPECT_EQ(sent.ec(), errc::work_request_flushed);
    EXPECT_EQ(got.ec(), errc::work_request_flushed);
    EXPECT_EQ(closed.ec(), errc::peer_closed);
    EXPECT_EQ(qp.close_reason(), errc::peer_closed);
}

TEST_F(queue_pair_lifecycle, never_calls_success_a_reason_to_be_closed) {
    auto qp = connected();
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    qp.as_connectable()->disconnected({});
    run();
    EXPECT_EQ(closed.ec(), errc::peer_closed);
}

/// Writes down what happens to it.
class watch_log : public liveness {
  public:
    watch_log(std::vector<std::string>& log, scripted_device& dev) : log_(log), dev_(dev) {}
    ~watch_log() override { log_.emplace_back("destroyed"); }
    void release() noexcept override {
        log_.emplace_back(dev_.calls(device_call::to_error) == 0 ? "released in time" : "released too late");
    }

  private:
    std::vector<std::string>& log_;
    scripted_device& dev_;
};

class queue_pair_watch : public queue_pair_lifecycle {
  protected:
    std::vector<std::string> log;
    std::unique_ptr<liveness> watch() { return std::make_unique<watch_log>(log, *dev); }
};

TEST_F(queue_pair_watch, says_goodbye_once_before_the_queue_pair_fails) {
    auto qp = connected();
    qp.as_connectable()->connected(watch());
    EXPECT_THAT(log, ::testing::IsEmpty());
    qp.close();
    qp.close();
    EXPECT_THAT(log, ::testing::ElementsAre("released in time", "destroyed"));
}

TEST_F(queue_pair_watch, says_goodbye_when_the_object_dies) {
    {
        auto qp = connected();
        qp.as_connectable()->connected(watch());
    }
    EXPECT_THAT(log, ::testing::ElementsAre("released in time", "destroyed"));
}

TEST_F(queue_pair_watch, ends_an_attempt_whose_queue_pair_is_closed) {
    queue_pair qp(context, dev);
    local_parameters ours;
    ASSERT_FALSE(qp.as_connectable()->prepare(ours));
    qp.as_connectable()->connecting(watch());
    qp.close();
    EXPECT_THAT(log, ::testing::ElementsAre("released in time", "destroyed"));
    EXPECT_TRUE(qp.as_connectable()->establish({}));
}

TEST_F(queue_pair_watch, says_goodbye_at_once_to_a_connection_that_comes_too_late) {
    auto qp = connected();
    const auto target = qp.as_connectable();
    qp.close();
    log.clear();
    target->connected(watch());
    EXPECT_EQ(log.size(), 2U);
}

TEST_F(queue_pair_lifecycle, leaves_nothing_behind_whatever_call_fails) {
    const auto bring_up = [&]() -> error_info {
        try {
            queue_pair qp(context, dev);
            local_parameters ours;
            if (auto e = qp.as_connectable()->prepare(ours)) return e;
            return connect_to(qp, qpn{script_peer});
        } catch (const exception& e) {
            return {e.code(), e.what()};
        }
    };
    ASSERT_FALSE(bring_up());
    const auto before = dev->calls();
    ASSERT_FALSE(bring_up());
    const auto needed = dev->calls() - before;
    ASSERT_GE(needed, 8U);
    for (std::size_t k = 1; k < needed; ++k) { // the last call is the destructor's to_error()
        SCOPED_TRACE("call " + std::to_string(k));
        dev->fail_any_call(k, errc::local_operation_error);
        EXPECT_EQ(bring_up().code, errc::local_operation_error);
        dev->fail_any_call(0, errc::success);
        EXPECT_EQ(dev->live_queue_pairs(), 0U);
        EXPECT_EQ(dev->live_completion_queues(), 0U);
        EXPECT_EQ(engine().snapshot().devices, 0U);
        EXPECT_EQ(engine().snapshot().queue_pairs, 0U);
    }
}

TEST_F(queue_pair_lifecycle, can_be_connected_after_any_step_failed) {
    const device_call steps[] = {device_call::gid_table, device_call::query_port, device_call::to_init,
                                 device_call::to_ready_to_receive, device_call::to_ready_to_send};
    queue_pair qp(context, dev);
    for (const auto step : steps) {
        SCOPED_TRACE(static_cast<int>(step));
        dev->fail_call(step, 1, errc::local_operation_error);
        const auto e = connect_to(qp, qpn{script_peer});
        EXPECT_EQ(e.code, errc::local_operation_error);
        qp.as_connectable()->disconnected(e);
        ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
        qp.close();
    }
    run();
}

TEST_F(queue_pair_lifecycle, gives_the_counters_of_its_device) {
    auto qp = connected();
    qp.async_send(small(), [](error_code) {});
    device_queue_pair_counters counters;
    ASSERT_TRUE(qp.counters(counters));
    EXPECT_EQ(counters.messages_sent, 1U);
    dev->complete_send(0);
    run();
}

} // namespace
} // namespace rocio::test
