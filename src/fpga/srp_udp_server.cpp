#include "fpga/board_socket.hpp"
#include "fpga/srp_responder.hpp"

#include <rocio/fpga/srp_udp_server.hpp>

namespace rocio::fpga {

struct srp_udp_server::state : std::enable_shared_from_this<state> {
    state(const boost::asio::any_io_executor& executor, register_space& registers,
          const control_faults& faults)
        : socket(executor, faults), space(registers) {}

    void serve() {
        socket.receive(shared_from_this(), [this](const detail::board_socket::datagram& d) {
            if (!socket.is_open()) return;
            const auto answer = detail::answer_srp(space, d.bytes);
            if (!answer.empty()) socket.send(d.peer, answer);
        });
    }

    detail::board_socket socket;
    register_space& space;
};

srp_udp_server::srp_udp_server(const boost::asio::any_io_executor& executor,
                               const boost::asio::ip::udp::endpoint& where, register_space& space,
                               const control_faults& faults)
    : state_(std::make_shared<state>(executor, space, faults)) {
    throw_if(state_->socket.bind(where, "SRP"));
    state_->serve();
}

srp_udp_server::~srp_udp_server() {
    if (state_) close();
}

boost::asio::ip::udp::endpoint srp_udp_server::local_endpoint() const {
    return state_->socket.local();
}

void srp_udp_server::close() {
    state_->socket.close();
}

} // namespace rocio::fpga
