#include <rocio/fpga/bus_error.hpp>
#include <rocio/fpga/rssi_connection.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rocio::fpga {

namespace {

using std::chrono::milliseconds;

/// Half of the sequence numbers: what is further ahead cannot be told from what is behind.
constexpr std::size_t half_ring = 127;
constexpr std::size_t longest_segment = 9000;
/// Earlier tries whose answer may still be on its way.
constexpr unsigned remembered_tries = 100;

std::uint8_t distance(std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(to - from);
}
std::uint8_t after(std::uint8_t sequence, std::size_t n = 1) {
    return static_cast<std::uint8_t>(sequence + n);
}

} // namespace

error_info validate(const rssi_config& config) {
    using namespace std::chrono_literals;
    if (!usable(config.parameters))
        return {errc::invalid_argument,
                "RSSI parameters: max_outstanding, retransmit_timeout and max_retransmits must not be 0, "
                "max_segment at least 32 bytes, null_timeout at least 3 ms"};
    if (config.parameters.max_segment > longest_segment)
        return {errc::invalid_argument, "max_segment of " + std::to_string(config.parameters.max_segment) +
                                            ", allowed are 32 to 9000 bytes"};
    if (config.try_period < 1ms || config.try_period > 60s)
        return {errc::invalid_argument, "try_period of " + std::to_string(config.try_period.count()) +
                                            " ms, allowed are 1 ms to 60 s"};
    return {};
}

rssi_connection::rssi_connection(rssi_role role, const rssi_config& config)
    : role_(role),
      config_(config),
      used_(config.parameters),
      state_(role == rssi_role::server ? rssi_state::listening : rssi_state::closed),
      next_sequence_(config.first_sequence) {}

/// Forgets all of an earlier connection.
void rssi_connection::begin(std::uint8_t peer_sequence) {
    flight_.clear();
    queue_.clear();
    kept_.clear();
    received_.clear();
    expected_ = after(peer_sequence);
    peer_first_ = peer_sequence;
    peer_busy_ = null_now_ = acknowledge_now_ = false;
    unacknowledged_received_ = 0;
    acknowledge_due_.reset();
}

void rssi_connection::connect(time_point now) {
    begin(0);
    used_ = config_.parameters;
    failure_ = {};
    state_ = rssi_state::syn_sent;
    tries_ = 0;
    syn_now_ = true;
    reset_now_ = false;
    syn_due_ = now;
}

void rssi_connection::close(time_point) {
    const bool has_peer =
        state_ == rssi_state::syn_sent || state_ == rssi_state::syn_received || state_ == rssi_state::open;
    begin(after(expected_, 255));
    reset_now_ = reset_now_ || has_peer;
    syn_now_ = false;
    state_ = rssi_state::closed;
}

void rssi_connection::lose(const char* why, bool tell) {
    failure_ = {bus_errc::connection_lost, why};
    state_ = rssi_state::lost;
    flight_.clear();
    queue_.clear();
    kept_.clear();
    acknowledge_due_.reset();
    acknowledge_now_ = syn_now_ = null_now_ = false;
    reset_now_ = tell;
}

// Receiving.

void rssi_connection::on_segment(std::span<const std::byte> segment, time_point now) {
    const auto h = parse_rssi(segment);
    if (!h || segment.size() > config_.parameters.max_segment + rssi_header_bytes) {
        ++counters_.refused;
        return;
    }
    switch (state_) {
    case rssi_state::listening:
        return on_first_syn(*h, now);
    case rssi_state::syn_sent:
        return on_syn_ack(*h, now);
    case rssi_state::syn_received:
        if (h->syn) return on_first_syn(*h, now);
        if (h->rst) {
            state_ = rssi_state::listening;
            return;
        }
        if (!h->ack || h->acknowledge != syn_sequence_) return void(++counters_.refused);
        state_ = rssi_state::open;
        return on_open(*h, segment.subspan(h->size()), now);
    case rssi_state::open:
        return on_open(*h, segment.subspan(h->size()), now);
    case rssi_state::closed:
    case rssi_state::lost:
        return;
    }
}

void rssi_connection::on_first_syn(const rssi_header& h, time_point now) {
    if (!h.syn || h.ack || !usable(h.parameters)) return void(++counters_.refused);
    begin(h.sequence);
    used_ = config_.parameters;
    used_.max_outstanding = h.parameters.max_outstanding;
    used_.max_segment = std::min(used_.max_segment, h.parameters.max_segment);
    syn_sequence_ = config_.first_sequence;
    next_sequence_ = after(syn_sequence_);
    state_ = rssi_state::syn_received;
    tries_ = 0;
    syn_now_ = true;
    last_heard_ = last_sent_ = now;
}

/// Any SYN of late may be the one answered: the next one may have been on its way with the answer.
void rssi_connection::on_syn_ack(const rssi_header& h, time_point now) {
    if (h.rst) return; // What was left of an earlier connection ends; the next SYN begins a new one.
    const bool ours = distance(first_try_, h.acknowledge) <= distance(first_try_, syn_sequence_);
    if (!h.syn || !h.ack || !ours || tries_ == 0 || !usable(h.parameters)) return void(++counters_.refused);
    begin(h.sequence);
    used_ = h.parameters;
    used_.max_segment = std::min(used_.max_segment, config_.parameters.max_segment);
    next_sequence_ = after(h.acknowledge);
    state_ = rssi_state::open;
    syn_now_ = false;
    acknowledge_now_ = true;
    last_heard_ = last_sent_ = now;
}

void rssi_connection::on_syn_while_open(const rssi_header& h) {
    const bool answer = role_ == rssi_role::client;
    if (h.ack == answer && h.sequence == peer_first_) {
        ++counters_.duplicates;
        acknowledge_now_ = answer; // Ours was lost.
        return;
    }
    lose("the other side began a new connection", true);
}

void rssi_connection::on_open(const rssi_header& h, std::span<const std::byte> payload, time_point now) {
    if (h.syn) return on_syn_while_open(h);
    if (h.rst) return lose("the other side reset the connection", false);
    if (h.ack && !acknowledge(h.acknowledge)) return void(++counters_.refused);
    last_heard_ = now;
    if (peer_busy_ && !h.busy) {
        for (auto& s : flight_) s.due = now + retransmit_timeout();
    }
    peer_busy_ = h.busy;
    if (h.nul || !payload.empty()) take_data(h, payload, now);
}

/// False when it acknowledges what was never sent.
bool rssi_connection::acknowledge(std::uint8_t number) {
    const auto first = flight_.empty() ? next_sequence_ : flight_.front().sequence;
    const auto ahead = distance(first, number);
    if (ahead >= flight_.size()) return ahead > half_ring; // What is behind is an old one.
    flight_.erase(flight_.begin(), flight_.begin() + ahead + 1);
    return true;
}

void rssi_connection::take_data(const rssi_header& h, std::span<const std::byte> payload, time_point now) {
    const auto ahead = distance(expected_, h.sequence);
    if (ahead > half_ring) {
        ++counters_.duplicates;
        acknowledge_now_ = true; // Ours was lost.
        return;
    }
    if (ahead >= receive_window()) return void(++counters_.refused);
    if (ahead > 0) {
        const auto [place, fresh] =
            kept_.try_emplace(h.sequence, kept_segment{h.nul, {payload.begin(), payload.end()}});
        ++(fresh ? counters_.out_of_order : counters_.duplicates);
        return;
    }
    owe_acknowledgement(now);
    if (!h.nul && own_busy()) return; // Comes again.
    take_in_order(h.nul, {payload.begin(), payload.end()});
    for (auto next = kept_.find(expected_); next != kept_.end(); next = kept_.find(expected_)) {
        if (!next->second.nul && own_busy()) return;
        take_in_order(next->second.nul, std::move(next->second.payload));
        kept_.erase(next);
        owe_acknowledgement(now);
    }
}

void rssi_connection::take_in_order(bool nul, std::vector<std::byte> payload) {
    expected_ = after(expected_);
    if (nul) return;
    ++counters_.received;
    received_.push_back(std::move(payload));
}

void rssi_connection::owe_acknowledgement(time_point now) {
    if (++unacknowledged_received_ >= used_.max_cumulative_acks) acknowledge_now_ = true;
    if (!acknowledge_due_) acknowledge_due_ = now + milliseconds(used_.cumulative_ack_timeout);
}

std::optional<std::vector<std::byte>> rssi_connection::receive() {
    if (received_.empty()) return std::nullopt;
    const bool was_busy = own_busy();
    auto out = std::move(received_.front());
    received_.pop_front();
    if (was_busy && !own_busy() && state_ == rssi_state::open) acknowledge_now_ = true;
    return out;
}

bool rssi_connection::own_busy() const noexcept {
    return received_.size() >= receive_window();
}

std::size_t rssi_connection::receive_window() const noexcept {
    return std::min<std::size_t>(config_.parameters.max_outstanding, half_ring);
}

std::size_t rssi_connection::send_window() const noexcept {
    return std::min<std::size_t>(used_.max_outstanding, half_ring);
}

// Time.

milliseconds rssi_connection::retransmit_timeout() const {
    return milliseconds(used_.retransmit_timeout);
}

/// A client says that it lives; a server gives up one that does not.
rssi_connection::time_point rssi_connection::null_deadline() const {
    if (role_ == rssi_role::client) return last_sent_ + milliseconds(used_.null_timeout) / 3;
    return last_heard_ + milliseconds(used_.null_timeout);
}

std::optional<rssi_connection::time_point> rssi_connection::next_deadline() const {
    if (state_ == rssi_state::syn_sent || state_ == rssi_state::syn_received) return syn_due_;
    if (state_ != rssi_state::open) return std::nullopt;
    auto next = null_deadline();
    if (acknowledge_due_) next = std::min(next, *acknowledge_due_);
    for (const auto& s : flight_) next = std::min(next, s.due);
    return next;
}

void rssi_connection::on_deadline(time_point now) {
    if (state_ == rssi_state::syn_sent || state_ == rssi_state::syn_received) return on_syn_deadline(now);
    if (state_ != rssi_state::open) return;
    if (acknowledge_due_ && *acknowledge_due_ <= now) acknowledge_now_ = true;
    find_overdue(now);
    if (state_ == rssi_state::open && null_deadline() <= now) keep_alive(now);
}

void rssi_connection::on_syn_deadline(time_point now) {
    if (syn_due_ > now) return;
    if (state_ == rssi_state::syn_received && tries_ >= config_.parameters.max_retransmits) {
        state_ = rssi_state::listening;
        return;
    }
    syn_now_ = true;
}

void rssi_connection::find_overdue(time_point now) {
    for (auto& s : flight_) {
        if (s.due > now) continue;
        if (peer_busy_) {
            s.due = now + retransmit_timeout();
        } else if (s.transmissions >= used_.max_retransmits) {
            return lose("a segment was sent max_retransmits times and never acknowledged", true);
        } else {
            s.again = true;
        }
    }
}

void rssi_connection::keep_alive(time_point now) {
    if (role_ == rssi_role::server) return lose("nothing came for the null timeout", true);
    if (flight_.size() < send_window()) {
        null_now_ = true;
        return;
    }
    // A busy side with a full window has nothing else to tell us by that it is free again.
    flight_.front().again = true;
    flight_.front().transmissions = 0;
    last_sent_ = now;
}

// Sending.

void rssi_connection::send(std::span<const std::byte> payload) {
    if (state_ == rssi_state::open) queue_.emplace_back(payload.begin(), payload.end());
}

std::size_t rssi_connection::max_payload() const noexcept {
    return used_.max_segment - rssi_header_bytes;
}

std::size_t rssi_connection::next_segment(std::span<std::byte> out, time_point now) {
    if (std::exchange(reset_now_, false))
        return emit(out, {.rst = true, .sequence = next_sequence_++}, {}, now);
    if (std::exchange(syn_now_, false)) return emit_syn(out, now);
    if (state_ != rssi_state::open) return 0;
    return emit_next(out, now);
}

std::size_t rssi_connection::emit_syn(std::span<std::byte> out, time_point now) {
    if (tries_++ > 0) ++counters_.retransmits;
    rssi_header h{.syn = true, .parameters = config_.parameters};
    if (role_ == rssi_role::server) {
        syn_due_ = now + milliseconds(config_.parameters.retransmit_timeout);
        h.ack = true;
        h.sequence = syn_sequence_;
        return emit(out, h, {}, now);
    }
    syn_due_ = now + config_.try_period;
    syn_sequence_ = h.sequence = next_sequence_++;
    if (tries_ == 1) first_try_ = syn_sequence_;
    if (tries_ > remembered_tries) first_try_ = after(first_try_);
    return emit(out, h, {}, now);
}

std::size_t rssi_connection::emit_next(std::span<std::byte> out, time_point now) {
    for (auto& s : flight_) {
        if (!std::exchange(s.again, false)) continue;
        ++s.transmissions;
        ++counters_.retransmits;
        return emit_sent(out, s, now);
    }
    const bool has_room = flight_.size() < send_window();
    if (has_room && !peer_busy_ && !queue_.empty()) {
        null_now_ = false;
        flight_.push_back({.sequence = next_sequence_++, .payload = std::move(queue_.front())});
        queue_.pop_front();
        ++counters_.sent;
        return emit_sent(out, flight_.back(), now);
    }
    if (has_room && std::exchange(null_now_, false)) {
        flight_.push_back({.sequence = next_sequence_++, .nul = true});
        return emit_sent(out, flight_.back(), now);
    }
    if (acknowledge_now_) return emit(out, {.ack = true, .sequence = next_sequence_}, {}, now);
    return 0;
}

std::size_t rssi_connection::emit_sent(std::span<std::byte> out, sent_segment& s, time_point now) {
    s.due = now + retransmit_timeout();
    return emit(out, {.ack = true, .nul = s.nul, .sequence = s.sequence}, s.payload, now);
}

std::size_t rssi_connection::emit(std::span<std::byte> out, rssi_header h, std::span<const std::byte> payload,
                                  time_point now) {
    h.acknowledge = h.ack ? after(expected_, 255) : std::uint8_t{0};
    h.busy = h.ack && !h.syn && own_busy();
    encode(out, h);
    std::copy(payload.begin(), payload.end(), out.begin() + static_cast<std::ptrdiff_t>(h.size()));
    if (h.ack) {
        acknowledge_now_ = false;
        acknowledge_due_.reset();
        unacknowledged_received_ = 0;
    }
    last_sent_ = now;
    return h.size() + payload.size();
}

} // namespace rocio::fpga
