#pragma once

#include <rocio/io/completion_engine.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/io/queue_pair_config.hpp>
#include <rocio/types/gid_table.hpp>

#include <memory>
#include <optional>

namespace rocio::detail {

/// The device-side half of every object that owns a queue pair: device attachment, completion queue, table
/// place, GID choice and state changes. Not an I/O object. All members need the engine's lock held; the
/// destructor takes it.
class queue_pair_core {
  public:
    queue_pair_core(completion_engine& engine, std::shared_ptr<device> dev, const queue_pair_config& config);
    queue_pair_core(const queue_pair_core&) = delete;
    queue_pair_core& operator=(const queue_pair_core&) = delete;
    ~queue_pair_core();

    /// Makes queue pair and table place. `sink` gets the completions. Leaves nothing behind on failure.
    error_info open(completion_sink& sink);
    /// Makes a fresh queue pair in place of the old one, for a reconnect.
    error_info reopen(completion_sink& sink);
    /// Destroys the queue pair: nothing is read from or written to its buffers afterwards, and its
    /// completions are stale. A device in software gets to send what it owes the peer first. Idempotent.
    void close() noexcept;
    /// Routes what is queued for it now, so that close() loses nothing that the peer knows to be delivered.
    void drain() noexcept;
    /// Polls the queue once, for who sweeps the device himself. `take` gets what was found, that of others
    /// included (completion_engine::poll()). Not from a sink's own calls.
    template <class Take>
    void poll(Take take) noexcept {
        auto* const queue = completions_;
        errc error = errc::success;
        take(engine_.poll(*device_, queue, error));
        if (error != errc::success) [[unlikely]]
            engine_.break_queue(*device_, queue);
    }
    bool is_open() const noexcept { return queue_pair_ != nullptr; }

    /// Looks the port and its GID table up anew (indices move), checks the path MTU against the port and
    /// moves to INIT.
    error_info to_init();
    /// Only the GID choice of to_init(), for an early error.
    error_info choose_address();

    /// RTR, then RTS; what the handshake imposed replaces our own numbers.
    error_info to_ready(const peer_parameters& peer);

    /// Our side's numbers, without region, payload and depth. After to_init() also the address.
    local_parameters local() const;

    completion_engine& engine() const noexcept { return engine_; }
    const std::shared_ptr<device>& dev() const noexcept { return device_; }
    device_queue_pair& pair() noexcept { return *queue_pair_; }
    const device_queue_pair* pair_or_null() const noexcept { return queue_pair_.get(); }
    /// Empty while there is no queue pair.
    std::optional<queue_pair_state> pair_state() const noexcept {
        return queue_pair_ ? std::optional(queue_pair_->state()) : std::nullopt;
    }
    /// What the device counted for this queue pair and those before it; empty where it does not count.
    std::optional<device_queue_pair_counters> counters() const noexcept;
    const queue_pair_config& config() const noexcept { return config_; }
    queue_pair_config& mutable_config() noexcept { return config_; }
    const gid_table_entry& gid_entry() const noexcept { return gid_; }
    wr_id prefix() const noexcept { return prefix_; }
    wr_id id(std::uint32_t slot) const noexcept { return {prefix_.owner, prefix_.generation, slot}; }

  private:
    error_info check_limits() const;
    error_info check_path_mtu();
    error_info take_imposed(const imposed_parameters& imposed);
    error_info make_queue_pair(completion_sink& sink);
    void give_up_place() noexcept;
    std::uint32_t room() const noexcept { return config_.send_depth + config_.receive_depth; }

    completion_engine& engine_;
    std::shared_ptr<device> device_;
    queue_pair_config config_;
    bool attached_ = false;
    bool has_place_ = false;
    wr_id prefix_{};
    device_completion_queue* completions_ = nullptr;
    std::unique_ptr<device_queue_pair> queue_pair_;
    std::optional<device_queue_pair_counters> earlier_; ///< Of the queue pairs before this one.
    gid_table_entry gid_{};
    mtu path_mtu_ = mtu::b1024;
    psn send_psn_{};
};

/// Checks ranges that no device is needed for.
error_info validate(const queue_pair_config& config);

} // namespace rocio::detail
