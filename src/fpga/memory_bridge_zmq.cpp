#include "fpga/endpoint_text.hpp"
#include "fpga/memory_bridge_protocol.hpp"
#include "fpga/register_client_core.hpp"
#include "fpga/zmq_pair.hpp"

#include <rocio/fpga/bus_error.hpp>
#include <rocio/fpga/memory_bridge_bus.hpp>
#include <rocio/fpga/memory_bridge_server.hpp>

#include <deque>
#include <set>
#include <utility>

namespace rocio::fpga {

namespace detail {

namespace {

using asio::ip::tcp;

/// Messages wait until the bridge has answered a probe.
class bridge_transport final : public message_transport {
  public:
    bridge_transport(const async::control_strand& strand, const tcp::endpoint& peer,
                     const memory_bridge_config& config)
        : pair_(strand), timer_(strand), peer_(peer), config_(config) {
        if (const auto ec = pair_.connect(peer)) throw boost::system::system_error(ec);
    }

    void begin(const std::shared_ptr<void>& keep) override {
        keep_ = keep;
        pair_.receive(keep, [this](const bridge_parts& parts) { on_parts(parts); });
        if (!ready_ && !probing_) probe(keep);
    }
    void rest() override {
        end_probes();
        pair_.stop();
    }
    void send(std::uint32_t id, std::span<const std::byte> message) override {
        const auto parts = unflatten(message);
        if (!parts) return;
        waiting_.emplace_back(id, *parts);
        if (ready_) send_waiting();
    }
    void withdraw(std::uint32_t id) override {
        std::erase_if(waiting_, [id](const auto& w) { return w.first == id; });
        if (unanswered_.erase(id) != 0) ready_ = false;
    }
    void close() override {
        rest();
        pair_.close();
    }
    std::string peer() const override {
        return "the memory bridge at TCP " + endpoint_text(peer_.address(), peer_.port());
    }
    error_info silence() const override {
        if (ready_) return {};
        return {bus_errc::not_connected, "no answer to " + std::to_string(probes_) +
                                             " probes; check address and port, that the port after it is "
                                             "open, too, and that the root runs a memory bridge"};
    }

  private:
    void probe(const std::shared_ptr<void>& keep) {
        probing_ = true;
        if (pair_.send(detail::encode(bridge_header{.id = probe_id, .type = bridge_type::probe}))) ++probes_;
        timer_.expires_after(config_.probe_period);
        timer_.async_wait([this, keep, wait = ++waits_](const error_code& ec) {
            if (!ec && wait == waits_) probe(keep);
        });
    }
    void end_probes() {
        probing_ = false;
        ++waits_;
        timer_.cancel();
    }

    void on_parts(const bridge_parts& parts) {
        const auto h = parse_bridge_header(parts);
        if (!h) return its_user().on_message({});
        if (h->type == bridge_type::probe && h->id == probe_id) return on_ready();
        unanswered_.erase(h->id);
        its_user().on_message(flatten(parts));
    }

    void on_ready() {
        ready_ = true;
        probes_ = 0;
        end_probes();
        send_waiting();
    }

    void send_waiting() {
        while (!waiting_.empty()) {
            const auto id = waiting_.front().first;
            const auto type = parse_bridge_header(waiting_.front().second)->type;
            if (!pair_.send(waiting_.front().second)) return on_gone();
            waiting_.pop_front();
            if (type != bridge_type::post) unanswered_.insert(id);
            its_user().on_sent(id);
        }
    }

    /// The connection has ended; what waits goes when a probe is answered again.
    void on_gone() {
        ready_ = false;
        if (const auto keep = keep_.lock(); keep && !probing_) probe(keep);
    }

    static constexpr std::uint32_t probe_id = 0;

    zmq_pair pair_;
    async::control_timer timer_;
    tcp::endpoint peer_;
    memory_bridge_config config_;
    std::weak_ptr<void> keep_{}; ///< From begin().
    bool ready_ = false, probing_ = false;
    std::uint64_t waits_ = 0, probes_ = 0;
    std::deque<std::pair<std::uint32_t, bridge_parts>> waiting_{};
    std::set<std::uint32_t> unanswered_{};
};

} // namespace

register_client_core_ptr make_memory_bridge_core(const asio::any_io_executor& executor,
                                                 const tcp::endpoint& peer,
                                                 const memory_bridge_config& config) {
    throw_if(validate(config));
    if (peer.port() == 0 || peer.port() == 65535)
        throw exception({errc::invalid_argument, "the memory bridge's port is " +
                                                     std::to_string(peer.port()) +
                                                     ", allowed are 1 to 65534; rogue's default is 10000"});
    const auto strand = asio::make_strand(executor);
    try {
        return std::make_shared<register_client_core>(
            strand, std::make_unique<memory_bridge_protocol>(),
            std::make_unique<bridge_transport>(strand, peer, config),
            register_client_core::limits{config.answer_deadline, 1});
    } catch (const boost::system::system_error& e) {
        throw exception({e.code(), "memory bridge at TCP " + endpoint_text(peer.address(), peer.port()) +
                                       ": " + e.code().message()});
    }
}

} // namespace detail

namespace {

error_info bind_failure(const boost::asio::ip::tcp::endpoint& where, const error_code& ec) {
    if (!ec) return {};
    const auto sentence = "memory bridge at TCP " + detail::endpoint_text(where.address(), where.port()) +
                          " and the next port: ";
    if (ec == boost::system::errc::address_in_use)
        return {errc::address_in_use, sentence + "another process has one of them; choose another port"};
    if (ec == boost::system::errc::address_not_available || ec == boost::system::errc::no_such_device)
        return {errc::address_not_available, sentence + "the address is on no interface of this machine"};
    return {ec, sentence + ec.message()};
}

} // namespace

struct memory_bridge_server::state : std::enable_shared_from_this<state> {
    state(const boost::asio::any_io_executor& executor, register_space& registers)
        : pair(executor), space(registers) {}

    void serve() {
        pair.receive(shared_from_this(), [this](const detail::bridge_parts& request) {
            const auto reply = detail::answer_bridge(space, request);
            // A client that is gone, or takes nothing, loses its replies.
            if (!reply.empty()) pair.send(reply);
        });
    }

    detail::zmq_pair pair;
    register_space& space;
};

memory_bridge_server::memory_bridge_server(const boost::asio::any_io_executor& executor,
                                           const boost::asio::ip::tcp::endpoint& where, register_space& space)
    : state_(std::make_shared<state>(executor, space)) {
    throw_if(bind_failure(where, state_->pair.bind(where)));
    state_->serve();
}

memory_bridge_server::~memory_bridge_server() {
    if (state_) close();
}

boost::asio::ip::tcp::endpoint memory_bridge_server::local_endpoint() const {
    return state_->pair.local();
}

void memory_bridge_server::close() {
    state_->pair.close();
}

} // namespace rocio::fpga
