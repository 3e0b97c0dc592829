#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/types/work_completion.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rocio {

/// Completes with void(error_code, std::size_t).
class poll_operation : public async::operation<std::size_t> {
  public:
    std::span<work_completion> out;

  protected:
    poll_operation(function f, std::span<work_completion> o) noexcept : operation(f), out(o) {}
    ~poll_operation() = default;
};

/// The ring behind a completion_queue.
///
/// `depth` completions may wait in it; with so many nothing more is posted (errc::queue_full). What is on the
/// devices by then, `depth` at most by promise(), still finds room, so the ring holds twice that and never
/// overflows.
class raw_completions final : public completion_sink {
  public:
    /// Throws rocio::exception: errc::invalid_argument for depth 0, what completion_engine::attach() gives.
    raw_completions(completion_engine& engine, std::shared_ptr<device> dev, std::uint32_t depth);
    ~raw_completions();
    raw_completions(const raw_completions&) = delete;
    raw_completions& operator=(const raw_completions&) = delete;

    completion_engine& engine() const noexcept { return engine_; }
    const std::shared_ptr<device>& dev() const noexcept { return device_; }

    void start(poll_operation* op);
    void cancel();
    void cancel(const void* key, asio::cancellation_type type);
    std::size_t take(std::span<work_completion> out);

    /// Room for a queue pair's completions. *locked* from here on.
    error_info promise(std::uint32_t n);
    /// The queue pair is gone.
    void give_back(wr_id prefix, std::uint32_t n) noexcept;
    /// Drops what waits of a queue pair.
    void forget(wr_id prefix) noexcept;
    void push(const work_completion& completion) noexcept;
    bool is_full() const noexcept { return count_ >= depth_; }

    void on_completion(const work_completion&) noexcept override {}
    void on_device_event(const device_event& event) noexcept override;
    /// Once per sweep, not per completion, so that a batch is given at once.
    bool on_sweep() noexcept override;
    void on_shutdown(async::operation_queue<>& pending) noexcept override;

  private:
    std::size_t take_locked(std::span<work_completion> out) noexcept;
    void finish(const error_code& ec, std::size_t n) noexcept;
    work_completion& place(std::size_t i) noexcept { return ring_[(head_ + i) % ring_.size()]; }

    completion_engine& engine_;
    std::shared_ptr<device> device_;
    wr_id place_{};
    std::uint32_t depth_;
    std::vector<work_completion> ring_;
    std::size_t head_ = 0;
    std::size_t count_ = 0;
    std::uint32_t promised_ = 0;
    poll_operation* waiting_ = nullptr;
    error_code failure_{};
};

} // namespace rocio
