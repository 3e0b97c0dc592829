#pragma once

#include <rocio/fpga/detail/hsb_control_core.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::fpga::detail {

/// One request at a time, each repeated until its answer is there. All of it runs on a strand of its own,
/// whatever executor the user's object has; last_error() and snapshot() excepted.
class hsb_control_core : public std::enable_shared_from_this<hsb_control_core> {
  public:
    using strand_type = asio::strand<asio::any_io_executor>;
    template <class T>
    using task = asio::awaitable<T, strand_type>;

    /// What a cancellation finds of an operation.
    class operation : public std::enable_shared_from_this<operation> {
      public:
        explicit operation(const hsb_control_core_ptr& core) : core_(core) {}

        bool cancelled() const noexcept { return cancelled_; }
        /// On the core's strand.
        void cancel() {
            cancelled_ = true;
            if (const auto core = core_.lock(); core && core->current_ == this) core->interrupt();
        }
        /// Any thread.
        void request_cancel() {
            const auto core = core_.lock();
            if (!core) return;
            asio::post(core->strand_, [weak = weak_from_this()] {
                if (const auto self = weak.lock()) self->cancel();
            });
        }

      private:
        std::weak_ptr<hsb_control_core> core_;
        bool cancelled_ = false;
    };
    using operation_ptr = std::shared_ptr<operation>;

    hsb_control_core(const asio::any_io_executor& executor, const asio::ip::udp::endpoint& peer,
                     const hsb_control_config& config);

    const strand_type& strand() const noexcept { return strand_; }
    error_info last_error() const;
    hsb_control_snapshot snapshot() const noexcept;

    // On the strand. The spans outlive the tasks.
    static task<error_code> read(hsb_control_core_ptr self, operation_ptr op,
                                 std::span<const std::uint32_t> addresses, std::span<std::uint32_t> values);
    static task<error_code> write(hsb_control_core_ptr self, operation_ptr op,
                                  std::span<const hsb_register> registers);
    void cancel_current();
    void close();

  private:
    class place;
    using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>, strand_type>;
    /// Token of the coroutines: errors are values.
    static constexpr asio::as_tuple_t<asio::use_awaitable_t<strand_type>> as_result{
        asio::use_awaitable_t<strand_type>{}};

    /// Sends batch_ until it is answered; a read leaves its values there.
    task<error_code> exchange(hsb_command command, const operation& op);
    task<error_code> send(std::size_t length, const operation& op);
    /// asio::error::timed_out when this try was not answered.
    task<error_code> await_answer(hsb_command command, std::uint16_t sequence, const operation& op);
    std::optional<error_code> judge(std::span<const std::byte> datagram, hsb_command command,
                                    std::uint16_t sequence);
    error_code fail(hsb_command command, const error_code& ec);
    void start_timer();
    void interrupt();
    bool over(const operation& op) const noexcept { return closed_ || op.cancelled(); }

    strand_type strand_;
    asio::basic_datagram_socket<asio::ip::udp, strand_type> socket_;
    timer timer_;
    asio::ip::udp::endpoint peer_;
    hsb_control_config config_;

    operation* current_ = nullptr;
    bool closed_ = false;
    bool expired_ = false;
    bool in_step_ = false; ///< The FPGA has seen our last number.
    std::uint64_t waits_ = 0;
    std::uint16_t next_sequence_;
    error_code unreachable_{}; ///< What the network said of the current request.
    error_info last_error_{};

    std::vector<hsb_register> batch_{};
    std::array<std::byte, hsb_max_datagram> out_{}, in_{};
    std::atomic<std::uint64_t> requests_{0}, retries_{0}, refusals_{0}, ignored_{0};
};

} // namespace rocio::fpga::detail
