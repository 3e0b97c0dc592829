// The context dies with operations pending: handlers are destroyed, none is called, and nothing starts
// afterwards.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/device_monitor.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

/// A device and what is left of it when a context with work has died.
class engine_shutdown : public ::testing::Test {
  protected:
    void TearDown() override {
        EXPECT_EQ(dev->live_queue_pairs(), 0U);
        EXPECT_EQ(dev->live_completion_queues(), 0U);
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty());
    }

    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    memory_region memory{dev, 4096};
    registered_buffer small() { return memory.buffer(0, 64); }
};

/// Says when a handler that holds it is destroyed.
struct witness {
    std::shared_ptr<int> alive = std::make_shared<int>(0);
    std::weak_ptr<int> watch() const { return alive; }
};

template <class Handler>
auto holding(const witness& w, Handler handler) {
    return [alive = w.alive, handler](auto&&...) mutable { handler(); };
}

void must_not_be_called() {
    ADD_FAILURE() << "a handler was called at shutdown";
}

TEST_F(engine_shutdown, destroys_every_kind_of_pending_handler_without_calling_it) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        queue_pair qp(context, dev, {.send_depth = 2, .receive_depth = 2});
        ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
        completion_queue raw(context, dev, 64);
        device_monitor monitor(context, dev);
        witness w;
        alive = w.watch();
        work_completion out[4];
        for (int i = 0; i < 5; ++i) qp.async_send(small(), holding(w, must_not_be_called));
        for (int i = 0; i < 5; ++i) qp.async_receive(small(), holding(w, must_not_be_called));
        qp.async_wait_closed(holding(w, must_not_be_called));
        raw.async_poll(out, holding(w, must_not_be_called));
        monitor.async_next_event(holding(w, must_not_be_called));
        context.poll();
        // Ready, but its turn never comes.
        dev->complete_send(0);
        queue_pair unconnected(context, dev);
        unconnected.async_send(small(), holding(w, must_not_be_called));
    }
    EXPECT_TRUE(alive.expired());
}

TEST_F(engine_shutdown, destroys_a_handler_that_owns_its_queue_pair) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        auto qp = std::make_shared<queue_pair>(context, dev);
        ASSERT_FALSE(connect_to(*qp, qpn{script_peer}));
        witness w;
        alive = w.watch();
        auto& pair = *qp;
        pair.async_receive(small(), [qp, w](error_code, received_message) { must_not_be_called(); });
        pair.async_wait_closed([qp, w](error_code) { must_not_be_called(); });
        qp.reset();
        context.poll();
    }
    EXPECT_TRUE(alive.expired());
}

TEST_F(engine_shutdown, destroys_handlers_that_own_everything_else_of_rocio) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        auto raw = std::make_shared<completion_queue>(context, dev, 64);
        auto monitor = std::make_shared<device_monitor>(context, dev);
        auto raw_pair =
            std::make_shared<queue_pair>(*raw, queue_pair_config{.send_depth = 4, .receive_depth = 4});
        auto out = std::make_shared<std::array<work_completion, 4>>();
        witness w;
        alive = w.watch();
        raw->async_poll(*out, [raw, raw_pair, out, w](error_code, std::size_t) { must_not_be_called(); });
        monitor->async_next_event([monitor, w](error_code, device_event) { must_not_be_called(); });
    }
    EXPECT_TRUE(alive.expired());
}

TEST_F(engine_shutdown, destroys_coroutines_with_their_objects_and_timers) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        witness w;
        alive = w.watch();
        const auto serve = [this](asio::io_context& ctx, witness mine) -> asio::awaitable<void> {
            queue_pair qp(ctx, dev);
            asio::steady_timer timer(ctx, std::chrono::hours(1));
            timer.async_wait([mine](error_code) { must_not_be_called(); });
            EXPECT_FALSE(connect_to(qp, qpn{script_peer}));
            co_await qp.async_receive(small(), asio::use_awaitable);
            must_not_be_called();
        };
        asio::co_spawn(context, serve(context, std::move(w)), asio::detached);
        context.poll();
        EXPECT_EQ(dev->posted_receives(), 1U);
    }
    EXPECT_TRUE(alive.expired());
}

/// Starts operations on its queue pair when it is destroyed.
class restarter {
  public:
    restarter(std::shared_ptr<queue_pair> qp, registered_buffer buffer, witness w)
        : qp_(std::move(qp)), buffer_(buffer), witness_(std::move(w)) {}
    restarter(restarter&&) = default;
    ~restarter() {
        if (!qp_) return;
        auto& qp = *qp_;
        qp.async_receive(buffer_, [w = witness_](error_code, received_message) { must_not_be_called(); });
        qp.async_send(buffer_, [w = witness_](error_code) { must_not_be_called(); });
        qp.async_wait_closed([w = witness_](error_code) { must_not_be_called(); });
        qp.cancel();
        qp.close();
        local_parameters ours;
        EXPECT_TRUE(qp.as_connectable()->prepare(ours));
        EXPECT_EQ(qp.state(), queue_pair_state::error);
    }
    void operator()(error_code, received_message) { must_not_be_called(); }

  private:
    std::shared_ptr<queue_pair> qp_;
    registered_buffer buffer_;
    witness witness_;
};

TEST_F(engine_shutdown, makes_every_entry_point_a_no_op) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        auto qp = std::make_shared<queue_pair>(context, dev);
        ASSERT_FALSE(connect_to(*qp, qpn{script_peer}));
        witness w;
        alive = w.watch();
        auto& pair = *qp;
        pair.async_receive(small(), restarter(std::move(qp), small(), std::move(w)));
    }
    EXPECT_TRUE(alive.expired());
}

TEST_F(engine_shutdown, lets_a_device_go_to_another_context) {
    dev = std::make_shared<scripted_device>(scripted_device_config{.exclusive = true});
    for (int round = 0; round < 3; ++round) {
        memory_region region(dev, 4096);
        asio::io_context context;
        auto qp = std::make_shared<queue_pair>(context, dev);
        ASSERT_FALSE(connect_to(*qp, qpn{script_peer}));
        auto& pair = *qp;
        pair.async_receive(region.buffer(0, 64),
                           [qp](error_code, received_message) { must_not_be_called(); });
        qp.reset();
        context.poll();
    }
}

TEST_F(engine_shutdown, of_a_spinning_context_is_no_different) {
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        completion_engine::of(context).set_policy(polling_policy::spin());
        auto qp = std::make_shared<queue_pair>(context, dev);
        ASSERT_FALSE(connect_to(*qp, qpn{script_peer}));
        witness w;
        alive = w.watch();
        auto& pair = *qp;
        pair.async_receive(small(), [qp, w](error_code, received_message) { must_not_be_called(); });
        qp.reset();
        for (int i = 0; i < 10; ++i) context.run_one();
    }
    EXPECT_TRUE(alive.expired());
}

TEST_F(engine_shutdown, after_an_exception_destroys_what_was_left_of_the_turn) {
    int called = 0;
    std::weak_ptr<int> alive;
    {
        asio::io_context context;
        queue_pair qp(context, dev);
        ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
        witness w;
        alive = w.watch();
        for (int i = 0; i < 10; ++i) {
            qp.async_receive(small(), [&called, w](error_code, received_message) {
                ++called;
                throw std::runtime_error("first");
            });
        }
        for (int i = 0; i < 10; ++i) dev->complete_receive(0, bytes_of("x"));
        EXPECT_THROW(context.run(), std::runtime_error);
    }
    EXPECT_EQ(called, 1);
    EXPECT_TRUE(alive.expired());
}

} // namespace
} // namespace rocio::test
