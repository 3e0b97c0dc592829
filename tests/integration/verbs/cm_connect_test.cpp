// rdma_cm between two system devices of one process and one io_context. Needs ROCIO_TEST_DEVICE=rxe0,rxe1.

#include "test_devices.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/stream/receive_server.hpp>
#include <rocio/types/gid_table.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>

namespace rocio::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::size_t open_descriptors() {
    const auto folder = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

/// The first IPv4 (or global IPv6) address of the device.
asio::ip::address address_of(const device& dev, bool v6) {
    std::vector<gid_table_entry> table;
    throw_if(dev.gid_table(1, table));
    for (const auto& entry : table) {
        if (entry.type != gid_type::roce_v2 || entry.value.is_link_local()) continue;
        if (entry.value.is_v4_mapped() != v6) return asio::ip::make_address(entry.value.to_address_string());
    }
    throw std::runtime_error(dev.name() + " has no address of that family");
}

/// One side: device, memory, queue pair.
struct side {
    side(asio::io_context& context, const std::string& name, const queue_pair_config& config = {})
        : dev(test_devices::open(name)), memory(dev, 65536), pair(context, dev, config) {}

    std::shared_ptr<verbs_device> dev;
    memory_region memory;
    queue_pair pair;
};

class CmConnect : public ::testing::Test {
  protected:
    using result = std::optional<error_code>;

    explicit CmConnect(bool v6 = false) : v6_(v6) {}

    void run_until(const std::function<bool()>& done, std::chrono::seconds limit = 20s) {
        const auto end = steady_clock::now() + limit;
        context.restart();
        while (!done() && steady_clock::now() < end) context.run_one_for(100ms);
        ASSERT_TRUE(done()) << "not within " << limit.count() << " s";
    }
    tcp::endpoint server_address() const { return {address_of(*server.dev, v6_), 0}; }
    cm_acceptor_config listening() const {
        cm_acceptor_config c;
        c.endpoint = server_address();
        return c;
    }
    /// Whoever comes first is connected with the server's queue pair.
    void serve(cm_acceptor& acceptor, result& out) {
        acceptor.async_accept([this, &out](const error_code& ec, cm_peer peer) {
            if (ec) {
                out = ec;
                return;
            }
            async_connect(server.pair, std::move(peer), [&out](const error_code& e) { out = e; });
        });
    }
    void dial(const tcp::endpoint& to, result& out, const cm_config& config = {}) {
        async_connect(client.pair, cm_connector(context, client.dev, to, config),
                      [&out](const error_code& e) { out = e; });
    }
    void connect(const cm_acceptor_config& config) {
        cm_acceptor acceptor(context, server.dev, config);
        result served, dialled;
        serve(acceptor, served);
        dial({server_address().address(), acceptor.local_endpoint().port()}, dialled);
        run_until([&] { return served && dialled; });
        ASSERT_FALSE(*served) << server.pair.last_error().message();
        ASSERT_FALSE(*dialled) << client.pair.last_error().message();
    }
    /// A message of 10000 bytes to the other side.
    void send(side& from, side& to) {
        result sent;
        std::size_t received = 0;
        auto out = from.memory.buffer(0, 10000);
        std::ranges::fill(out.bytes(), std::byte{0x5A});
        to.pair.async_receive(to.memory.buffer(20000, 10000), [&](const error_code& ec, received_message m) {
            EXPECT_FALSE(ec) << ec.message();
            received = m.size;
        });
        from.pair.async_send(out, [&](const error_code& e) { sent = e; });
        run_until([&] { return sent && received != 0; });
        EXPECT_FALSE(*sent);
        EXPECT_EQ(received, 10000U);
        EXPECT_TRUE(std::ranges::equal(out.bytes(), to.memory.buffer(20000, 10000).bytes()));
    }

    asio::io_context context;
    side server{context, test_devices::from_environment().first};
    side client{context, test_devices::from_environment().second};

  private:
    bool v6_;
};

class CmConnectV6 : public CmConnect {
  protected:
    CmConnectV6() : CmConnect(true) {}
};

TEST_F(CmConnect, MessagesGoBothWaysAndTheGoodbyeIsHeard) {
    connect(listening());
    send(client, server);
    send(server, client);
    EXPECT_EQ(server.pair.peer().queue_pair, client.pair.number());
    EXPECT_EQ(client.pair.peer().queue_pair, server.pair.number());

    result closed;
    server.pair.async_wait_closed([&](const error_code& e) { closed = e; });
    client.pair.close();
    run_until([&] { return closed.has_value(); });
    EXPECT_EQ(*closed, errc::peer_closed) << server.pair.last_error().message();
}

TEST_F(CmConnect, ListensAtEveryAddressOfItsDevice) {
    auto config = listening();
    config.endpoint.address(asio::ip::address_v4::any());
    connect(config);
    send(client, server);
}

TEST_F(CmConnectV6, CarriesMessagesOverIpv6ThoughTheQueuePairHadChosenIpv4) {
    connect(listening());
    send(client, server);
    send(server, client);
    EXPECT_FALSE(client.pair.peer().address.is_v4_mapped());
}

TEST_F(CmConnect, ThePairConnectsAgainAndAgain) {
    for (int round = 0; round < 5; ++round) {
        connect(listening());
        send(client, server);
        result closed;
        server.pair.async_wait_closed([&](const error_code& e) { closed = e; });
        client.pair.close();
        run_until([&] { return closed.has_value(); });
    }
}

TEST_F(CmConnect, APortWhereNobodyListensRefuses) {
    result dialled;
    dial({server_address().address(), 17999}, dialled);
    run_until([&] { return dialled.has_value(); });
    EXPECT_EQ(*dialled, asio::error::connection_refused);
    EXPECT_EQ(*dialled, condition::refused);
    EXPECT_THAT(client.pair.last_error().text, HasSubstr("nobody listens for rdma_cm at "));
}

TEST_F(CmConnect, ARejectionCarriesItsReason) {
    cm_acceptor acceptor(context, server.dev, listening());
    std::optional<cm_peer> kept;
    result rejected, dialled;
    acceptor.async_accept([&](const error_code& ec, cm_peer peer) {
        ASSERT_FALSE(ec) << ec.message();
        kept.emplace(std::move(peer));
        kept->async_reject("the detector is switched off", [&](const error_code& e) { rejected = e; });
    });
    dial(acceptor.local_endpoint(), dialled);
    run_until([&] { return rejected && dialled; });
    EXPECT_FALSE(*rejected);
    EXPECT_EQ(*dialled, errc::refused_by_peer);
    EXPECT_THAT(client.pair.last_error().text, HasSubstr("refuses: the detector is switched off"));
}

TEST_F(CmConnect, MessagesThatDoNotFitAreRefusedBeforeAnythingIsSent) {
    receive_server_config config;
    config.device = server.dev;
    config.max_payload = 4096;
    config.rx_queue_depth = 4;
    receive_server receiver(context, config);
    cm_acceptor acceptor(context, server.dev, listening());
    result served, dialled;
    acceptor.async_accept([&](const error_code& ec, cm_peer peer) {
        ASSERT_FALSE(ec) << ec.message();
        receiver.async_connect(std::move(peer), [&](const error_code& e) { served = e; });
    });
    cm_config sending;
    sending.largest_message = 9000;
    dial(acceptor.local_endpoint(), dialled, sending);
    run_until([&] { return served && dialled; });
    EXPECT_EQ(*served, errc::geometry_mismatch);
    EXPECT_EQ(*dialled, errc::geometry_mismatch);
    EXPECT_THAT(client.pair.last_error().text, HasSubstr("9000"));
}

TEST_F(CmConnect, ASenderThatFindsNoReceiveWaitsForTheTimerOfTheConfiguration) {
    connect(listening());
    // rdma_cm alone leaves min_rnr_timer at 0, which is 655 ms for each of these.
    constexpr int messages = 20;
    int sent = 0;
    int received = 0;
    std::function<void()> receive = [&] {
        server.pair.async_receive(server.memory.buffer(0, 64), [&](const error_code& ec, received_message) {
            ASSERT_FALSE(ec) << ec.message();
            if (++received < messages) receive();
        });
    };
    const auto begin = steady_clock::now();
    for (int i = 0; i < messages; ++i) {
        client.pair.async_send(client.memory.buffer(0, 64), [&](const error_code& ec) {
            EXPECT_FALSE(ec) << ec.message();
            ++sent;
        });
    }
    receive();
    run_until([&] { return sent == messages && received == messages; });
    EXPECT_LT(steady_clock::now() - begin, messages * 655ms / 2);
}

TEST_F(CmConnect, AnAddressThatNobodyHasEndsWithinItsDeadline) {
    cm_config config;
    config.resolve_deadline = 500ms;
    auto nobody = server_address().address().to_v4().to_bytes();
    nobody[3] = 77;
    result dialled;
    const auto begin = steady_clock::now();
    dial({asio::ip::address_v4(nobody), 7000}, dialled, config);
    run_until([&] { return dialled.has_value(); });
    EXPECT_TRUE(*dialled == errc::handshake_timed_out || *dialled == asio::error::host_unreachable)
        << dialled->message();
    EXPECT_LT(steady_clock::now() - begin, 500ms + 5s);
    EXPECT_THAT(client.pair.last_error().text, HasSubstr(std::to_string(int{nobody[0]})));
}

TEST_F(CmConnect, AListenerThatNobodyServesEndsTheAttemptWithinItsDeadline) {
    cm_acceptor acceptor(context, server.dev, listening());
    cm_config config;
    config.connect_deadline = 300ms;
    result dialled;
    dial(acceptor.local_endpoint(), dialled, config);
    run_until([&] { return dialled.has_value(); });
    EXPECT_EQ(*dialled, errc::handshake_timed_out);
    EXPECT_THAT(client.pair.last_error().text, HasSubstr("connect_deadline"));
}

TEST_F(CmConnect, AnAcceptedPeerThatIsDroppedTurnsTheOtherSideAway) {
    cm_acceptor acceptor(context, server.dev, listening());
    result dialled;
    acceptor.async_accept([&](const error_code& ec, const cm_peer&) { EXPECT_FALSE(ec) << ec.message(); });
    dial(acceptor.local_endpoint(), dialled);
    run_until([&] { return dialled.has_value(); });
    EXPECT_EQ(*dialled, condition::refused) << dialled->message();
}

/// Cancels after so many turns of the context, whatever step it is in then.
TEST_F(CmConnect, CancelledAtEveryMomentItEndsAtOnceAndLeavesNothing) {
    bool went_through = false;
    int aborted = 0;
    const auto before = open_descriptors();
    for (int turns = 0; turns < 400 && !went_through; ++turns) {
        cm_acceptor acceptor(context, server.dev, listening());
        result served, dialled;
        serve(acceptor, served);
        asio::cancellation_signal stop;
        async_connect(client.pair, cm_connector(context, client.dev, acceptor.local_endpoint()),
                      asio::bind_cancellation_slot(stop.slot(), [&](const error_code& e) { dialled = e; }));
        context.restart();
        for (int n = 0; n < turns && !dialled; ++n) context.run_one_for(200ms);
        stop.emit(asio::cancellation_type::terminal);
        run_until([&] { return dialled.has_value(); });
        if (!*dialled)
            went_through = true;
        else
            EXPECT_EQ(*dialled, asio::error::operation_aborted) << client.pair.last_error().message();
        aborted += *dialled ? 1 : 0;
        acceptor.close();
        client.pair.close();
        run_until([&] { return served.has_value(); });
        server.pair.close();
    }
    EXPECT_TRUE(went_through);
    EXPECT_GT(aborted, 5);
    context.restart();
    context.run_for(1s);
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(CmConnect, DestroyedAtEveryMomentTheContextLeavesNothing) {
    const auto before = open_descriptors();
    for (int turns = 0; turns < 60; turns += 3) {
        asio::io_context other;
        side a(other, test_devices::from_environment().first);
        side b(other, test_devices::from_environment().second);
        cm_acceptor_config config;
        config.endpoint = {address_of(*a.dev, false), 0};
        cm_acceptor acceptor(other, a.dev, config);
        acceptor.async_accept([&](const error_code& ec, cm_peer peer) {
            if (!ec) async_connect(a.pair, std::move(peer), [](const error_code&) {});
        });
        async_connect(b.pair, cm_connector(other, b.dev, acceptor.local_endpoint()),
                      [](const error_code&) {});
        for (int n = 0; n < turns; ++n) other.run_one_for(50ms);
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(CmConnect, ManyPeersAtOnceEachGetTheirOwn) {
    constexpr int count = 12;
    cm_acceptor acceptor(context, server.dev, listening());
    std::vector<std::unique_ptr<queue_pair>> servers, clients;
    int ready = 0;
    const auto count_in = [&](const error_code& e) {
        EXPECT_FALSE(e) << e.message();
        ++ready;
    };
    std::function<void()> accept = [&] {
        acceptor.async_accept([&](const error_code& ec, cm_peer peer) {
            if (ec) return;
            servers.push_back(std::make_unique<queue_pair>(context, server.dev));
            async_connect(*servers.back(), std::move(peer), count_in);
            accept();
        });
    };
    accept();
    for (int i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<queue_pair>(context, client.dev));
        async_connect(*clients.back(), cm_connector(context, client.dev, acceptor.local_endpoint()),
                      count_in);
    }
    run_until([&] { return ready == 2 * count; }, 60s);
    std::vector<qpn> theirs, ours;
    for (const auto& pair : servers) theirs.push_back(pair->peer().queue_pair);
    for (const auto& pair : clients) ours.push_back(pair->number());
    EXPECT_THAT(theirs, ::testing::UnorderedElementsAreArray(ours));
    EXPECT_EQ(acceptor.snapshot().accepted, std::uint64_t{count});
}

TEST_F(CmConnect, TheGoodbyeMayWaitForTheEndOfTimeWait) {
    cm_acceptor acceptor(context, server.dev, listening());
    result served, dialled;
    serve(acceptor, served);
    cm_config config;
    config.time_wait_deadline = 15s;
    dial(acceptor.local_endpoint(), dialled, config);
    run_until([&] { return served && dialled; });
    ASSERT_FALSE(*dialled);
    client.pair.close();
    context.restart();
    const auto begin = steady_clock::now();
    acceptor.close();
    server.pair.close();
    context.run_for(30s); // ends when nothing is left to wait for
    EXPECT_LT(steady_clock::now() - begin, 29s);
}

} // namespace
} // namespace rocio::test
