#include <rocio/async/control_strand.hpp>
#include <rocio/fpga/detail/hsb_listener_core.hpp>

#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <atomic>
#include <string>
#include <tuple>
#include <variant>

namespace rocio::fpga::detail {

using async::as_result;
using async::control_strand;
using async::task;

namespace {

constexpr std::size_t longest_datagram = 1500;

/// Asio has no option of that name; its headers bring the number.
class reuse_port {
  public:
    template <class Protocol>
    static int level(const Protocol&) noexcept {
        return SOL_SOCKET;
    }
    template <class Protocol>
    static int name(const Protocol&) noexcept {
        return SO_REUSEPORT;
    }
    template <class Protocol>
    const int* data(const Protocol&) const noexcept {
        return &on_;
    }
    template <class Protocol>
    static std::size_t size(const Protocol&) noexcept {
        return sizeof(int);
    }

  private:
    int on_ = 1;
};

} // namespace

/// One operation at a time; all of it on a strand.
class hsb_listener_core : public std::enable_shared_from_this<hsb_listener_core> {
  public:
    using operation = async::cancellable_operation<hsb_listener_core>;
    using result = std::tuple<error_code, hsb_sighting>;

    explicit hsb_listener_core(const asio::any_io_executor& executor)
        : strand_(asio::make_strand(executor)), socket_(strand_) {}

    error_info open(const asio::ip::udp::endpoint& where) {
        error_code ec;
        socket_.open(where.protocol(), ec);
        if (!ec) socket_.set_option(asio::socket_base::reuse_address(true), ec);
        if (!ec) socket_.set_option(reuse_port(), ec);
        if (!ec) socket_.bind(where, ec);
        if (!ec) local_ = socket_.local_endpoint(ec);
        if (!ec) return {};
        return {ec, "listening for announcements at UDP " + where.address().to_string() + ":" +
                        std::to_string(where.port()) + ": " + ec.message()};
    }

    const control_strand& strand() const noexcept { return strand_; }
    const asio::ip::udp::endpoint& local_endpoint() const noexcept { return local_; }
    hsb_listener_snapshot snapshot() const noexcept {
        return {announcements_.load(std::memory_order_relaxed), ignored_.load(std::memory_order_relaxed)};
    }

    void on_cancel(const operation& op) {
        if (current_ == &op) interrupt();
    }
    void cancel_current() {
        if (current_ != nullptr) current_->cancel();
    }
    void interrupt() {
        error_code ignored;
        socket_.cancel(ignored);
    }

    static task<result> next(hsb_listener_core_ptr self, std::shared_ptr<operation> op) {
        if (self->current_ != nullptr) co_return result{errc::invalid_state, {}};
        self->current_ = op.get();
        auto out = co_await self->receive(op->cancelled());
        self->current_ = nullptr;
        co_return out;
    }

  private:
    task<result> receive(const bool& cancelled) {
        while (!cancelled) {
            asio::ip::udp::endpoint from;
            auto [ec, n] = co_await socket_.async_receive_from(asio::buffer(in_), from, as_result);
            if (cancelled) break;
            if (ec) co_return result{ec, {}};
            const auto parsed = parse_announcement(std::span<const std::byte>(in_).first(n));
            const auto* board = std::get_if<hsb_announcement>(&parsed);
            (board != nullptr ? announcements_ : ignored_).fetch_add(1, std::memory_order_relaxed);
            if (board != nullptr) co_return result{error_code(), hsb_sighting{*board, from.address()}};
        }
        co_return result{asio::error::operation_aborted, {}};
    }

    control_strand strand_;
    asio::basic_datagram_socket<asio::ip::udp, control_strand> socket_;
    asio::ip::udp::endpoint local_{};
    operation* current_ = nullptr;
    std::array<std::byte, longest_datagram> in_{};
    std::atomic<std::uint64_t> announcements_{0}, ignored_{0};
};

hsb_listener_core_ptr make_hsb_listener_core(const asio::any_io_executor& executor,
                                             const asio::ip::udp::endpoint& where) {
    auto core = std::make_shared<hsb_listener_core>(executor);
    throw_if(core->open(where));
    return core;
}

void start_next(const hsb_listener_core_ptr& core, hsb_sighting_completion handler) {
    if (!core) return handler.post(errc::invalid_state, {});
    auto op = std::make_shared<hsb_listener_core::operation>(core);
    async::relay_cancellation(handler.slot(), op);
    async::run_task(core->strand(), hsb_listener_core::next(core, op), std::move(handler));
}

void cancel(const hsb_listener_core_ptr& core) {
    if (core) asio::post(core->strand(), [core] { core->cancel_current(); });
}

asio::ip::udp::endpoint local_endpoint_of(const hsb_listener_core_ptr& core) {
    return core ? core->local_endpoint() : asio::ip::udp::endpoint();
}

hsb_listener_snapshot snapshot_of(const hsb_listener_core_ptr& core) {
    return core ? core->snapshot() : hsb_listener_snapshot{};
}

void abandon(hsb_listener_core_ptr&& core) noexcept {
    const auto taken = std::move(core);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->cancel_current(); });
    } catch (const std::bad_alloc&) {
        // What waits can be cancelled by its own handler.
    }
}

} // namespace rocio::fpga::detail
