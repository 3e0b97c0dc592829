#include "soft/device_core.hpp"

#include "soft/soft_completion_queue.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace rocio::soft {

namespace {

std::uint32_t random_start() {
    std::random_device entropy;
    return entropy();
}

/// Partition key: 15 bits count, the top one is the membership (captures peer_rc_header_checks_*).
bool is_default_partition(std::uint16_t pkey) noexcept {
    return (pkey & 0x7FFFU) == 0x7FFFU;
}

} // namespace

device_core::device_core(std::unique_ptr<link> l, std::optional<qpn> first)
    : link_(std::move(l)),
      queue_pairs_(first ? first->value() : random_start()),
      has_trains_(link_->longest_train() > 1) {}

qpn device_core::add(soft_queue_pair& qp) {
    deadlines_.reserve(queue_pairs_.size() + 1);
    const qpn number = queue_pairs_.insert(qp);
    live_queue_pairs_.add();
    return number;
}

void device_core::remove(soft_queue_pair& qp) noexcept {
    queue_pairs_.erase(qp.number());
    deadlines_.erase(qp);
    live_queue_pairs_.subtract();
}

errc device_core::add_region(const transport::memory_region_table::region& r, std::uint32_t& key) {
    const errc result = regions_.add(r, key);
    if (result == errc::success) live_regions_.add();
    return result;
}

void device_core::remove_region(std::uint32_t key) noexcept {
    if (regions_.remove(key) == errc::success) live_regions_.subtract();
}

void device_core::touched_by_owner(soft_queue_pair& qp) {
    take_completions(qp);
    report_failure(qp);
    if (qp.connected() && !static_cast<ready_hook&>(qp).is_linked()) ready_.push_back(qp);
}

bool device_core::progress(time_point now) {
    last_ = now;
    ++turn_;
    bool worked = !ready_.empty() && flush(now);
    worked |= link_->progress(now);
    const std::size_t received = receive(now);
    worked |= received != 0;
    // Who sends so much waits for its window: it is told before the owner works on what it sent.
    if (received >= long_burst && !ready_.empty()) flush(now);
    // Last, so that an acknowledgement that waited in the socket while the context was busy stops its timer.
    if (deadlines_.earliest() <= now) worked |= run_timers(now);
    return worked;
}

time_point device_core::next_deadline() const noexcept {
    time_point next = std::min(deadlines_.earliest(), link_->next_deadline());
    if (!ready_.empty()) next = std::min(next, std::max(blocked_until_, last_));
    return next;
}

bool device_core::flush(time_point now) {
    std::size_t sent = 0;
    while (!ready_.empty() && sent < send_limit && now >= blocked_until_) {
        gather(now);
        if (batch_.empty()) break;
        const std::size_t offered = batch_.size();
        const std::size_t taken = send_gathered(now);
        sent += taken;
        if (taken < offered && trains_ended()) continue;
        was_blocked_ = taken < offered;
        if (was_blocked_) blocked_until_ = now + send_retry;
    }
    return sent != 0;
}

/// Asks the queue pairs that may want to send, each once at most, until the batch is full. After
/// back-pressure in the transport's own order, in which a part can be committed: otherwise a link that takes
/// little at a time would get the same requests again and again and never their acknowledgement.
void device_core::gather(time_point now) {
    ready_list round, later;
    round.swap(ready_);
    while (!round.empty() && !batch_.full()) {
        soft_queue_pair& qp = round.front();
        round.pop_front();
        if (!qp.may_burst(turn_))
            later.push_back(qp);
        else if (!batch_.take_from(qp, now, !was_blocked_))
            settle(qp, now);
    }
    ready_.splice(ready_.begin(), round);
    ready_.splice(ready_.end(), later);
}

std::size_t device_core::send_gathered(time_point now) {
    const bool up = port_up();
    const std::size_t taken = up ? link_->send(batch_.datagrams(), now) : batch_.size();
    if (up) {
        packets_out_.add(taken);
        bytes_out_.add(batch_.bytes(taken));
    } else {
        lost_port_down_.add(taken);
    }
    batch_.commit(taken, now, [&](soft_queue_pair& qp) { settle(qp, now); });
    return taken;
}

/// A refused train is offered again at once, in single datagrams.
bool device_core::trains_ended() noexcept {
    if (!has_trains_ || link_->longest_train() > 1) return false;
    has_trains_ = false;
    queue_pairs_.for_each([](soft_queue_pair& qp) { qp.end_trains(); });
    return true;
}

std::size_t device_core::receive(time_point now) {
    std::size_t total = 0;
    for (std::size_t n = arrived_.size(); n == arrived_.size() && total < receive_limit; total += n) {
        n = link_->receive(arrived_, now);
        for (std::size_t i = 0; i < n; ++i) accept(arrived_[i], now);
    }
    while (!touched_.empty()) {
        soft_queue_pair& qp = touched_.front();
        touched_.pop_front();
        settle(qp, now);
    }
    return total;
}

void device_core::accept(const received_datagram& d, time_point now) {
    packets_in_.add();
    bytes_in_.add(d.bytes.size());
    if (!port_up()) return drops_.add(drop_reason::port_down);
    if (d.truncated || d.bytes.size() > longest_packet) return drops_.add(drop_reason::truncated);
    wire::packet_view packet;
    if (const auto bad = wire::packet_view::parse(d.bytes, packet); bad != wire::malformed::none)
        return drops_.add(reason_of(bad));

    soft_queue_pair* const qp = queue_pairs_.find(packet.bth().destination);
    const drop_reason reason = check(d, packet, qp);
    if (reason != drop_reason::count_) return drops_.add(reason);
    qp->transport().on_packet(packet, now);
    if (!static_cast<touched_hook&>(*qp).is_linked()) touched_.push_back(*qp);
}

/// drop_reason::count_: none. Without a connected queue pair there is nobody to compute an ICRC for: such
/// packets are counted as what they say they are, and never answered.
drop_reason device_core::check(const received_datagram& d, const wire::packet_view& packet,
                               soft_queue_pair* qp) {
    const bool connected = qp != nullptr && qp->connected();
    if (connected && !qp->icrc_fits(d)) return drop_reason::bad_icrc;
    if (!is_default_partition(packet.bth().pkey)) return drop_reason::bad_pkey;
    if (qp == nullptr) return drop_reason::unknown_queue_pair;
    if (connected && !qp->is_from_peer(d)) return drop_reason::foreign_source;
    if (packet.op().type() != qp->service()) return drop_reason::wrong_service;
    if (!connected || qp->transport().state() == transport::queue_pair_state::error)
        return drop_reason::wrong_state;
    return drop_reason::count_;
}

/// Each queue pair comes up once at most: one that is due again at once waits for the next progress().
bool device_core::run_timers(time_point now) {
    bool any = false;
    for (std::size_t left = deadlines_.size(); left != 0; --left) {
        soft_queue_pair* const qp = deadlines_.take_due(now);
        if (qp == nullptr) break;
        if (qp->transport().next_deadline() <= now) {
            qp->transport().on_deadline(now);
            any = true;
        }
        settle(*qp, now);
    }
    return any;
}

/// After anything that may have changed a queue pair: completions, list, deadline, event.
void device_core::settle(soft_queue_pair& qp, time_point now) {
    take_completions(qp);
    report_failure(qp);
    count_troubles(qp);
    if (qp.transport().wants_to_send(now) && !static_cast<ready_hook&>(qp).is_linked()) ready_.push_back(qp);
    deadlines_.update(qp, qp.transport().next_deadline());
}

void device_core::count_troubles(soft_queue_pair& qp) noexcept {
    if (qp.service() == wire::service::uc) return uc_losses_.add(qp.new_losses());
    rc_repairs::values repairs;
    if (qp.new_repairs(repairs)) [[unlikely]]
        rc_repairs_.add(repairs);
}

/// A completion without a place breaks the completion queue, and the queue pair with it: the peer may already
/// have been told that the message arrived.
void device_core::take_completions(soft_queue_pair& qp) {
    while (qp.transport().has_completions()) {
        const auto places = qp.completions().free_places();
        if (!places.empty()) {
            qp.completions().filled(qp.transport().poll(places));
            continue;
        }
        std::array<work_completion, 16> lost;
        overruns_.add(qp.transport().poll(lost));
        if (qp.completions().mark_overrun()) raise({device_event_kind::completion_queue_error, 0, {}});
        if (qp.transport().state() != transport::queue_pair_state::error) qp.transport().to_error();
    }
}

void device_core::report_failure(soft_queue_pair& qp) {
    if (!qp.take_failure()) return;
    const auto kind = qp.transport().access_violated() ? device_event_kind::queue_pair_access_error
                                                       : device_event_kind::queue_pair_fatal;
    raise({kind, 0, qp.number()});
}

void device_core::raise(const device_event& event) noexcept {
    events_.push(event);
    history_.add(event);
}

void device_core::set_port_up(bool up) noexcept {
    if (port_up_.exchange(up) == up) return;
    raise({up ? device_event_kind::port_active : device_event_kind::port_error, 1, {}});
}

errc device_core::bind(const void* engine) noexcept {
    if (owner_ != nullptr && owner_ != engine) return errc::device_bound;
    owner_ = engine;
    return errc::success;
}

void device_core::unbind(const void* engine) noexcept {
    if (owner_ == engine) owner_ = nullptr;
}

void device_core::append_counters(std::vector<device_snapshot::counter>& out) const {
    out.push_back({"packets_in", packets_in_.value()});
    out.push_back({"packets_out", packets_out_.value()});
    out.push_back({"bytes_in", bytes_in_.value()});
    out.push_back({"bytes_out", bytes_out_.value()});
    drops_.append_counters(out);
    rc_repairs_.append_counters(out);
    uc_losses_.append_counters(out);
    out.push_back({"sends_lost_port_down", lost_port_down_.value()});
    out.push_back({"completion_overruns", overruns_.value()});
    out.push_back({"events_lost", events_.lost().value()});
    out.push_back({"queue_pairs", live_queue_pairs_.value()});
    out.push_back({"memory_regions", live_regions_.value()});
    link_->append_counters(out);
}

} // namespace rocio::soft
