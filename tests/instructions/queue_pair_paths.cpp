#include "instant_device.hpp"
#include "paths.hpp"

#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <deque>

namespace rocio::test {
namespace {

using typed_queue_pair = basic_queue_pair<asio::io_context::executor_type>;

/// Queue pairs on one spinning context, all connected.
struct pairs_end {
    explicit pairs_end(std::size_t n, std::uint32_t depth) {
        completion_engine::of(context).set_policy(polling_policy::spin());
        queue_pair_config config;
        config.send_depth = config.receive_depth = depth;
        for (std::size_t i = 0; i < n; ++i) {
            auto& qp = pairs.emplace_back(context, dev, config);
            local_parameters ours;
            throw_if(qp.as_connectable()->prepare(ours));
            throw_if(qp.as_connectable()->establish(some_peer()));
        }
    }

    std::shared_ptr<instant::device> dev = std::make_shared<instant::device>();
    asio::io_context context;
    asio::executor_work_guard<asio::io_context::executor_type> busy{context.get_executor()};
    memory_region region{dev, 4096};
    std::deque<typed_queue_pair> pairs;
};

/// The part of sending that is the application's call: async_send() up to the device.
void post_send(user::meter& count) {
    constexpr std::uint32_t batch = 64;
    pairs_end end(1, batch);
    auto& qp = end.pairs.front();
    const auto buffer = end.region.buffer(0, 32);
    std::uint32_t left = 0;
    const auto round = [&](bool measured) {
        left = batch;
        if (measured) count.begin();
        for (std::uint32_t i = 0; i < batch; ++i) qp.async_send(buffer, [&left](error_code) { --left; });
        if (measured) count.end(), count.count(batch);
        while (left > 0) end.context.run_one();
    };
    for (std::uint64_t sent = 0; sent < user::meter::warm_up; sent += batch) round(false);
    while (count.messages() < user::meter::measured) round(true);
}

/// The rest of it: from the device's completion queue to the handler.
void complete_send(user::meter& count) {
    constexpr std::uint32_t batch = 64;
    pairs_end end(1, batch);
    auto& qp = end.pairs.front();
    const auto buffer = end.region.buffer(0, 32);
    std::uint32_t left = 0;
    const auto round = [&](bool measured) {
        left = batch;
        for (std::uint32_t i = 0; i < batch; ++i) qp.async_send(buffer, [&left](error_code) { --left; });
        if (measured) count.begin();
        while (left > 0) end.context.run_one();
        if (measured) count.end(), count.count(batch);
    };
    for (std::uint64_t sent = 0; sent < user::meter::warm_up; sent += batch) round(false);
    while (count.messages() < user::meter::measured) round(true);
}

/// Receives of one queue pair, each started again by its handler.
class receiver {
  public:
    receiver(typed_queue_pair& qp, registered_buffer buffer, user::meter& count) noexcept
        : qp_(&qp), buffer_(buffer), count_(&count) {}
    void start() { qp_->async_receive(buffer_, receiver(*this)); }
    void operator()(error_code ec, received_message) {
        if (ec) return;
        if (count_->take(1)) start();
    }

  private:
    typed_queue_pair* qp_;
    registered_buffer buffer_;
    user::meter* count_;
};

/// One message at a time there and back: what came is answered, and its receive posted again.
class answerer {
  public:
    answerer(typed_queue_pair& qp, registered_buffer in, registered_buffer out, user::meter& count) noexcept
        : qp_(qp), in_(in), out_(out), count_(count) {}
    void receive() { qp_.async_receive(in_, received{this}); }

  private:
    struct received {
        answerer* self;
        void operator()(error_code ec, received_message) const {
            if (!ec) self->answer();
        }
    };
    void answer() {
        if (!count_.take(1)) return;
        qp_.async_send(out_, [](error_code) {});
        receive();
    }

    typed_queue_pair& qp_;
    registered_buffer in_, out_;
    user::meter& count_;
};

void round_trip(user::meter& count) {
    pairs_end end(1, 16);
    answerer echo(end.pairs.front(), end.region.buffer(0, 64), end.region.buffer(64, 64), count);
    echo.receive();
    while (!count.done()) end.context.run_one();
}

void receive_on(user::meter& count, std::size_t pairs) {
    constexpr std::uint32_t outstanding = 16;
    pairs_end end(pairs, outstanding);
    const auto buffer = end.region.buffer(0, 64);
    for (auto& qp : end.pairs) {
        for (std::uint32_t i = 0; i < outstanding; ++i) receiver(qp, buffer, count).start();
    }
    while (!count.done()) end.context.run_one();
}

template <std::size_t Pairs>
void receive_on_pairs(user::meter& count) {
    receive_on(count, Pairs);
}

} // namespace

std::vector<measured_path> queue_pair_paths() {
    return {
        {"post_send", "async_send() by callback, typed executor, up to the device", post_send},
        {"complete_send", "poll, route and call the handler of such a send", complete_send},
        {"receive_1_pair", "async_receive() by callback, typed executor, 1 queue pair", receive_on_pairs<1>},
        {"round_trip", "one receive at a time, answered by a send, callbacks, typed executor", round_trip},
        {"receive_16_pairs", "the same on 16 queue pairs of one context", receive_on_pairs<16>},
        {"receive_256_pairs", "the same on 256", receive_on_pairs<256>},
        {"receive_1024_pairs", "the same on 1024", receive_on_pairs<1024>},
    };
}

} // namespace rocio::test
