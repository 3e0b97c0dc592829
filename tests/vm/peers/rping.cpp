// The counterpart of rdmacm-utils' rping: one side advertises memory, the other READs and WRITEs it.
//
// Each round: the client tells where its message is; the server READs it and says so; the client tells where
// it wants the message back; the server WRITEs it there and says so; the client compares. Every message
// between them is 16 bytes: address (8), rkey (4), length (4), big-endian; the server's are read as a mere
// "go on".

#include "run_within.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace rocio;

namespace {

struct settings {
    std::string device = "rxe0";
    std::string listen = "0.0.0.0:7174";
    std::string server{};
    std::uint32_t count = 1000;
    std::uint32_t size = 64;
};

constexpr std::size_t advert_size = 16;

void put(std::span<std::byte> out, std::uint64_t value) {
    for (std::size_t i = out.size(); i-- > 0; value >>= 8) out[i] = std::byte(value & 0xFF);
}

std::uint64_t get(std::span<const std::byte> in) {
    std::uint64_t value = 0;
    for (const auto b : in) value = value << 8 | std::to_integer<std::uint64_t>(b);
    return value;
}

class rping {
  public:
    rping(asio::io_context& context, const settings& s)
        : settings_(s),
          device_(open_device(s.device)),
          memory_(
              device_, 2 * std::size_t{s.size} + 2 * advert_size,
              {memory_access::local_write | memory_access::remote_write | memory_access::remote_read, {}}),
          pair_(context, device_, configuration()),
          news_(context) {}

    asio::awaitable<void> serve() {
        cm_acceptor_config listening;
        listening.endpoint = parse_endpoint(settings_.listen);
        listening.handshake.private_data.emplace(); // rping's own are empty
        cm_acceptor acceptor(pair_.get_executor(), device_, listening);
        std::cout << "listening" << std::endl;
        auto client = co_await acceptor.async_accept(use_awaitable);
        receive();
        co_await connect(std::move(client));
        for (std::uint32_t i = 0; i < settings_.count; ++i) {
            const auto source = co_await advertised();
            co_await pair_.async_read(bytes(source.size), source, use_awaitable);
            check_start(i);
            co_await go_on();
            const auto sink = co_await advertised();
            co_await pair_.async_write(bytes(sink.size), sink, use_awaitable);
            co_await go_on();
        }
        error_code ended;
        co_await pair_.async_wait_closed(asio::redirect_error(use_awaitable, ended));
        std::cout << "ended: " << ended.message() << "\n";
    }

    asio::awaitable<void> call() {
        cm_config how;
        how.private_data.emplace();
        receive();
        co_await connect(cm_connector(pair_.get_executor(), device_, parse_endpoint(settings_.server), how));
        for (std::uint32_t i = 0; i < settings_.count; ++i) {
            fill(i);
            co_await advertise(0);
            co_await arrived();
            co_await advertise(settings_.size);
            co_await arrived();
            if (!std::ranges::equal(bytes().bytes(), returned().bytes()))
                throw std::runtime_error("round " + std::to_string(i) + ": another message came back");
        }
        pair_.close();
    }

  private:
    static queue_pair_config configuration() {
        queue_pair_config c;
        c.remote_access = memory_access::remote_read | memory_access::remote_write;
        return c;
    }
    registered_buffer bytes() const { return memory_.buffer(0, settings_.size); }
    registered_buffer bytes(std::size_t n) const {
        if (n > settings_.size) throw std::runtime_error("the client's message is longer than ours may be");
        return memory_.buffer(0, n);
    }
    registered_buffer returned() const { return memory_.buffer(settings_.size, settings_.size); }
    registered_buffer outbox() const { return memory_.buffer(2 * std::size_t{settings_.size}, advert_size); }
    registered_buffer inbox() const {
        return memory_.buffer(2 * std::size_t{settings_.size} + advert_size, advert_size);
    }

    asio::awaitable<void> connect(any_handshake how) {
        error_code ec;
        co_await async_connect(pair_, std::move(how), asio::redirect_error(use_awaitable, ec));
        if (ec) throw std::runtime_error(pair_.last_error().message());
    }

    /// Posted before the other side can send: it does not wait for a receive.
    void receive() {
        pair_.async_receive(inbox(), [this](const error_code& ec, const received_message& m) {
            failure_ = ec;
            if (!ec && m.size != advert_size) failure_ = errc::local_length_error;
            has_message_ = true;
            news_.cancel();
        });
    }
    asio::awaitable<void> arrived() {
        while (!has_message_) {
            news_.expires_at(asio::steady_timer::time_point::max());
            error_code ignored;
            co_await news_.async_wait(asio::redirect_error(use_awaitable, ignored));
        }
        if (failure_) throw boost::system::system_error(failure_);
        has_message_ = false;
        in_.assign(inbox().bytes().begin(), inbox().bytes().end());
        receive();
    }
    asio::awaitable<remote_buffer> advertised() {
        co_await arrived();
        const std::span<const std::byte> in(in_);
        const remote_region region{get(in.first(8)), get(in.subspan(12, 4)),
                                   rkey{static_cast<std::uint32_t>(get(in.subspan(8, 4)))}};
        co_return region.buffer(0, region.length);
    }
    asio::awaitable<void> advertise(std::size_t offset) {
        const auto out = outbox().bytes();
        put(out.first(8), memory_.remote().address + offset);
        put(out.subspan(8, 4), memory_.remote().key.value);
        put(out.subspan(12, 4), settings_.size);
        co_await pair_.async_send(outbox(), use_awaitable);
    }
    asio::awaitable<void> go_on() { co_await pair_.async_send(outbox(), use_awaitable); }

    static std::string start_of(std::uint32_t round) { return "rdma-ping-" + std::to_string(round) + ": "; }
    void fill(std::uint32_t round) {
        const auto text = start_of(round);
        const auto out = bytes().bytes();
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = std::byte(i < text.size() ? text[i] : 'A' + (round + i) % 58);
        out.back() = std::byte{0}; // rping's server returns a text, up to its end
    }
    void check_start(std::uint32_t round) const {
        const auto text = start_of(round);
        const auto in = bytes().bytes();
        const std::string is(reinterpret_cast<const char*>(in.data()), std::min(text.size(), in.size()));
        if (is != text) throw std::runtime_error("READ gave '" + is + "' instead of '" + text + "'");
    }

    settings settings_;
    std::shared_ptr<device> device_;
    memory_region memory_;
    queue_pair pair_;
    asio::steady_timer news_;
    std::vector<std::byte> in_{};
    error_code failure_{};
    bool has_message_ = false;
};

} // namespace

int main(int argc, char** argv) {
    settings s;
    CLI::App app{"Plays rping, as server or as client"};
    app.add_option("--device", s.device, "Device")->capture_default_str();
    app.add_option("--listen", s.listen, "Where a client connects to by rdma_cm")->capture_default_str();
    app.add_option("--count", s.count, "Rounds")->capture_default_str();
    app.add_option("--size", s.size, "Bytes of a message")->capture_default_str();
    app.add_option("server", s.server, "ADDRESS:PORT of an rping server; without it wait for a client");
    CLI11_PARSE(app, argc, argv);
    try {
        asio::io_context context;
        rping game(context, s);
        test::run_within(std::chrono::seconds(100), context, s.server.empty() ? game.serve() : game.call());
        std::cout << s.count << " rounds of " << s.size << " bytes, READ and WRITE\n";
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "rping: " << e.what() << "\n";
        return 1;
    }
}
