// A handler on the data plane's own thread blocks; the status, on another thread, tells of it and goes on.

#include "status_server_fixture.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <latch>
#include <memory>
#include <set>

namespace {

using namespace rocio;
using namespace std::chrono_literals;
using asio::use_awaitable;
using steady_clock = std::chrono::steady_clock;

constexpr auto blocked_for = 10s;

busy_poll_thread_config plane_config() {
    busy_poll_thread_config c;
    c.name = "plane";
    c.policy = polling_policy::hybrid();
    return c;
}

/// Receives on a thread of its own; its handler of the first frame blocks until let go.
class blocking_receiver {
  public:
    explicit blocking_receiver(status_source& source)
        : shown_(source.add(plane_.get_executor(), "data plane", [this](status_snapshot& s) { show(s); })),
          engine_shown_(source.add([this](status_snapshot& s) {
              s.engines.push_back(completion_engine::of(plane_.context()).snapshot());
          })) {
        receive_server_config config;
        config.name = "camera";
        config.device = open_device("soft:127.50.1.1");
        asio::post(plane_.get_executor(), [this, config] {
            listener_ = std::make_unique<tcp_listener>(plane_.context());
            server_ = std::make_unique<receive_server>(plane_.context(), config);
            endpoint_.set_value(listener_->local_endpoint());
            asio::co_spawn(plane_.get_executor(), receive(), ended());
        });
    }
    ~blocking_receiver() {
        let_go();
        std::promise<void> gone;
        asio::post(plane_.get_executor(), [&] {
            shown_.reset();
            server_->stop();
            listener_.reset();
            gone.set_value();
        });
        gone.get_future().wait();
        over_.get_future().wait();
        plane_.stop();
        plane_.join();
        server_.reset();
    }

    asio::ip::tcp::endpoint endpoint() { return endpoint_.get_future().get(); }
    bool blocks() const noexcept { return blocks_; }
    std::uint64_t frames() const noexcept { return frames_; }
    void let_go() {
        if (!gone_on_.exchange(true)) go_on_.count_down();
    }

  private:
    asio::awaitable<void> receive() {
        auto view = server_->all();
        auto peer = co_await listener_->async_accept(use_awaitable);
        co_await server_->async_connect(std::move(peer), use_awaitable);
        for (;;) {
            error_code ec;
            const auto frame = co_await view.async_receive(asio::redirect_error(use_awaitable, ec));
            if (ec) co_return;
            if (frames_++ != 0) continue;
            blocks_ = true;
            go_on_.wait();
            blocks_ = false;
        }
    }
    std::function<void(std::exception_ptr)> ended() {
        return [this](const std::exception_ptr&) { over_.set_value(); };
    }
    void show(status_snapshot& s) const {
        if (server_) s.streams.push_back(server_->snapshot());
    }

    std::promise<asio::ip::tcp::endpoint> endpoint_{};
    std::promise<void> over_{};
    std::atomic<std::uint64_t> frames_{0};
    std::atomic<bool> blocks_{false}, gone_on_{false};
    std::latch go_on_{1};
    std::unique_ptr<tcp_listener> listener_{};
    std::unique_ptr<receive_server> server_{};
    busy_poll_thread plane_{plane_config()};
    status_registration shown_;
    status_registration engine_shown_;
};

struct sending_end {
    explicit sending_end(asio::io_context& c)
        : context(c), dev(open_device("soft:127.50.1.2")), memory(dev, 4096), pair(c, dev) {}

    asio::awaitable<void> send_to(asio::ip::tcp::endpoint where, std::uint32_t frames) {
        co_await async_connect(pair, tcp_connector(context, where), use_awaitable);
        for (std::uint32_t n = 0; n < frames; ++n)
            co_await pair.async_send_with_immediate(memory.buffer(0, 64), n << 8, use_awaitable);
    }

    asio::io_context& context;
    std::shared_ptr<device> dev;
    memory_region memory;
    queue_pair pair;
};

class blocked_plane : public test::status_server_fixture {
  protected:
    std::set<std::string> stale_parts(const boost::json::value& status) {
        std::set<std::string> names;
        for (const auto& part : status.at("stale").as_array())
            names.emplace(part.at("part").as_string().c_str());
        return names;
    }
};

TEST_F(blocked_plane, is_shown_as_stale_for_ten_seconds_by_a_status_that_answers_at_once) {
    blocking_receiver receiver(source);
    status_server_config fresh; // no answer is a shared one
    fresh.routes.snapshot_age = std::chrono::milliseconds(0);
    serve(fresh);
    sending_end sender(context);
    // It fails: to its peer a context that does not run is a NIC that does not answer.
    asio::co_spawn(context, sender.send_to(receiver.endpoint(), 20), [](const std::exception_ptr&) {});
    ASSERT_TRUE(pump([&] { return receiver.blocks(); }));

    auto asker = client();
    const auto begin = steady_clock::now();
    steady_clock::duration slowest{};
    int answers = 0, told = 0;
    while (steady_clock::now() - begin < blocked_for) {
        const auto asked = steady_clock::now();
        const auto status = test::json_of(get(asker, "/status"));
        slowest = std::max(slowest, steady_clock::now() - asked);
        ++answers;
        const auto stale = stale_parts(status);
        if (stale.contains("data plane") && stale.contains("engine plane")) ++told;
    }
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(slowest).count();
    std::cout << answers << " answers in ten seconds, the slowest after " << ms << " ms\n";
    EXPECT_LT(slowest, 2s); // 100 ms on a quiet machine: the deadline of 50 ms and the answer
    EXPECT_GT(told, answers / 2) << "of " << answers;
    EXPECT_EQ(get(asker, "/readyz").status, 503U);

    receiver.let_go();
    ASSERT_TRUE(pump([&] { return !receiver.blocks(); }));
    ASSERT_TRUE(pump([&] { return stale_parts(test::json_of(get(asker, "/status"))).empty(); }));
    const auto status = test::json_of(get(asker, "/status"));
    EXPECT_GE(status.at("streams").at(0).at("rx_frame_count").to_number<int>(), 1);
    EXPECT_EQ(get(asker, "/readyz").status, 200U);
    sender.pair.close();
    context.run_for(10ms);
}

} // namespace
