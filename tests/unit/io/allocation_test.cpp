// The data plane allocates nothing per message, after its first rounds.

#include "allocation_counter.hpp"
#include "queue_pair_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

constexpr std::uint32_t warm_up = 4096;
constexpr std::uint32_t measured = 8192;

struct load_case {
    polling_policy policy;
    std::uint32_t outstanding;
};

/// `outstanding` sends and receives between two queue pairs, each started again when it ends.
template <class QueuePair>
class message_load {
  public:
    message_load(QueuePair& a, QueuePair& b, memory_region& memory) : a_(a), b_(b), memory_(memory) {}

    void count_from_here() {
        if (++messages_ == warm_up) counter_.reset();
        if (messages_ == warm_up + measured) allocations_ = counter_.allocations();
    }
    bool more() const noexcept { return messages_ < warm_up + measured; }
    std::uint64_t allocations() const noexcept { return allocations_; }
    registered_buffer source() const { return memory_.buffer(0, 32); }
    registered_buffer sink() const { return memory_.buffer(64, 32); }
    QueuePair& a() noexcept { return a_; }
    QueuePair& b() noexcept { return b_; }

  private:
    QueuePair& a_;
    QueuePair& b_;
    memory_region& memory_;
    allocation_counter counter_;
    std::uint32_t messages_ = 0;
    std::uint64_t allocations_ = UINT64_MAX;
};

template <class QueuePair>
class callback_receive {
  public:
    explicit callback_receive(message_load<QueuePair>& load) : load_(&load) {}
    void start() { load_->b().async_receive(load_->sink(), callback_receive(*load_)); }
    void operator()(error_code ec, received_message) {
        if (ec) return;
        load_->count_from_here();
        if (load_->more()) return start();
        load_->a().close();
        load_->b().close();
    }

  private:
    message_load<QueuePair>* load_;
};

template <class QueuePair>
class callback_send {
  public:
    explicit callback_send(message_load<QueuePair>& load) : load_(&load) {}
    void start() { load_->a().async_send(load_->source(), callback_send(*load_)); }
    void operator()(error_code ec) {
        if (!ec && load_->more()) start();
    }

  private:
    message_load<QueuePair>* load_;
};

template <class QueuePair, class Token>
asio::awaitable<void, typename QueuePair::executor_type> receive_loop(message_load<QueuePair>& load,
                                                                      Token token) {
    while (load.more()) {
        co_await load.b().async_receive(load.sink(), token);
        load.count_from_here();
    }
    load.a().close();
    load.b().close();
}

template <class QueuePair, class Token>
asio::awaitable<void, typename QueuePair::executor_type> send_loop(message_load<QueuePair>& load,
                                                                   Token token) {
    while (load.more()) co_await load.a().async_send(load.source(), token);
}

class no_allocation : public queue_pair_fixture, public ::testing::WithParamInterface<load_case> {
  protected:
    no_allocation() : queue_pair_fixture({.record_posts = false}) {}
    void SetUp() override { engine().set_policy(GetParam().policy); }
    queue_pair_config config() const {
        return {.send_depth = GetParam().outstanding, .receive_depth = GetParam().outstanding};
    }

    template <class QueuePair>
    void with_callbacks() {
        QueuePair a(context, dev, config()), b(context, dev, config());
        connect_pairs(a, b);
        message_load<QueuePair> load(a, b, memory);
        for (std::uint32_t i = 0; i < GetParam().outstanding; ++i) {
            callback_receive<QueuePair>(load).start();
            callback_send<QueuePair>(load).start();
        }
        run();
        EXPECT_EQ(load.allocations(), 0U);
    }

    template <class QueuePair, class Token>
    void with_coroutines(Token token) {
        QueuePair a(context, dev, config()), b(context, dev, config());
        connect_pairs(a, b);
        message_load<QueuePair> load(a, b, memory);
        const typename QueuePair::executor_type executor = context.get_executor();
        for (std::uint32_t i = 0; i < GetParam().outstanding; ++i) {
            // Those that are flushed at the end leave with an exception.
            asio::co_spawn(executor, receive_loop(load, token), [](std::exception_ptr) {});
            asio::co_spawn(executor, send_loop(load, token), [](std::exception_ptr) {});
        }
        run();
        EXPECT_EQ(load.allocations(), 0U);
    }

    using erased = queue_pair;
    using typed = basic_queue_pair<asio::io_context::executor_type>;
};

TEST_P(no_allocation, with_callbacks_on_any_io_executor) {
    with_callbacks<erased>();
}
TEST_P(no_allocation, with_callbacks_on_a_typed_executor) {
    with_callbacks<typed>();
}
TEST_P(no_allocation, with_use_awaitable_on_any_io_executor) {
    with_coroutines<erased>(asio::use_awaitable);
}
TEST_P(no_allocation, with_deferred_on_any_io_executor) {
    with_coroutines<erased>(asio::deferred);
}
TEST_P(no_allocation, with_use_awaitable_on_a_typed_executor) {
    with_coroutines<typed>(asio::use_awaitable_t<asio::io_context::executor_type>());
}
TEST_P(no_allocation, with_deferred_on_a_typed_executor) {
    with_coroutines<typed>(asio::deferred);
}

INSTANTIATE_TEST_SUITE_P(
    loads, no_allocation,
    ::testing::Values(load_case{polling_policy::spin(), 1}, load_case{polling_policy::spin(), 16},
                      load_case{polling_policy::spin(), 256}, load_case{polling_policy::hybrid(), 16},
                      load_case{polling_policy::park(), 1}, load_case{polling_policy::park(), 16},
                      load_case{polling_policy::park(), 256}),
    [](const auto& p) {
        return std::string(p.param.policy.name()) + "_" + std::to_string(p.param.outstanding);
    });

class woken_engine : public queue_pair_fixture {
  protected:
    woken_engine() : queue_pair_fixture({.record_posts = false}) {}
};

TEST_F(woken_engine, allocates_nothing_when_it_parks_before_every_message) {
    auto qp = connected();
    std::uint32_t received = 0;
    allocation_counter counter;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        if (i == 1000) counter.reset();
        qp.async_receive(memory.buffer(0, 64), [&](error_code, received_message) { ++received; });
        qp.async_wait_closed([](error_code) {});
        poll();
        dev->complete_receive(0, bytes_of("x"));
        while (received <= i) context.run_one();
        qp.cancel();
        poll();
    }
    EXPECT_EQ(counter.allocations(), 0U);
    EXPECT_GE(engine().snapshot().waits, 2000U);
}

} // namespace
} // namespace rocio::test
