#pragma once

#include <rocio/io/completion_engine.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/io/detail/queue_pair_core.hpp>
#include <rocio/io/detail/slot_fifo.hpp>
#include <rocio/ring/detail/held_slots.hpp>
#include <rocio/ring/detail/receives_to_post.hpp>
#include <rocio/ring/detail/ring_memory.hpp>
#include <rocio/ring/detail/ring_operations.hpp>
#include <rocio/ring/detail/slot_set.hpp>
#include <rocio/ring/ring_config.hpp>
#include <rocio/ring/ring_snapshot.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::detail {

/// Everything of a ring_transceiver that does not depend on its executor's type. Its state is guarded by the
/// engine's lock; in unified mode the engine never turns, and the caller's thread sweeps the device under the
/// same lock.
class ring_core final : public completion_sink,
                        public connectable,
                        public std::enable_shared_from_this<ring_core> {
  public:
    /// Throws rocio::exception.
    ring_core(completion_engine& engine, const ring_config& config);
    ~ring_core() override;

    completion_engine& engine() const noexcept { return core_.engine(); }
    const ring_config& config() const noexcept { return config_; }
    const std::shared_ptr<ring_memory>& memory() const noexcept { return memory_; }

    error_info setup();
    local_parameters local() const;
    error_info connect(const peer_parameters& peer);
    void stop();
    bool is_connected() const;
    error_info last_error() const;
    ring_snapshot snapshot() const;

    // The slots, by number. Any thread, as ring_transceiver says.
    bool tx_free(std::uint32_t slot) const noexcept;
    error_code publish(std::uint32_t slot, std::size_t length) noexcept;
    void release(std::uint32_t slot) noexcept;
    /// The next filled slot in order of arrival.
    bool take(std::uint32_t& slot);
    bool rx_poll(std::uint32_t& slot);
    bool tx_publish(std::uint32_t slot, std::size_t length);

    void start(ring_receive_operation* op);
    void start(ring_wait_operation* op);
    void cancel(std::uint64_t id);
    void cancel_all(const error_code& ec);
    std::uint64_t next_id() noexcept { return last_id_.fetch_add(1, std::memory_order_relaxed) + 1; }

    asio::any_io_executor control_executor() override;
    error_info prepare(local_parameters& out) override;
    void connecting(std::unique_ptr<liveness> attempt) override;
    error_info establish(const peer_parameters& peer) override;
    void connected(std::unique_ptr<liveness> watch) override;
    void disconnected(const error_info& cause) override;

    void on_completion(const work_completion& completion) noexcept override;
    void on_completions(std::span<const work_completion> batch) noexcept override;
    bool sorts_batches() const noexcept override { return true; }
    void on_device_event(const device_event& event) noexcept override;
    bool on_sweep() noexcept override;
    bool on_park() noexcept override;
    void on_shutdown(async::operation_queue<>& pending) noexcept override;

  private:
    /// Copies that the device may hold: so many times copies_per_signal_, and those before the first of them.
    static constexpr std::uint32_t most_signals_out = 3;
    // In the slot of a wr_id.
    static constexpr std::uint32_t send_bit = 0x80000000; ///< A send.
    static constexpr std::uint32_t copy_bit = 0x40000000; ///< Of bytes that the device copied.
    enum class phase : std::uint8_t { fresh, ready, connecting, connected, disconnected, stopped };
    enum class send_state : std::uint8_t { idle, claimed, posted };

    // *locked* from here on.
    error_info open();
    error_info open_pair();
    void send_to(const peer_parameters& peer);
    void begin_activity() noexcept;
    void end_activity() noexcept;
    void enter(phase next) noexcept {
        phase_ = next;
        recall_offered();
        const bool answers = next == phase::connected && config_.mode == ring_mode::unified;
        answering_ = answers ? config_.slots : 0;
    }
    void end_session(const error_info& cause, phase next) noexcept;
    void reset_slots() noexcept;
    error_code end_reason() const noexcept;
    void receive(const work_completion& completion) noexcept;
    bool slot_of(const work_completion& completion, std::uint32_t& slot) noexcept;
    void arrived(std::uint32_t slot, std::uint32_t token) noexcept;
    void deliver(const slot_run& run) noexcept;
    void forward(std::uint32_t slot, std::uint32_t token) noexcept;
    std::size_t pass_on(std::span<const work_completion> batch, std::uint32_t tag) noexcept;
    std::size_t dispatch(std::span<const work_completion> batch) noexcept;
    std::size_t receive_run(std::span<const work_completion> batch) noexcept;
    struct filled_run {
        std::uint32_t slots = 0, completions = 0;
    };
    struct expected_run {
        std::uint64_t outcome, id; ///< Of all, and of the first one.
    };
    template <bool write, bool flags>
    std::uint32_t fill_slots(const work_completion* at, std::uint32_t most, std::uint32_t slot,
                             expected_run expected) noexcept;
    template <bool write>
    filled_run fill_unified(std::span<const work_completion> batch, std::uint32_t most, std::uint32_t slot,
                            expected_run expected) noexcept;
    bool is_copy_gone(const work_completion& completion) const noexcept;
    void count_arrivals(std::uint32_t slot, std::uint32_t n) noexcept;
    void tell_of_arrivals() noexcept;
    bool take_next(std::uint32_t& slot) noexcept;
    bool take_contended(std::uint32_t& slot);
    bool retire(std::uint32_t slot) noexcept;
    bool check_released() noexcept;
    bool check_released(const slot_run& run) noexcept;
    bool check_parts(const slot_run& run) noexcept;
    void leave(const slot_run& run) noexcept;
    void deliver_again(std::uint32_t slot, std::uint32_t n) noexcept;
    void count_held(completion_engine::time_point since, std::uint32_t n) noexcept;
    void record_held() noexcept;
    bool is_published(std::uint32_t slot) const noexcept;
    bool finds_published() noexcept;
    bool send_published() noexcept;
    bool claim(std::uint32_t slot) noexcept;
    bool build_send(std::uint32_t slot, std::uint64_t flag) noexcept;
    bool is_flagged(std::uint32_t slot) const noexcept;
    bool may_answer(std::uint32_t slot) const noexcept;
    void hold_back(std::uint32_t slot) noexcept;
    std::uint32_t first_posted() const noexcept;
    bool fetch_next() noexcept;
    void offer_rest() noexcept;
    /// From here on rx_poll() takes the lock.
    void recall_offered() noexcept {
        if (!offered_.any) return;
        next_ = offered_.next.load(std::memory_order_relaxed);
        offered_.end.store(0, std::memory_order_relaxed);
        offered_.any = false;
    }
    void note_taken() noexcept {
        if (offered_.any) next_ = offered_.next.load(std::memory_order_relaxed);
        if (next_ == taken_from_) return;
        untaken_.erase(taken_from_, next_ - taken_from_);
        taken_from_ = next_;
    }
    bool rx_poll_after_sweep(std::uint32_t& slot);
    bool tx_publish_from_slot(std::uint32_t slot, std::size_t length);
    bool tx_publish_signalled(std::uint32_t slot, std::size_t length);
    bool tx_publish_refused(errc reason);
    bool tx_publish_otherwise(std::uint32_t slot, std::size_t length);
    const send_request& next_copy(std::uint32_t slot, std::size_t length) noexcept;
    bool post_copy(std::uint32_t slot, std::size_t length) noexcept;
    void copy_left(std::uint32_t slot, const work_completion& completion) noexcept;
    void signal_seen() noexcept {
        if (signals_out_ > 0) --signals_out_;
    }
    bool post_answer(std::uint32_t slot, std::uint32_t length) noexcept;
    bool post_sends() noexcept;
    void sent(std::uint32_t slot, const work_completion& completion) noexcept;
    std::size_t sent_run(std::span<const work_completion> batch) noexcept;
    template <bool clears>
    std::uint32_t free_slots(const work_completion* at, std::uint32_t most, std::uint32_t first) noexcept;
    bool post_receives() noexcept;
    bool post_waiting() noexcept;
    bool receives_refused(errc reason) noexcept;
    void sweep_device() noexcept;
    bool refused(errc reason) noexcept;
    void progress() noexcept;
    void finish_operations(const error_code& ec) noexcept;
    void tell_of_sends() noexcept;
    bool has_filled() const noexcept { return next_ != next_end_ || !arrivals_.empty(); }
    bool receives() const noexcept { return config_.mode != ring_mode::tx_only; }
    bool sends() const noexcept { return config_.mode != ring_mode::rx_only; }
    bool uses_flags() const noexcept {
        return config_.mode != ring_mode::forward && config_.mode != ring_mode::unified;
    }

    ring_config config_;
    mutable queue_pair_core core_;
    std::shared_ptr<ring_memory> memory_;
    std::uint64_t* const tx_flags_;                      ///< Those of `memory_`.
    std::unique_ptr<device_memory_region> local_region_; ///< Both rings, for our own work requests.
    std::unique_ptr<device_memory_region> rx_region_;    ///< What the peer writes into.
    std::vector<send_request> send_requests_;            ///< Prebuilt, by slot.
    std::vector<send_request> copies_; ///< The same of answers that the device copies; unified mode only.
    std::vector<send_request> send_chain_;
    receives_to_post to_post_;
    slot_set filled_;  ///< The slots of `held_`.
    slot_set again_;   ///< A message came while they were held.
    slot_set untaken_; ///< Filled, and nobody was given them yet.
    std::vector<send_state> tx_;
    std::vector<std::atomic<std::uint32_t>> lengths_; ///< Of the next publish of a slot; 0: frame_size.
    held_slots held_;                                 ///< Their flags are set and not yet seen cleared.
    std::vector<std::uint32_t> tokens_;               ///< Of the slots that are on their way back (forward).
    slot_fifo arrivals_; ///< The untaken slots in order of arrival, behind these:
    /// next_ to next_end_ - 1 are to be taken next. Those before, from taken_from_ on, were taken; untaken_
    /// is told of that of all at once, before it is asked.
    std::uint32_t taken_from_ = 0, next_ = 0, next_end_ = 0;
    std::uint32_t posted_ = 0, in_flight_ = 0;
    std::uint32_t immediate_mask_ = 0;      ///< What of an immediate names the slot.
    std::uint64_t id_step_ = wr_id::step(); ///< In memory: GCC makes the constant anew for each completion.
    std::uint32_t tx_cursor_ = 0;           ///< Where the next published flag is expected.
    bool needs_progress_ = true;
    bool sent_unseen_ = false;  ///< A send was done and no wait has told of it yet.
    std::uint32_t tx_scan_ = 0; ///< Where the search for others goes on.

    async::operation_queue<ring_receive_operation> receiving_;
    async::operation_queue<ring_wait_operation> waiting_;
    std::atomic<std::uint64_t> last_id_{0};

    phase phase_ = phase::fresh;
    /// Of next_ to next_end_ - 1 what rx_poll() gives without the lock. `next` is its thread's, the others
    /// are changed under the lock; an end of 0 or `next`: nothing.
    struct {
        std::atomic<std::uint32_t> next{0}, end{0};
        bool any = false; ///< next_ is `next`.
    } offered_;
    std::uint32_t answering_ = 0;    ///< Slots, when unified and connected; else none.
    std::uint32_t copied_most_ = 0;  ///< Bytes of an answer that the device copies when it is posted.
    std::uint64_t copied_alone_ = 0; ///< The same; 0 where a post alone sends nothing.
    const send_request* last_copy_ = nullptr;
    std::uint32_t copies_per_signal_;   ///< Of so many copies the first one is signalled.
    std::int32_t unsignalled_left_ = 0; ///< Copies until the next one that is signalled.
    std::uint32_t signals_out_ = 0;     ///< Signalled copies whose completions are not seen yet.
    std::uint64_t copies_posted_ = 0;   ///< With those that are left.
    std::uint64_t copies_failed_ = 0;
    std::uint64_t copied_bytes_ = 0;
    bool active_ = false;
    std::unique_ptr<liveness> watch_;
    error_info last_error_{};
    std::optional<peer_parameters> peer_;
    std::uint64_t received_ = 0, sent_ = 0, overwritten_ = 0, bad_immediate_ = 0, unexpected_ = 0,
                  bad_flag_ = 0;
    std::uint64_t send_errors_ = 0, receive_errors_ = 0, bytes_sent_ = 0;
    latency_histogram held_times_;               ///< Read without the lock.
    completion_engine::time_point held_since_{}; ///< Of the slots released last, not recorded yet,
    std::uint32_t held_alike_ = 0;               ///< and how many those are.
};

} // namespace rocio::detail
