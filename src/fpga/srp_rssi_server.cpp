#include "fpga/board_socket.hpp"
#include "fpga/srp_responder.hpp"

#include <rocio/fpga/packetizer.hpp>
#include <rocio/fpga/srp.hpp>
#include <rocio/fpga/srp_rssi_server.hpp>

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>

namespace rocio::fpga {

namespace {

using clock = std::chrono::steady_clock;
using detail::board_socket;

/// Segments of replies that wait for their acknowledgement.
constexpr std::size_t most_queued = 64;

} // namespace

struct srp_rssi_server::state : std::enable_shared_from_this<state> {
    state(const boost::asio::any_io_executor& executor, register_space& registers, const rssi_config& rssi,
          const control_faults& faults)
        : socket(executor, faults), timer(executor), space(registers), config(rssi) {}

    void serve() {
        socket.receive(shared_from_this(), [this](const board_socket::datagram& d) {
            if (socket.is_open()) on_datagram(d);
        });
    }

    void on_datagram(const board_socket::datagram& d) {
        if (d.peer != client) {
            const auto h = parse_rssi(d.bytes);
            if (!h || !h->syn || h->ack) return;
            take(d.peer);
        }
        machine.on_segment(d.bytes, clock::now());
        pump();
    }

    void take(const board_socket::udp::endpoint& newcomer) {
        if (machine.state() == rssi_state::open) ++resets;
        machine.close(clock::now());
        send_segments();
        client = newcomer;
        listen();
    }

    void listen() {
        machine = rssi_connection(rssi_role::server, config);
        frames.reset();
        counted = false;
    }

    void pump() {
        if (!counted && machine.state() != rssi_state::listening) {
            counted = true;
            ++connections;
        }
        answer();
        send_segments();
        if (machine.state() == rssi_state::lost) {
            ++resets;
            listen();
        }
        wait();
    }

    /// A client that takes no replies finds this side busy.
    void answer() {
        while (machine.unacknowledged() < most_queued) {
            const auto segment = machine.receive();
            if (!segment) return;
            if (frames.on_segment(*segment) != depacketizer::verdict::whole) continue;
            const auto reply = detail::answer_srp(space, frames.frame());
            if (reply.empty() || machine.state() != rssi_state::open) continue;
            for (const auto& s : packetize(reply, machine.max_payload())) machine.send(s);
        }
    }

    void send_segments() {
        for (auto n = machine.next_segment(out, clock::now()); n != 0;
             n = machine.next_segment(out, clock::now()))
            socket.send(client, std::span(out).first(n));
    }

    void wait() {
        const auto deadline = machine.next_deadline();
        ++waits;
        if (!deadline) {
            timer.cancel();
            return;
        }
        timer.expires_at(*deadline);
        timer.async_wait([self = shared_from_this(), mine = waits](const error_code& ec) {
            if (ec || mine != self->waits || !self->socket.is_open()) return;
            self->machine.on_deadline(clock::now());
            self->pump();
        });
    }

    void close() {
        if (!socket.is_open()) return;
        machine.close(clock::now());
        send_segments();
        socket.close();
        ++waits;
        timer.cancel();
    }

    board_socket socket;
    boost::asio::steady_timer timer;
    register_space& space;
    rssi_config config;
    rssi_connection machine{rssi_role::server, config};
    depacketizer frames{srp_max_message};
    board_socket::udp::endpoint client{};
    bool counted = false;
    std::uint64_t connections = 0, resets = 0, waits = 0;
    std::array<std::byte, 9216> out{};
};

srp_rssi_server::srp_rssi_server(const boost::asio::any_io_executor& executor,
                                 const boost::asio::ip::udp::endpoint& where, register_space& space,
                                 const rssi_config& rssi, const control_faults& faults) {
    throw_if(validate(rssi));
    state_ = std::make_shared<state>(executor, space, rssi, faults);
    throw_if(state_->socket.bind(where, "SRP over RSSI"));
    state_->serve();
}

srp_rssi_server::~srp_rssi_server() {
    if (state_) close();
}

boost::asio::ip::udp::endpoint srp_rssi_server::local_endpoint() const {
    return state_->socket.local();
}

srp_rssi_server_snapshot srp_rssi_server::snapshot() const {
    return {state_->machine.state(), state_->machine.counters(), state_->connections, state_->resets};
}

void srp_rssi_server::close() {
    state_->close();
}

} // namespace rocio::fpga
