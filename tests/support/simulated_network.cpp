#include "simulated_network.hpp"

#include "test_packet.hpp"

#include <algorithm>

namespace rocio::test {

namespace {

wire::icrc_engine engine_between(std::uint8_t from, std::uint8_t to) {
    return wire::icrc_engine({gid::from_v4({127, 0, 0, from}), gid::from_v4({127, 0, 0, to})});
}

void put_icrc(std::vector<std::byte>& packet, std::uint32_t icrc) {
    for (std::size_t i = 0; i < wire::icrc_size; ++i)
        packet[packet.size() - wire::icrc_size + i] = static_cast<std::byte>(icrc >> (8 * i) & 0xFF);
}

} // namespace

simulated_network::simulated_network(std::uint64_t seed, const network_faults& faults)
    : faults_(faults), random_(seed), icrc_{engine_between(2, 3), engine_between(3, 2)} {}

void simulated_network::attach(transport::queue_pair& left, transport::queue_pair& right) {
    ends_ = {&left, &right};
}

bool simulated_network::chance(double probability) {
    // Not std::bernoulli_distribution, whose sequence is the library's own business.
    constexpr double range = 18446744073709551616.0;
    return static_cast<double>(random_()) < probability * range;
}

void simulated_network::schedule(event e) {
    e.serial = serial_++;
    events_.push(std::move(e));
}

void simulated_network::at(transport::time_point when, std::function<void()> action) {
    schedule({std::max(when, now_), 0, no_end, {}, std::move(action)});
}

void simulated_network::transmit(int from, const transport::packet_out& packet) {
    ++counts_.sent;
    auto bytes = encode(packet);
    put_icrc(bytes, icrc_[static_cast<std::size_t>(from)].of_packet(bytes));
    const int copies = chance(faults_.duplicate) ? 2 : 1;
    counts_.duplicated += copies == 2;
    for (int i = 0; i < copies; ++i) {
        if (chance(faults_.drop)) {
            ++counts_.dropped;
            continue;
        }
        auto travelling = bytes;
        if (chance(faults_.corrupt))
            for (std::uint64_t flips = 1 + random_() % 3; flips > 0; --flips)
                travelling[random_() % travelling.size()] ^= static_cast<std::byte>(1U << random_() % 8);
        auto when = now_ + faults_.delay;
        if (chance(faults_.reorder)) {
            ++counts_.reordered;
            when += faults_.reorder_by;
        }
        schedule({when, 0, 1 - from, std::move(travelling), {}});
    }
}

void simulated_network::pump(int end) {
    transport::queue_pair& qp = *ends_[static_cast<std::size_t>(end)];
    transport::packet_out out[16];
    while (const std::size_t n = qp.next_packets(out, now_)) {
        const std::size_t taken = chance(faults_.short_take) ? random_() % (n + 1) : n;
        for (std::size_t i = 0; i < taken; ++i) transmit(end, out[i]);
        qp.commit(taken, now_);
        if (taken == n) continue;
        // As a full socket: it can be written again a little later.
        at(now_ + std::chrono::microseconds{1}, [] {});
        break;
    }
}

void simulated_network::deliver(int to, std::span<const std::byte> bytes) {
    wire::packet_view view;
    const bool intact = icrc_[static_cast<std::size_t>(1 - to)].check_exact(bytes) &&
                        wire::packet_view::parse(bytes, view) == wire::malformed::none;
    if (!intact) {
        ++counts_.refused_by_icrc;
        return;
    }
    ++counts_.delivered;
    for (const std::byte b : bytes.first(wire::bth::size))
        counts_.history = (counts_.history ^ std::to_integer<std::uint64_t>(b)) * 1099511628211ULL;
    counts_.history ^= static_cast<std::uint64_t>(now_.time_since_epoch().count());
    ends_[static_cast<std::size_t>(to)]->on_packet(view, now_);
}

void simulated_network::happen(const event& e) {
    if (e.to == no_end)
        e.action();
    else
        deliver(e.to, e.bytes);
}

transport::time_point simulated_network::next_time() const {
    transport::time_point t = events_.empty() ? transport::never : events_.top().when;
    for (const transport::queue_pair* qp : ends_) t = std::min(t, qp->next_deadline());
    return t;
}

simulated_network::outcome simulated_network::run(const std::function<bool()>& done,
                                                  std::uint64_t max_steps) {
    for (std::uint64_t step = 0; step < max_steps; ++step) {
        const bool enough = done();
        pump(0);
        pump(1);
        if (enough) return outcome::done;
        const transport::time_point next = next_time();
        if (next == transport::never) return outcome::at_rest;
        now_ = std::max(now_, next);
        while (!events_.empty() && events_.top().when <= now_) {
            const event e = events_.top();
            events_.pop();
            happen(e);
        }
        for (transport::queue_pair* qp : ends_)
            if (qp->next_deadline() <= now_) qp->on_deadline(now_);
    }
    return outcome::too_long;
}

} // namespace rocio::test
