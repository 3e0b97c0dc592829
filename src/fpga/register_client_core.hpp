#pragma once

#include "fpga/message_transport.hpp"
#include "fpga/register_protocol.hpp"

#include <rocio/async/control_strand.hpp>
#include <rocio/fpga/detail/register_client_core.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

namespace rocio::fpga::detail {

/// Many transactions in flight over any transport, told apart by their numbers. A transaction is a coroutine
/// that waits for its own deadline; its answer ends the wait. All of it runs on one strand, but for
/// last_error() and snapshot().
class register_client_core final : public std::enable_shared_from_this<register_client_core>,
                                   private message_transport::user {
  public:
    using operation = async::cancellable_operation<register_client_core>;
    using operation_ptr = std::shared_ptr<operation>;

    struct limits {
        std::chrono::milliseconds answer_deadline;
        unsigned tries;
    };

    register_client_core(const async::control_strand& strand, std::unique_ptr<register_protocol> protocol,
                         std::unique_ptr<message_transport> transport, const limits& allowed);

    const async::control_strand& strand() const noexcept { return strand_; }
    error_info last_error() const;
    register_client_snapshot snapshot() const noexcept;

    // On the strand. What the access names outlives the task.
    static async::task<error_code> execute(register_client_core_ptr self, operation_ptr op,
                                           register_access access);
    void on_cancel(const operation& op);
    void cancel_all();
    void close();

  private:
    struct transaction;
    class place;

    void on_message(std::span<const std::byte> message) override;
    void on_sent(std::uint32_t id) override;
    void on_failure(const error_info& why) override;

    async::task<void> exchange(transaction& t);
    std::uint32_t free_id();
    bool over(const transaction& t) const noexcept;
    error_info outcome(const transaction& t) const;
    error_code fail(const register_access& access, const error_info& why);

    async::control_strand strand_;
    std::unique_ptr<register_protocol> protocol_;
    std::unique_ptr<message_transport> transport_;
    limits limits_;

    std::map<std::uint32_t, transaction*> pending_{};
    std::uint32_t next_id_;
    bool closed_ = false;
    mutable std::mutex mutex_{}; ///< For last_error_.
    error_info last_error_{};
    std::atomic<std::uint64_t> requests_{0}, retries_{0}, refusals_{0}, failures_{0}, ignored_{0};
};

} // namespace rocio::fpga::detail
