#include "instant_device.hpp"
#include "paths.hpp"

#include <rocio/stream/receive_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <deque>

namespace rocio::test {
namespace {

using typed_executor = asio::io_context::executor_type;

/// Receive servers on one spinning context, all connected.
template <class Executor>
struct streams_end {
    streams_end(std::size_t n, std::uint32_t depth) {
        completion_engine::of(context).set_policy(polling_policy::spin());
        receive_server_config config;
        config.device = dev;
        config.max_payload = 64;
        config.rx_queue_depth = depth;
        for (std::size_t i = 0; i < n; ++i) {
            auto& server = servers.emplace_back(Executor(context.get_executor()), config);
            local_parameters ours;
            throw_if(server.core()->prepare(ours));
            throw_if(server.core()->establish(some_peer()));
            server.core()->connected(nullptr);
        }
    }

    std::shared_ptr<instant::device> dev = std::make_shared<instant::device>();
    asio::io_context context;
    std::deque<basic_receive_server<Executor>> servers;
};

constexpr std::uint32_t one_depth = 256; ///< As the default of receive_server.

/// Takes one frame after the other.
template <class Executor>
class frame_taker {
  public:
    frame_taker(basic_receive_server<Executor>& server, user::meter& count) noexcept
        : server_(&server), count_(&count) {}
    void start() { server_->async_receive(frame_taker(*this)); }
    void operator()(error_code ec, frame) {
        if (ec) return;
        if (count_->take(1)) start();
    }

  private:
    basic_receive_server<Executor>* server_;
    user::meter* count_;
};

template <class Executor, std::size_t Streams>
void take_by_callback(user::meter& count) {
    streams_end<Executor> end(Streams, Streams == 1 ? one_depth : 16);
    for (auto& server : end.servers) frame_taker<Executor>(server, count).start();
    while (!count.done()) end.context.run_one();
}

template <class Executor>
asio::awaitable<void, Executor> take_frames(basic_receive_server<Executor>& server, user::meter& count) {
    constexpr asio::use_awaitable_t<Executor> use_awaitable;
    for (bool more = true; more;) {
        const auto f = co_await server.async_receive(use_awaitable);
        more = count.take(1);
    }
}

template <class Executor>
void take_by_coroutine(user::meter& count) {
    streams_end<Executor> end(1, one_depth);
    auto& server = end.servers.front();
    asio::co_spawn(Executor(end.context.get_executor()), take_frames<Executor>(server, count),
                   asio::detached);
    while (!count.done()) end.context.run_one();
}

/// Takes frames in batches of at most 16.
class batch_taker {
  public:
    using server_type = basic_receive_server<typed_executor>;
    batch_taker(server_type& server, std::span<frame> frames, user::meter& count) noexcept
        : server_(&server), frames_(frames), count_(&count) {}
    void start() { server_->async_receive_some(frames_, batch_taker(*this)); }
    void operator()(error_code ec, std::size_t n) {
        if (ec) return;
        if (count_->take(n)) start();
    }

  private:
    server_type* server_;
    std::span<frame> frames_;
    user::meter* count_;
};

/// Takes frames in batches that have one lease.
class lease_taker {
  public:
    using server_type = basic_receive_server<typed_executor>;
    lease_taker(server_type& server, user::meter& count) noexcept : server_(&server), count_(&count) {}
    void start() { server_->async_receive_batch(16, lease_taker(*this)); }
    void operator()(error_code ec, frame_batch batch) {
        if (ec) return;
        if (count_->take(batch.size())) start();
    }

  private:
    server_type* server_;
    user::meter* count_;
};

void take_by_lease(user::meter& count) {
    streams_end<typed_executor> end(1, one_depth);
    lease_taker(end.servers.front(), count).start();
    while (!count.done()) end.context.run_one();
}

void take_by_batch(user::meter& count) {
    streams_end<typed_executor> end(1, one_depth);
    std::array<frame, 16> frames;
    batch_taker(end.servers.front(), frames, count).start();
    while (!count.done()) end.context.run_one();
}

} // namespace

std::vector<measured_path> stream_paths() {
    using asio::any_io_executor;
    return {
        {"frame_callback", "receive_server::async_receive() by callback, typed executor",
         take_by_callback<typed_executor, 1>},
        {"frame_callback_any", "the same on any_io_executor", take_by_callback<any_io_executor, 1>},
        {"frame_coroutine", "async_receive() in a coroutine, typed executor",
         take_by_coroutine<typed_executor>},
        {"frame_coroutine_any", "the same on any_io_executor", take_by_coroutine<any_io_executor>},
        {"frames_by_16", "async_receive_some() of 16 frames by callback, typed executor", take_by_batch},
        {"frame_batches", "async_receive_batch() of 16 frames by callback, typed executor", take_by_lease},
        {"frame_16_servers", "frame_callback on 16 servers of one context",
         take_by_callback<typed_executor, 16>},
        {"frame_256_servers", "the same on 256", take_by_callback<typed_executor, 256>},
        {"frame_1024_servers", "the same on 1024", take_by_callback<typed_executor, 1024>},
    };
}

} // namespace rocio::test
