#include <rocio/soft/simulated_network.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace rocio::soft {

namespace {

struct waiting_datagram {
    received_datagram head{}; ///< Its `bytes` are set when it is received.
    std::vector<std::byte> bytes{};
};

using place = std::pair<gid, std::uint16_t>;

} // namespace

struct simulated_network::body {
    struct box {
        std::deque<waiting_datagram> waiting{};
        std::size_t budget = std::numeric_limits<std::size_t>::max();
    };

    std::map<place, std::shared_ptr<box>> boxes{};
    observer observed{};
    std::uint64_t lost = 0;

    void deliver(const received_datagram& datagram, const place& to) {
        const auto found = boxes.find(to);
        if (found == boxes.end()) {
            ++lost;
            return;
        }
        found->second->waiting.push_back({datagram, {datagram.bytes.begin(), datagram.bytes.end()}});
    }
};

class simulated_network::end final : public link {
  public:
    end(std::shared_ptr<body> net, std::shared_ptr<body::box> box, place self, link_interface interface)
        : net_(std::move(net)), box_(std::move(box)), self_(self), interface_(std::move(interface)) {}

    ~end() override {
        const auto found = net_->boxes.find(self_);
        if (found != net_->boxes.end() && found->second == box_) net_->boxes.erase(found);
    }

    const gid& address() const noexcept override { return self_.first; }
    std::uint16_t port() const noexcept override { return self_.second; }
    link_interface interface() const override { return interface_; }

    std::size_t receive(std::span<received_datagram> out, time_point) noexcept override {
        current_.clear();
        while (current_.size() < out.size() && !box_->waiting.empty()) {
            current_.push_back(std::move(box_->waiting.front()));
            box_->waiting.pop_front();
        }
        for (std::size_t i = 0; i < current_.size(); ++i) {
            out[i] = current_[i].head;
            out[i].bytes = current_[i].bytes;
        }
        return current_.size();
    }

    std::size_t send(std::span<const outgoing_datagram> datagrams, time_point) noexcept override {
        std::size_t taken = 0;
        for (const auto& d : datagrams) {
            if (box_->budget == 0) {
                would_block_.add();
                break;
            }
            --box_->budget;
            send_one(d);
            ++taken;
        }
        return taken;
    }

    void append_counters(std::vector<device_snapshot::counter>& out) const override {
        out.push_back({"send_would_block", would_block_.value()});
    }

  private:
    void send_one(const outgoing_datagram& d) {
        std::vector<std::byte> bytes;
        for (const auto part : {d.header, d.payload, d.trailer})
            bytes.insert(bytes.end(), part.begin(), part.end());
        if (net_->observed) net_->observed(self_.first, *d.to, bytes);
        net_->deliver({self_.first, self_.second, false, bytes}, {d.to->address, d.to->port});
    }

    std::shared_ptr<body> net_;
    std::shared_ptr<body::box> box_;
    place self_;
    link_interface interface_;
    std::vector<waiting_datagram> current_{};
    relaxed_counter would_block_{};
};

simulated_network::simulated_network() : body_(std::make_shared<body>()) {}
simulated_network::~simulated_network() = default;

std::unique_ptr<link> simulated_network::attach(const gid& address, std::uint16_t port,
                                                const link_interface& interface) {
    auto box = std::make_shared<body::box>();
    body_->boxes[{address, port}] = box;
    return std::make_unique<end>(body_, std::move(box), place{address, port}, interface);
}

void simulated_network::inject(const received_datagram& datagram, const gid& to, std::uint16_t to_port) {
    body_->deliver(datagram, {to, to_port});
}

void simulated_network::observe(observer f) {
    body_->observed = std::move(f);
}

void simulated_network::limit_sends(std::size_t datagrams) {
    for (auto& [where, box] : body_->boxes) box->budget = datagrams;
}

std::uint64_t simulated_network::lost() const noexcept {
    return body_->lost;
}

} // namespace rocio::soft
