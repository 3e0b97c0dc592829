#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace rocio::detail {

/// Completes with void(error_code, device_event).
class event_operation : public async::operation<device_event> {
  protected:
    using operation::operation;
    ~event_operation() = default;
};

class monitor_impl final : public completion_sink {
  public:
    /// Throws rocio::exception.
    monitor_impl(completion_engine& engine, std::shared_ptr<device> dev);
    ~monitor_impl();
    monitor_impl(const monitor_impl&) = delete;
    monitor_impl& operator=(const monitor_impl&) = delete;

    completion_engine& engine() const noexcept { return engine_; }
    void start(event_operation* op);
    void cancel();
    void cancel(const void* key, asio::cancellation_type type);
    std::uint64_t lost() const;

    void on_completion(const work_completion&) noexcept override {}
    void on_device_event(const device_event& event) noexcept override;
    void on_shutdown(async::operation_queue<>& pending) noexcept override;

  private:
    void finish_all(const error_code& ec) noexcept;

    completion_engine& engine_;
    std::shared_ptr<device> device_;
    wr_id place_{};
    std::array<device_event, 64> kept_{}; ///< A ring.
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    async::operation_queue<event_operation> waiting_;
    std::uint64_t lost_ = 0;
    bool fatal_ = false; ///< The device is gone: no further event comes.
};

} // namespace rocio::detail
