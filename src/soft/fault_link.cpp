#include "soft/fault_dice.hpp"

#include <rocio/soft/fault_link.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace rocio::soft {

namespace {

constexpr std::uint64_t no_number = std::numeric_limits<std::uint64_t>::max();

/// A copy of a datagram that leaves later.
struct held_datagram {
    destination to{};
    std::vector<std::byte> bytes{};
    time_point due = time_point::max(); ///< Leaves then …
    std::uint64_t behind = no_number;   ///< … or when this many datagrams were sent.

    bool leaves(time_point now, std::uint64_t sent) const noexcept { return due <= now || behind <= sent; }
    outgoing_datagram view() const noexcept { return {&to, bytes, {}, {}}; }
};

std::vector<std::byte> joined(const outgoing_datagram& d) {
    std::vector<std::byte> bytes;
    bytes.reserve(d.size());
    for (const auto part : {d.header, d.payload, d.trailer})
        bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

} // namespace

struct fault_link::body {
    std::unique_ptr<link> inner;
    fault_plan plan;
    fault_dice dice;
    std::uint64_t sent = 0; ///< Datagrams taken so far; the number of the next one.
    std::vector<held_datagram> held{};
    time_point earliest = time_point::max(); ///< Of held.
    std::uint64_t nearest = no_number;       ///< The smallest `behind` of held.

    relaxed_counter dropped, duplicated, reordered, delayed, corrupted;

    body(std::unique_ptr<link> l, const fault_plan& p) : inner(std::move(l)), plan(p), dice(p) {
        held.reserve(max_held);
    }

    bool pass_on(const outgoing_datagram& d, time_point now) noexcept {
        return inner->send({&d, 1}, now) == 1;
    }
    bool send_faulty(const outgoing_datagram& d, const fault_decision& what, time_point now);
    void hold(const destination& to, std::vector<std::byte> bytes, const fault_decision& what,
              time_point now);
    bool release(time_point now) noexcept;
    void count(const fault_decision& what) noexcept;
    std::size_t untouched_run(std::span<const outgoing_datagram> datagrams,
                              fault_decision& next) const noexcept;
    void note(const held_datagram& h) noexcept {
        earliest = std::min(earliest, h.due);
        nearest = std::min(nearest, h.behind);
    }
};

/// How many of `datagrams` may go out in one batch: nothing happens to them and nothing held is due between
/// them.
std::size_t fault_link::body::untouched_run(std::span<const outgoing_datagram> datagrams,
                                            fault_decision& next) const noexcept {
    const std::size_t most = std::min<std::uint64_t>(datagrams.size(), nearest > sent ? nearest - sent : 1);
    std::size_t run = 0;
    while (run < most && (next = dice.decide(sent + run)).untouched()) ++run;
    return run;
}

void fault_link::body::count(const fault_decision& what) noexcept {
    if (what.drop) dropped.add();
    if (what.duplicate) duplicated.add();
    if (what.reorder) reordered.add();
    if (what.delay) delayed.add();
    if (what.corrupt) corrupted.add();
}

void fault_link::body::hold(const destination& to, std::vector<std::byte> bytes, const fault_decision& what,
                            time_point now) {
    held_datagram h{to, std::move(bytes), now + plan.reorder_hold, sent + 1 + what.distance};
    if (what.delay) {
        h.due = now + what.delay_time;
        h.behind = no_number;
    }
    note(h);
    held.push_back(std::move(h));
}

/// False when the inner link did not take it: nothing has happened then.
bool fault_link::body::send_faulty(const outgoing_datagram& d, const fault_decision& what, time_point now) {
    if (what.drop) return true;
    std::vector<std::byte> bytes = joined(d);
    if (what.corrupt) dice.flip(bytes, what.bits, sent);
    const outgoing_datagram copy{d.to, bytes, {}, {}};
    const bool hold_it = what.held() && held.size() < max_held;
    if ((!hold_it || what.duplicate) && !pass_on(copy, now)) return false;
    if (!hold_it && what.duplicate) pass_on(copy, now);
    if (hold_it) hold(*d.to, std::move(bytes), what, now);
    return true;
}

bool fault_link::body::release(time_point now) noexcept {
    bool any = false;
    earliest = time_point::max();
    nearest = no_number;
    std::erase_if(held, [&](const held_datagram& h) {
        if (h.leaves(now, sent) && pass_on(h.view(), now)) return any = true;
        note(h);
        return false;
    });
    return any;
}

fault_link::fault_link(std::unique_ptr<link> inner, const fault_plan& plan)
    : body_(std::make_unique<body>(std::move(inner), plan)) {}
fault_link::~fault_link() = default;

const gid& fault_link::address() const noexcept {
    return body_->inner->address();
}
std::uint16_t fault_link::port() const noexcept {
    return body_->inner->port();
}
int fault_link::fd() const noexcept {
    return body_->inner->fd();
}
std::uint32_t fault_link::receive_buffer() const noexcept {
    return body_->inner->receive_buffer();
}
link_interface fault_link::interface() const {
    return body_->inner->interface();
}

std::size_t fault_link::receive(std::span<received_datagram> out, time_point now) noexcept {
    return body_->inner->receive(out, now);
}

std::size_t fault_link::send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept {
    body& b = *body_;
    std::size_t taken = 0;
    while (taken < datagrams.size()) {
        fault_decision what;
        const std::size_t run = b.untouched_run(datagrams.subspan(taken), what);
        if (run != 0) {
            const std::size_t n = b.inner->send(datagrams.subspan(taken, run), now);
            taken += n;
            b.sent += n;
            if (n < run) break;
        } else {
            if (!b.send_faulty(datagrams[taken], what, now)) break;
            b.count(what);
            ++taken;
            ++b.sent;
        }
        if (!b.held.empty()) b.release(now);
    }
    return taken;
}

bool fault_link::progress(time_point now) noexcept {
    const bool any = body_->inner->progress(now);
    if (body_->earliest > now) return any;
    return body_->release(now) || any;
}

time_point fault_link::next_deadline() const noexcept {
    return std::min(body_->earliest, body_->inner->next_deadline());
}

void fault_link::append_counters(std::vector<device_snapshot::counter>& out) const {
    const body& b = *body_;
    b.inner->append_counters(out);
    out.push_back({"faults.dropped", b.dropped.value()});
    out.push_back({"faults.duplicated", b.duplicated.value()});
    out.push_back({"faults.reordered", b.reordered.value()});
    out.push_back({"faults.delayed", b.delayed.value()});
    out.push_back({"faults.corrupted", b.corrupted.value()});
}

} // namespace rocio::soft
