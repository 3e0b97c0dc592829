// The server that `ib_send_lat -R` talks to. The client makes two connections: over the first the two
// programs tell each other what they are, the client first, and each message is answered by one of the same
// form; over the second the messages that are measured go to and fro. A server that sends every message back
// agrees with it in everything.

#include "run_within.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <iostream>
#include <list>

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace rocio;

namespace {

struct settings {
    std::string device = "rxe0";
    std::string listen = "0.0.0.0:18515";
    std::uint32_t size = 64;
    std::uint32_t connections = 2;
};

/// Sends every message back.
class echo {
  public:
    echo(asio::io_context& context, const std::shared_ptr<device>& dev, std::uint32_t size)
        : size_(std::max(size, longest_line)),
          memory_(dev, std::size_t{slots} * size_),
          pair_(context, dev) {}

    asio::awaitable<void> connect(cm_peer client) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) receive(slot);
        error_code ec;
        co_await async_connect(pair_, std::move(client), asio::redirect_error(use_awaitable, ec));
        if (ec) throw std::runtime_error(pair_.last_error().message());
    }
    asio::awaitable<void> closed() {
        error_code ec;
        co_await pair_.async_wait_closed(asio::redirect_error(use_awaitable, ec));
        if (ec != errc::peer_closed) throw boost::system::system_error(ec);
    }
    std::uint64_t messages() const { return messages_; }

  private:
    static constexpr std::uint32_t slots = 64, longest_line = 1024;

    void receive(std::uint32_t slot) {
        pair_.async_receive(
            buffer(slot, size_), [this, slot](const error_code& ec, const received_message& m) {
                if (ec) return;
                ++messages_;
                pair_.async_send(buffer(slot, m.size), [this, slot](const error_code& failed) {
                    if (!failed) receive(slot);
                });
            });
    }
    registered_buffer buffer(std::uint32_t slot, std::size_t n) const {
        return memory_.buffer(std::size_t{slot} * size_, n);
    }

    std::uint32_t size_;
    memory_region memory_;
    queue_pair pair_;
    std::uint64_t messages_ = 0;
};

asio::awaitable<void> serve(asio::io_context& context, const settings& s) {
    const auto dev = open_device(s.device);
    cm_acceptor_config listening;
    listening.endpoint = parse_endpoint(s.listen);
    listening.handshake.private_data.emplace();
    cm_acceptor acceptor(context, dev, listening);
    std::cout << "listening" << std::endl;
    std::list<echo> clients;
    while (clients.size() < s.connections) {
        auto client = co_await acceptor.async_accept(use_awaitable);
        clients.emplace_back(context, dev, s.size);
        co_await clients.back().connect(std::move(client));
    }
    for (auto& client : clients) {
        co_await client.closed();
        std::cout << client.messages() << " messages" << std::endl;
    }
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    CLI::App app{"Serves one `ib_send_lat -R`"};
    app.add_option("--device", s.device, "Device")->capture_default_str();
    app.add_option("--listen", s.listen, "ADDRESS:PORT of rdma_cm")->capture_default_str();
    app.add_option("--size", s.size, "Bytes of the largest message")->capture_default_str();
    app.add_option("--connections", s.connections, "Then it waits for their ends")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        asio::io_context context;
        test::run_within(std::chrono::seconds(30), context, serve(context, s));
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "perftest_server: " << e.what() << "\n";
        return 1;
    }
}
