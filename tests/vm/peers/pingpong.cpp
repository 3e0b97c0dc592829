// The counterpart of rdma-core's ibv_rc_pingpong and ibv_uc_pingpong on any rocio device.

#include "pingpong_handshake.hpp"
#include "run_within.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace rocio;

namespace {

struct settings {
    std::string device = "soft:127.0.0.2";
    std::string listen = "0.0.0.0:18515";
    std::string server{};
    std::string path_mtu = "1024";
    std::uint32_t iterations = 1000;
    std::uint32_t size = 4096;
    std::optional<std::uint32_t> gid_index{};
    bool unreliable = false;
};

class pingpong {
  public:
    pingpong(asio::io_context& context, const settings& s)
        : settings_(s),
          device_(open_device(s.device)),
          memory_(device_, 2 * std::size_t{s.size}),
          pair_(context, device_, configuration(s)) {}

    asio::awaitable<void> run() {
        std::optional<asio::ip::tcp::endpoint> server;
        if (!settings_.server.empty()) server = parse_endpoint(settings_.server);
        test::pingpong_handshake how(pair_.get_executor(), server, parse_endpoint(settings_.listen),
                                     parse_mtu(settings_.path_mtu).value());
        receive();
        co_await async_connect(pair_, std::move(how), use_awaitable);
        for (std::uint32_t i = 0; i < settings_.iterations; ++i) {
            if (server) co_await send(i);
            co_await arrived(i);
            if (!server) co_await send(i);
        }
    }

  private:
    static queue_pair_config configuration(const settings& s) {
        queue_pair_config c;
        c.type = s.unreliable ? queue_pair_type::uc : queue_pair_type::rc;
        c.path_mtu = parse_mtu(s.path_mtu);
        c.gid_index = s.gid_index;
        return c;
    }
    registered_buffer inbox() const { return memory_.buffer(0, settings_.size); }
    registered_buffer outbox() const { return memory_.buffer(settings_.size, settings_.size); }

    /// Posted before the peer can send: in these programs nobody waits for a receive.
    void receive() {
        pair_.async_receive(inbox(), [this](const error_code& ec, const received_message& m) {
            failure_ = ec;
            if (!ec && m.size != settings_.size) failure_ = errc::local_length_error;
            ++received_;
            news_.cancel();
        });
    }
    asio::awaitable<void> arrived(std::uint32_t i) {
        while (received_ <= i) {
            news_.expires_at(asio::steady_timer::time_point::max());
            error_code ignored;
            co_await news_.async_wait(asio::redirect_error(use_awaitable, ignored));
        }
        if (failure_) throw boost::system::system_error(failure_);
        if (i + 1 < settings_.iterations) receive();
    }
    asio::awaitable<void> send(std::uint32_t) { co_await pair_.async_send(outbox(), use_awaitable); }

    settings settings_;
    std::shared_ptr<device> device_;
    memory_region memory_;
    queue_pair pair_;
    asio::steady_timer news_{pair_.get_executor()};
    std::uint32_t received_ = 0;
    error_code failure_{};
};

int run(const settings& s) {
    asio::io_context context;
    pingpong game(context, s);
    test::run_within(std::chrono::seconds(100), context, game.run());
    std::cout << s.iterations << " iterations of " << s.size << " bytes, path MTU " << s.path_mtu << "\n";
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    CLI::App app{"Plays ping-pong with ibv_rc_pingpong or ibv_uc_pingpong"};
    app.add_option("--device", s.device, "Device")->capture_default_str();
    app.add_option("--gid-index", s.gid_index, "GID index");
    app.add_option("--listen", s.listen, "Where a client connects to")->capture_default_str();
    app.add_option("--mtu", s.path_mtu, "Path MTU")->capture_default_str();
    app.add_option("--iterations", s.iterations, "Messages each way")->capture_default_str();
    app.add_option("--size", s.size, "Bytes of a message")->capture_default_str();
    app.add_flag("--uc", s.unreliable, "Unreliable connection");
    app.add_option("server", s.server, "ADDRESS:PORT of the other program; without it wait for one");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(s);
    } catch (const std::exception& e) {
        std::cerr << "pingpong: " << e.what() << "\n";
        return 1;
    }
}
