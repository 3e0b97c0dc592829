#pragma once

#include "transport/ack_timer.hpp"
#include "transport/packet_train.hpp"
#include "transport/psn_window.hpp"
#include "transport/retry_budget.hpp"
#include "transport/rnr_wait.hpp"
#include "transport/segmentation.hpp"
#include "transport/send_queue.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::transport {

/// The sending half of a reliable connection: go-back-N over the send queue, driven by acknowledgements, READ
/// responses and timers. A READ takes as many packet numbers as it has response packets.
///
/// Functions that give an `errc` give the status with which the oldest work request has failed; the owner
/// then calls fail() and takes the queue pair to the error state.
class requester {
  public:
    requester(const queue_pair_config& config, const memory_region_table& regions,
              completion_ring& completions, queue_pair_counters& counters);

    void connect(const segmentation& cutter, const send_path& path) noexcept;

    std::size_t outstanding() const noexcept { return queue_.size(); }
    void post(const send_request& request) noexcept;

    [[nodiscard]] errc on_response(psn sequence, wire::aeth answer, time_point now) noexcept;
    [[nodiscard]] errc on_read_response(const wire::packet_view& packet, time_point now) noexcept;
    [[nodiscard]] errc on_deadline(time_point now) noexcept;
    time_point next_deadline() const noexcept;

    bool wants_to_send(time_point now) const noexcept;
    std::size_t fill(std::span<packet_out> out, time_point now) noexcept;
    void commit(std::size_t n, time_point now) noexcept;
    /// The packets of the last fill() can no longer be committed.
    void withdraw_offer() noexcept { planned_ = 0; }
    void end_trains() noexcept { window_.end_trains(); }
    /// fill() came to the oldest work request and may not read its buffer.
    bool buffer_refused() const noexcept { return refused_ == refusal::oldest; }

    /// Completes the oldest with `status` and flushes the others.
    void fail(errc status) noexcept;
    void flush() noexcept;

  private:
    enum class refusal : std::uint8_t { none, later, oldest };

    /// The next packet to send, and what is in flight before it.
    struct cursor {
        std::uint64_t entry = 0;
        packet_number number = 0;
        std::uint32_t packet = 0; ///< Within the entry.
        in_flight flight{};
        in_flight responses{};   ///< Asked for by READs and not here yet.
        std::uint32_t reads = 0; ///< READ requests without their last response.
        in_flight since_asked{};
        std::uint64_t bytes = 0; ///< Payload sent, ever.
        packet_train train{};    ///< Of this fill() that the next packet may join.
    };
    static constexpr std::size_t max_burst = 64;
    /// More than packets without acknowledgement and READ responses together, 128 each.
    static constexpr std::size_t costs_kept = 256;

    const psn_window& window_of(const send_entry& e) const noexcept {
        return e.is_read() ? response_window_ : window_;
    }
    std::uint32_t cost_of(const send_entry& e, std::uint32_t from, std::uint32_t to) const noexcept;
    bool admits(const cursor& c) const noexcept;
    bool has_trains() const noexcept { return window_.longest_train() > 1; }
    bool joins_train(const cursor& c) const noexcept;
    bool asks_at(const cursor& after, bool more) const noexcept;
    void keep_costs(std::size_t n) noexcept;
    std::uint32_t kept_cost(packet_number from, packet_number to) const noexcept;
    void leave_flight(const send_entry& e, std::uint32_t from, std::uint32_t to) noexcept;
    void leave_flight_before(packet_number end) noexcept;
    bool may_send(time_point now) const noexcept;
    bool sendable(const cursor& c) noexcept;
    bool may_read(const cursor& c) noexcept;
    cursor step(const cursor& c) const noexcept;
    void go_back() noexcept;
    std::optional<packet_number> sent_number(psn sequence) const noexcept;
    packet_number without_responses(packet_number end) const noexcept;
    bool acknowledge_before(packet_number end, time_point now) noexcept;
    errc repeat() noexcept;
    errc on_not_ready(packet_number n, rnr_timer timer, time_point now) noexcept;
    errc on_nak(packet_number n, std::uint8_t code, time_point now) noexcept;
    errc on_sequence_nak(packet_number n, time_point now) noexcept;
    bool fits_place(wire::opcode op, const send_entry& e, std::uint32_t packet) const noexcept;
    errc take_response(const wire::packet_view& packet, time_point now) noexcept;

    const memory_region_table& regions_;
    completion_ring& completions_;
    queue_pair_counters& counters_;

    send_queue queue_;
    segmentation cutter_{};
    psn first_{};
    psn_window window_{};
    psn_window response_window_{};
    std::uint32_t initiator_depth_ = default_initiator_depth;
    ack_timer timer_{};
    rnr_wait rnr_{};
    retry_budget retries_{};
    retry_budget rnr_retries_{};

    cursor next_{};
    packet_number never_sent_ = 0;      ///< One more than the newest packet that was ever sent.
    bool repeating_ = false;            ///< Went back since the last progress.
    packet_number read_again_from_ = 0; ///< Where the newest READ request inside a chunk began.
    refusal refused_ = refusal::none;
    std::uint64_t may_read_entry_ = 0; ///< Checked in this fill(), + 1; 0: none.

    std::array<cursor, max_burst> plan_{}; ///< Where `next_` stands after each packet of the last fill().
    std::size_t planned_ = 0;
    /// What each packet in flight cost, which depends on the train it left in; by its number.
    std::array<std::uint32_t, costs_kept> costs_{};
    bool keeps_costs_ = false;
};

} // namespace rocio::transport
