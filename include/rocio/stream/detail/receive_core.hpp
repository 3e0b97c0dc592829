#pragma once

#include <rocio/io/completion_engine.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/io/detail/queue_pair_core.hpp>
#include <rocio/io/detail/slot_fifo.hpp>
#include <rocio/stream/detail/channel_counter.hpp>
#include <rocio/stream/detail/slot_pool.hpp>
#include <rocio/stream/detail/slot_runs.hpp>
#include <rocio/stream/detail/view_state.hpp>
#include <rocio/stream/receive_server_config.hpp>
#include <rocio/stream/receive_server_snapshot.hpp>

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::detail {

/// Everything of a receive_server that does not depend on its executor's type.
class receive_core final : public completion_sink,
                           public connectable,
                           public slot_owner,
                           public std::enable_shared_from_this<receive_core> {
  public:
    /// Throws rocio::exception; leaves nothing behind.
    receive_core(completion_engine& engine, const receive_server_config& config);
    ~receive_core() override;

    completion_engine& engine() noexcept { return core_.engine(); }
    const receive_server_config& config() const noexcept { return config_; }
    slot_pool& pool() const noexcept { return *pool_; }

    std::shared_ptr<view_state> make_view(std::optional<std::uint8_t> channel, const view_options& options);
    host_parameters host() const;
    receive_server_snapshot snapshot();
    error_info last_error() const;
    bool is_connected() const;
    error_info set_transport(const transport_config& transport);
    void stop();

    asio::any_io_executor control_executor() override;
    error_info prepare(local_parameters& out) override;
    void connecting(std::unique_ptr<liveness> attempt) override;
    error_info establish(const peer_parameters& peer) override;
    void connected(std::unique_ptr<liveness> watch) override;
    void disconnected(const error_info& cause) override;

    void on_completion(const work_completion& completion) noexcept override {
        on_completions({&completion, 1});
    }
    void on_completions(std::span<const work_completion> batch) noexcept override;
    bool sorts_batches() const noexcept override { return true; }
    void on_device_event(const device_event& event) noexcept override;
    bool on_sweep() noexcept override;
    bool on_park() noexcept override {
        if (pool_->arm()) return true;
        // Whoever returned something may not have called yet, and not run for a while.
        sweep_();
        return false;
    }
    void on_shutdown(async::operation_queue<>& pending) noexcept override;
    const void* round_engine() const noexcept override { return &core_.engine(); }
    void on_returned(slot_runs& slots) noexcept override { give_to_device(slots); }
    void on_recycled(slot_runs& slots) noexcept override { give_to_device(slots); }

    /// *locked*. No error while frames may still come.
    error_code end_reason() const noexcept;
    bool has_ended() const noexcept { return phase_ == phase::disconnected || phase_ == phase::stopped; }
    /// What is delivered now has no other taker.
    bool lends_to_one() const noexcept { return only_view_ != nullptr; }
    void attach_view(view_state& view);
    void detach_view(view_state& view) noexcept;
    /// Frames were replaced: their slots go back, from a round of handlers together with its others.
    void give_back_recycled() noexcept {
        if (!pool_->gather_recycled()) sweep_();
    }

  private:
    enum class phase : std::uint8_t { idle, connecting, connected, disconnected, stopped };
    using clock = std::chrono::steady_clock;
    /// Frames of one channel in slots side by side.
    struct frame_run {
        slot_range slots;
        std::uint64_t bytes = 0;
    };

    error_info open();
    void build_requests() noexcept;
    std::size_t take_frames(std::span<const work_completion> batch, clock::rep now) noexcept;
    void on_other_completion(const work_completion& completion, clock::rep now) noexcept;
    bool is_frame(const work_completion& completion) const noexcept;
    frame_run take_run(std::span<const work_completion> batch, clock::rep now) noexcept;
    void take_over(const frame_run& run, std::uint8_t channel) noexcept;
    void follow(const slot_range& slots) noexcept;
    void deliver(const slot_range& slots) noexcept;
    void refuse(std::uint32_t slot, std::uint64_t& counter) noexcept;
    std::uint32_t count_views(std::uint8_t channel) const noexcept;
    void find_only_view() noexcept;
    bool collect() noexcept;
    void post_free_slots() noexcept;
    void give_to_device(slot_runs& slots) noexcept;
    errc post(slot_runs& slots) noexcept;
    errc post_chain(slot_runs& slots) noexcept;
    errc note_posted(slot_runs& slots, const post_outcome& outcome) noexcept;
    void on_refused(errc reason) noexcept;
    void begin_activity() noexcept;
    void end_session(const error_info& cause, phase next) noexcept;
    void end_activity() noexcept;
    std::chrono::nanoseconds oldest_lease() const noexcept;
    std::vector<receive_server_snapshot::channel> channels() const;
    struct totals {
        std::uint64_t frames = 0, bytes = 0;
    };
    totals total() const noexcept; ///< Of all channels.
    template <class Function>
    void for_each_view(Function function) const {
        for (auto* view : all_views_) function(*view);
        for (const auto& list : channel_views_) {
            for (auto* view : list) function(*view);
        }
    }
    void watch_for_silence();
    void on_silence_due(std::uint64_t session);
    std::string stalled_by() const;
    local_parameters local() const;

    receive_server_config config_;
    mutable queue_pair_core core_;
    std::unique_ptr<slot_pool> pool_;
    std::unique_ptr<device_memory_region> region_;
    std::uint32_t tag_ = 0;                 ///< Of the present queue pair's completions.
    std::vector<receive_request> requests_; ///< Prebuilt for the present queue pair, by slot.
    std::vector<receive_request> chain_;    ///< For slots that do not lie side by side.
    slot_runs free_;         ///< Neither posted nor lent, in the order in which they are to be posted.
    slot_fifo posted_;       ///< In their order, in which they complete.
    std::uint32_t lent_ = 0; ///< With those that were returned, but not taken yet.
    sweep_call sweep_;

    std::vector<view_state*> all_views_;
    bool had_view_ = false;
    view_state* only_view_ = nullptr;  ///< The one that takes every frame, if there is no other.
    std::vector<std::uint32_t> early_; ///< Arrived before there was any view; each holds one lease.
    std::array<std::vector<view_state*>, 256> channel_views_;

    phase phase_ = phase::idle;
    bool active_ = false;
    std::unique_ptr<liveness> watch_;
    error_info last_error_{};
    std::optional<peer_parameters> peer_;
    std::uint64_t sessions_ = 0, idle_ends_ = 0;
    std::optional<asio::steady_timer> silence_; ///< Used under the engine's lock.
    std::uint64_t frames_at_last_look_ = 0;
    std::uint64_t unclaimed_ = 0, without_immediate_ = 0, bad_length_ = 0, unexpected_opcode_ = 0;
    std::vector<channel_counter> channels_ = std::vector<channel_counter>(256);
};

} // namespace rocio::detail
