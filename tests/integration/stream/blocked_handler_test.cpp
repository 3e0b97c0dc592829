// A handler on the data plane's own thread blocks: stream and engine still tell of themselves on another one.

#include "io_context_fixture.hpp"
#include "test_device.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>

namespace rocio::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Sends one frame to a listener and stays connected.
class one_frame_sender {
  public:
    explicit one_frame_sender(const std::string& device)
        : dev_(open_device(test_device(device))), memory_(dev_, 64), pair_(plane_.get_executor(), dev_) {}
    void connect(const asio::ip::tcp::endpoint& where) {
        async_connect(pair_, tcp_connector(plane_.get_executor(), where), asio::use_future).get();
    }
    /// Does not wait: the acknowledgement comes with the receiver's next turn.
    void send() { pair_.async_send_with_immediate(memory_.buffer(0, 64), 1U << 8 | 5, asio::detached); }

  private:
    std::shared_ptr<device> dev_;
    memory_region memory_;
    busy_poll_thread plane_{busy_poll_thread_config{.policy = polling_policy::park()}};
    queue_pair pair_;
};

class BlockedHandler : public ::testing::TestWithParam<polling_policy> {};

TEST_P(BlockedHandler, snapshots_are_told_while_it_blocks) {
    std::promise<void> entered, let_go;
    busy_poll_thread plane(busy_poll_thread_config{.name = "plane", .policy = GetParam()});
    receive_server_config config;
    config.device = open_device(test_device("soft:127.96.40.1"));
    config.rx_queue_depth = 8;
    config.counter_wrap = 1U << 24;
    receive_server server(plane.get_executor(), config);
    auto view = server.all();
    tcp_listener listener(plane.get_executor());
    auto accepted = listener.async_accept(asio::use_future);
    one_frame_sender sender("soft:127.96.40.2");
    auto connected = std::async(std::launch::async, [&] { sender.connect(listener.local_endpoint()); });
    server.async_connect(accepted.get(), asio::use_future).get();
    connected.get();

    view.async_receive([&](const error_code& ec, frame f) {
        EXPECT_FALSE(ec);
        entered.set_value();
        let_go.get_future().wait();
        f.release();
    });
    sender.send();
    ASSERT_EQ(entered.get_future().wait_for(20s), std::future_status::ready);

    // Each of these would not come back if it waited for the handler.
    const auto stream = server.snapshot();
    const auto first = completion_engine::of(plane.context()).snapshot();
    const auto second = completion_engine::of(plane.context()).snapshot();
    const auto later = server.snapshot();
    EXPECT_EQ(stream.rx_frame_count, 1U);
    EXPECT_EQ(stream.slots_lent, 1U);
    EXPECT_GT(stream.oldest_lease, 0ns);
    EXPECT_GT(later.oldest_lease, stream.oldest_lease);
    ASSERT_EQ(stream.channels.size(), 1U);
    EXPECT_EQ(stream.channels[0].number, 5U);
    EXPECT_EQ(stream.channels[0].gaps, 0U);
    EXPECT_EQ(queue_pair_of(stream).state, "ready to send");
    EXPECT_EQ(first.name, "plane");
    EXPECT_GT(first.in_turn, 0ns);
    EXPECT_GT(second.in_turn, first.in_turn);
    EXPECT_EQ(listener.handshake().established, 1U);
    EXPECT_EQ(config.device->snapshot().port_state, "active");

    let_go.set_value();
    server.stop();
    plane.stop();
    plane.join();
    EXPECT_EQ(completion_engine::of(plane.context()).snapshot().in_turn, 0ns);
}

INSTANTIATE_TEST_SUITE_P(EachPolicy, BlockedHandler,
                         ::testing::Values(polling_policy::spin(), polling_policy::park()),
                         [](const auto& policy) { return std::string(policy.param.name()); });

} // namespace
} // namespace rocio::test
