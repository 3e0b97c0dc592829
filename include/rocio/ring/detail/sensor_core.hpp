#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/io/detail/queue_pair_core.hpp>
#include <rocio/ring/detail/sensor_pages.hpp>
#include <rocio/ring/sensor_frame.hpp>
#include <rocio/ring/sensor_receiver_config.hpp>
#include <rocio/ring/sensor_receiver_snapshot.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::detail {

class sensor_core;

/// Completes with void(error_code, sensor_frame).
class sensor_receive_operation : public async::operation<sensor_frame> {
  public:
    std::uint64_t id = 0; ///< Names the operation in a cancellation that may come after it is gone.

  protected:
    using operation::operation;
    ~sensor_receive_operation() = default;
};

/// Lives in a handler's cancellation slot.
struct cancel_sensor_operation {
    std::weak_ptr<sensor_core> receiver;
    std::uint64_t id;
    void operator()(boost::asio::cancellation_type type) const;
};

/// Everything of a sensor_receiver that does not depend on its executor's type. Its state is guarded by the
/// engine's lock.
class sensor_core final : public completion_sink,
                          public connectable,
                          public std::enable_shared_from_this<sensor_core> {
  public:
    /// Throws rocio::exception.
    sensor_core(completion_engine& engine, const sensor_receiver_config& config);
    ~sensor_core() override;

    completion_engine& engine() const noexcept { return core_.engine(); }
    const sensor_receiver_config& config() const noexcept { return config_; }

    error_info setup();
    local_parameters local() const;
    void stop();
    bool is_connected() const;
    error_info last_error() const;
    sensor_receiver_snapshot snapshot() const;

    void start(sensor_receive_operation* op);
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
    void on_device_event(const device_event& event) noexcept override;
    bool on_sweep() noexcept override;
    bool on_park() noexcept override { return true; }
    void on_shutdown(async::operation_queue<>& pending) noexcept override;

  private:
    enum class phase : std::uint8_t { fresh, ready, connecting, connected, disconnected, stopped };
    struct counters {
        std::uint64_t frames = 0, bytes = 0, delivered = 0, skipped = 0, dropped = 0, overwritten = 0;
        std::uint64_t lost = 0, ended_early = 0, renumbered = 0, bad_page = 0, unexpected = 0, errors = 0;
    };

    // *locked* from here on.
    error_info open();
    void begin_session() noexcept;
    void end_session(const error_info& cause, phase next) noexcept;
    error_code end_reason() const noexcept;
    void receive(const work_completion& completion) noexcept;
    void arrived(std::uint32_t page, std::uint32_t immediate) noexcept;
    void count_losses(std::uint32_t number) noexcept;
    void deliver(const sensor_arrival& what) noexcept;
    bool take(sensor_arrival& out) noexcept;
    bool post_receives() noexcept;
    void finish_operations(const error_code& ec) noexcept;

    sensor_receiver_config config_;
    mutable queue_pair_core core_;
    std::shared_ptr<sensor_pages> pages_;
    std::unique_ptr<device_memory_region> region_; ///< What the FPGA writes into.
    std::vector<receive_request> receives_;        ///< All alike: they bring an immediate and no bytes.
    std::uint32_t to_post_ = 0, posted_ = 0;

    arrival_queue queue_;
    async::operation_queue<sensor_receive_operation> receiving_;
    std::atomic<std::uint64_t> last_id_{0};

    phase phase_ = phase::fresh;
    bool active_ = false;
    std::unique_ptr<liveness> watch_;
    error_info last_error_{};
    std::optional<peer_parameters> peer_;
    frame_counter numbers_{};
    std::optional<std::uint32_t> last_number_{};
    std::uint64_t unread_ = 0; ///< Arrivals since the last good one whose metadata were gone.
    counters count_{};
};

} // namespace rocio::detail
