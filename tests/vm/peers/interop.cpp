// Every operation between two processes on devices of different kinds, message after message, each checked.
// One side listens and checks what the other does to it.

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace rocio;

namespace {

constexpr auto everything =
    memory_access::local_write | memory_access::remote_write | memory_access::remote_read;

struct settings {
    std::string device = "soft:127.0.0.2";
    std::string listen{};
    std::string peer{};
    std::string path_mtu = "1024";
    bool unreliable = false;
    bool bad_key = false;
    std::uint32_t late_receive_ms = 0;
};

struct step {
    opcode op = opcode::send;
    std::uint32_t size = 0;
};

std::vector<step> steps_of(const settings& s) {
    const auto m = bytes(parse_mtu(s.path_mtu).value());
    std::vector<opcode> ops{opcode::send, opcode::send_with_immediate, opcode::rdma_write,
                            opcode::rdma_write_with_immediate};
    if (!s.unreliable) ops.push_back(opcode::rdma_read);
    std::vector<step> out;
    for (const auto op : ops)
        for (const std::uint32_t size : {0U, 1U, 3U, m - 1, m, m + 1, 5 * m + 7, 20 * m})
            out.push_back({op, size});
    return out;
}

void fill(std::span<std::byte> bytes, std::size_t number) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + number * 31 + (i >> 8));
}

void check(std::span<const std::byte> bytes, std::size_t number, const char* what) {
    std::vector<std::byte> wanted(bytes.size());
    fill(wanted, number);
    if (!std::equal(bytes.begin(), bytes.end(), wanted.begin()))
        throw std::runtime_error("step " + std::to_string(number) + ": wrong bytes " + what);
}

void expect(bool good, std::size_t number, const char* what) {
    if (!good) throw std::runtime_error("step " + std::to_string(number) + ": " + what);
}

/// A queue pair with three areas: what is sent, what is received, and what the peer may write and read.
class side {
  public:
    side(asio::io_context& context, const settings& s)
        : settings_(s),
          steps_(steps_of(s)),
          area_(32 * bytes(parse_mtu(s.path_mtu).value())),
          device_(open_device(s.device)),
          memory_(device_, 2 * area_),
          open_(device_, area_, {everything, {}}),
          pair_(context, device_, configuration()) {}

    asio::awaitable<void> run(asio::io_context& context) {
        if (!settings_.peer.empty()) {
            tcp_connector how(context, parse_endpoint(settings_.peer));
            co_await async_connect(pair_, std::move(how), use_awaitable);
            co_await act();
            co_return;
        }
        tcp_listener_config config;
        config.endpoint = parse_endpoint(settings_.listen);
        tcp_listener listener(context, config);
        if (settings_.late_receive_ms == 0) post_receive();
        auto peer = co_await listener.async_accept(use_awaitable);
        co_await async_connect(pair_, std::move(peer), use_awaitable);
        co_await watch();
    }
    /// Says goodbye; the context then runs out of work.
    void close() { pair_.close(); }
    std::size_t steps() const noexcept { return steps_.size(); }

  private:
    queue_pair_config configuration() const {
        queue_pair_config c;
        c.type = settings_.unreliable ? queue_pair_type::uc : queue_pair_type::rc;
        c.path_mtu = parse_mtu(settings_.path_mtu);
        c.remote_access = everything;
        c.region = open_.remote();
        return c;
    }
    registered_buffer outbox(std::size_t n) const { return memory_.buffer(0, n); }
    registered_buffer inbox() const { return memory_.buffer(area_, area_); }

    void post_receive() {
        arrived_ = false;
        pair_.async_receive(inbox(), [this](const error_code& ec, const received_message& m) {
            failure_ = ec;
            message_ = m;
            arrived_ = true;
            news_.cancel();
        });
    }
    asio::awaitable<received_message> next() {
        while (!arrived_) {
            news_.expires_at(asio::steady_timer::time_point::max());
            error_code ignored;
            co_await news_.async_wait(asio::redirect_error(use_awaitable, ignored));
        }
        if (failure_) throw boost::system::system_error(failure_);
        co_return message_;
    }
    asio::awaitable<void> pause(std::uint32_t milliseconds) {
        asio::steady_timer timer(pair_.get_executor(), std::chrono::milliseconds(milliseconds));
        co_await timer.async_wait(use_awaitable);
    }

    asio::awaitable<void> act() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            post_receive(); // for the answer
            co_await perform(i);
            const auto answer = co_await next();
            expect(answer.immediate == i, i, "answer to another step");
        }
        if (settings_.bad_key) co_await write_with_a_bad_key();
    }
    asio::awaitable<void> perform(std::size_t i) {
        const auto [op, size] = steps_[i];
        const auto number = static_cast<std::uint32_t>(i);
        const auto from = outbox(size);
        const auto to = pair_.peer().region.buffer(0, size);
        if (op != opcode::rdma_read) fill(from.bytes(), i);
        if (op == opcode::send) co_await pair_.async_send(from, use_awaitable);
        if (op == opcode::send_with_immediate)
            co_await pair_.async_send_with_immediate(from, number, use_awaitable);
        if (op == opcode::rdma_write_with_immediate)
            co_await pair_.async_write_with_immediate(from, to, number, use_awaitable);
        if (op == opcode::rdma_write) co_await pair_.async_write(from, to, use_awaitable);
        if (op == opcode::rdma_read) {
            co_await pair_.async_read(from, to, use_awaitable);
            check(from.bytes(), i, "read");
        }
        if (op == opcode::rdma_write || op == opcode::rdma_read)
            co_await pair_.async_send_with_immediate(outbox(0), number, use_awaitable);
    }
    asio::awaitable<void> write_with_a_bad_key() {
        auto to = pair_.peer().region.buffer(0, 64);
        to.key.value ^= 0x5A;
        error_code ec;
        co_await pair_.async_write(outbox(64), to, asio::redirect_error(use_awaitable, ec));
        expect(ec == errc::remote_access_error, steps_.size(), ("bad key gave: " + ec.message()).c_str());
    }

    asio::awaitable<void> watch() {
        if (settings_.late_receive_ms > 0) {
            co_await pause(settings_.late_receive_ms); // the peer's first message finds no receive
            post_receive();
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].op == opcode::rdma_read) fill(open_.bytes().first(steps_[i].size), i);
            if (i > 0) co_await answer(i - 1);
            judge(i, co_await next());
            if (i + 1 < steps_.size()) post_receive();
        }
        co_await last_answer();
        error_code ec;
        co_await pair_.async_wait_closed(asio::redirect_error(use_awaitable, ec));
        if (ec != errc::peer_closed && !settings_.bad_key) throw boost::system::system_error(ec);
    }
    /// The peer, which ends with an error without it, closes when it is there. Its acknowledgement may have
    /// been lost on the way, and then nobody is left to repeat it.
    asio::awaitable<void> last_answer() {
        try {
            co_await answer(steps_.size() - 1);
        } catch (const boost::system::system_error& e) {
            if (e.code() != errc::work_request_flushed) throw;
        }
    }
    asio::awaitable<void> answer(std::size_t i) {
        co_await pair_.async_send_with_immediate(outbox(0), static_cast<std::uint32_t>(i), use_awaitable);
    }
    void judge(std::size_t i, const received_message& m) const {
        const auto [op, size] = steps_[i];
        const bool notice = op == opcode::rdma_write || op == opcode::rdma_read;
        if (op != opcode::send) expect(m.immediate == i, i, "another immediate");
        expect(m.by_write == (op == opcode::rdma_write_with_immediate), i, "another kind of message");
        expect(m.size == (notice ? 0 : size), i, "another size");
        if (op == opcode::send || op == opcode::send_with_immediate)
            check(inbox().first(size).bytes(), i, "sent");
        if (op == opcode::rdma_write || op == opcode::rdma_write_with_immediate)
            check(open_.bytes().first(size), i, "written");
    }

    settings settings_;
    std::vector<step> steps_;
    std::size_t area_;
    std::shared_ptr<device> device_;
    memory_region memory_, open_;
    queue_pair pair_;
    asio::steady_timer news_{pair_.get_executor()};
    bool arrived_ = false;
    error_code failure_{};
    received_message message_{};
};

int run(const settings& s) {
    asio::io_context context;
    side ours(context, s);
    std::exception_ptr failure;
    bool over = false;
    asio::co_spawn(context, ours.run(context), [&](std::exception_ptr e) {
        failure = std::move(e);
        over = true;
        ours.close();
    });
    context.run_for(std::chrono::seconds(50));
    if (!over) throw std::runtime_error("no end within 50 s");
    if (failure) std::rethrow_exception(failure);
    std::cout << (s.unreliable ? "uc" : "rc") << " path MTU " << s.path_mtu << ": " << ours.steps()
              << " steps\n";
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    CLI::App app{"Does every operation to a peer, or checks what a peer does"};
    app.add_option("--device", s.device, "Device")->capture_default_str();
    app.add_option("--listen", s.listen, "ADDRESS:PORT to be reached at: the checking side");
    app.add_option("--peer", s.peer, "ADDRESS:PORT of the checking side");
    app.add_option("--mtu", s.path_mtu, "Path MTU")->capture_default_str();
    app.add_option("--late-receive", s.late_receive_ms, "Milliseconds until the first receive is posted");
    app.add_flag("--uc", s.unreliable, "Unreliable connection");
    app.add_flag("--bad-key", s.bad_key, "End with a write under a wrong key");
    CLI11_PARSE(app, argc, argv);
    try {
        if (s.listen.empty() == s.peer.empty()) throw std::runtime_error("--listen or --peer is needed");
        return run(s);
    } catch (const std::exception& e) {
        std::cerr << "interop: " << e.what() << "\n";
        return 1;
    }
}
