#include "fpga/hsb_control_core.hpp"

#include <rocio/async/exception_code.hpp>
#include <rocio/fpga/hsb_error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <variant>

namespace rocio::fpga::detail {

namespace {

/// The vendor's host begins here.
constexpr std::uint16_t first_sequence = 0x100;

std::string hex(std::uint32_t value) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text = "0x00000000";
    for (std::size_t i = text.size(); value != 0; value >>= 4) text[--i] = digits[value & 0xF];
    return text;
}

std::string to_text(const asio::ip::udp::endpoint& e) {
    const auto address = e.address().to_string();
    return (e.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(e.port());
}

} // namespace

hsb_control_core::hsb_control_core(const asio::any_io_executor& executor, const asio::ip::udp::endpoint& peer,
                                   const hsb_control_config& config)
    : strand_(asio::make_strand(executor)),
      socket_(strand_),
      timer_(strand_),
      peer_(peer),
      config_(config),
      next_sequence_(first_sequence) {
    socket_.open(peer.protocol());
    // The kernel keeps out what comes from elsewhere.
    socket_.connect(peer);
    batch_.reserve(config.registers_per_request);
}

void hsb_control_core::close() {
    closed_ = true;
    interrupt();
}

void hsb_control_core::interrupt() {
    error_code ignored;
    socket_.cancel(ignored);
    timer_.cancel();
}

error_info hsb_control_core::last_error() const {
    return last_error_;
}

hsb_control_snapshot hsb_control_core::snapshot() const noexcept {
    return {requests_.load(std::memory_order_relaxed), retries_.load(std::memory_order_relaxed),
            refusals_.load(std::memory_order_relaxed), ignored_.load(std::memory_order_relaxed)};
}

void hsb_control_core::cancel_current() {
    if (current_ != nullptr) current_->cancel();
}

/// Takes the only place for an operation.
class hsb_control_core::place {
  public:
    place(hsb_control_core& core, operation& op) : core_(core), taken_(core.current_ == nullptr) {
        if (taken_) core.current_ = &op;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
        if (taken_) core_.current_ = nullptr;
    }
    bool taken() const noexcept { return taken_; }

  private:
    hsb_control_core& core_;
    bool taken_;
};

hsb_control_core::task<error_code> hsb_control_core::read(hsb_control_core_ptr self, operation_ptr op,
                                                          std::span<const std::uint32_t> addresses,
                                                          std::span<std::uint32_t> values) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return errc::invalid_state;
    for (std::size_t done = 0; done < addresses.size(); done += self->batch_.size()) {
        const auto n = std::min(self->config_.registers_per_request, addresses.size() - done);
        self->batch_.clear();
        for (const auto address : addresses.subspan(done, n)) self->batch_.push_back({address, 0});
        const auto ec =
            co_await self->exchange(n == 1 ? hsb_command::read_dword : hsb_command::read_block, *op);
        if (ec) co_return ec;
        for (std::size_t i = 0; i < n; ++i) values[done + i] = self->batch_[i].value;
    }
    co_return error_code();
}

hsb_control_core::task<error_code> hsb_control_core::write(hsb_control_core_ptr self, operation_ptr op,
                                                           std::span<const hsb_register> registers) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return errc::invalid_state;
    for (std::size_t done = 0; done < registers.size(); done += self->batch_.size()) {
        const auto n = std::min(self->config_.registers_per_request, registers.size() - done);
        const auto piece = registers.subspan(done, n);
        self->batch_.assign(piece.begin(), piece.end());
        const auto ec =
            co_await self->exchange(n == 1 ? hsb_command::write_dword : hsb_command::write_block, *op);
        if (ec) co_return ec;
    }
    co_return error_code();
}

hsb_control_core::task<error_code> hsb_control_core::exchange(hsb_command command, const operation& op) {
    const auto sequence = next_sequence_++;
    unreachable_ = error_code();
    requests_.fetch_add(1, std::memory_order_relaxed);
    for (unsigned attempt = 0; attempt < config_.tries; ++attempt) {
        if (attempt > 0) retries_.fetch_add(1, std::memory_order_relaxed);
        std::uint8_t flags = hsb_flags::acknowledge;
        if (config_.check_sequence && in_step_ && attempt == 0) flags |= hsb_flags::check_sequence;
        in_step_ = false;
        const auto length = encode_request(out_, command, flags, sequence, batch_);
        const auto sent = co_await send(length, op);
        if (sent) co_return fail(command, sent);
        const auto answered = co_await await_answer(command, sequence, op);
        if (answered == asio::error::timed_out) continue;
        in_step_ = !answered;
        co_return fail(command, answered);
    }
    co_return fail(command, hsb_errc::no_answer);
}

hsb_control_core::task<error_code> hsb_control_core::send(std::size_t length, const operation& op) {
    if (over(op)) co_return asio::error::operation_aborted;
    const auto [ec, n] = co_await socket_.async_send(asio::buffer(out_.data(), length), as_result);
    if (over(op)) co_return asio::error::operation_aborted;
    // What the network says of an earlier datagram.
    if (ec == asio::error::connection_refused) {
        unreachable_ = ec;
        co_return error_code();
    }
    co_return ec;
}

void hsb_control_core::start_timer() {
    expired_ = false;
    timer_.expires_after(config_.answer_deadline);
    timer_.async_wait([weak = weak_from_this(), wait = ++waits_](const error_code& ec) {
        const auto self = weak.lock();
        if (ec || !self || self->waits_ != wait) return;
        self->expired_ = true;
        error_code ignored;
        self->socket_.cancel(ignored);
    });
}

hsb_control_core::task<error_code> hsb_control_core::await_answer(hsb_command command, std::uint16_t sequence,
                                                                  const operation& op) {
    start_timer();
    error_code result = asio::error::timed_out;
    while (!expired_ && !over(op)) {
        const auto [ec, n] = co_await socket_.async_receive(asio::buffer(in_), as_result);
        if (ec == asio::error::connection_refused) {
            unreachable_ = ec;
            continue;
        }
        if (ec == asio::error::operation_aborted) continue;
        if (ec) {
            result = ec;
            break;
        }
        const auto verdict = judge(std::span<const std::byte>(in_).first(n), command, sequence);
        if (!verdict) continue;
        result = *verdict;
        break;
    }
    ++waits_;
    timer_.cancel();
    co_return over(op) && result == asio::error::timed_out ? asio::error::operation_aborted : result;
}

/// Nothing for a datagram that is not the answer.
std::optional<error_code> hsb_control_core::judge(std::span<const std::byte> datagram, hsb_command command,
                                                  std::uint16_t sequence) {
    const auto parsed = parse_response(datagram);
    const auto* const response = std::get_if<hsb_response>(&parsed);
    if (response == nullptr || !response->answers(command, sequence)) {
        ignored_.fetch_add(1, std::memory_order_relaxed);
        return std::nullopt;
    }
    if (response->status != hsb_status::success) {
        refusals_.fetch_add(1, std::memory_order_relaxed);
        return make_error_code(response->status);
    }
    if (is_write(command)) return error_code();
    if (response->pairs.size() != batch_.size()) return hsb_errc::bad_response;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const auto pair = response->pairs[i];
        if (pair.address != batch_[i].address) return hsb_errc::bad_response;
        batch_[i].value = pair.value;
    }
    return error_code();
}

/// Notes the sentence for an error.
error_code hsb_control_core::fail(hsb_command command, const error_code& ec) {
    if (!ec) return ec;
    std::string text = is_write(command) ? "write of " : "read of ";
    text += hex(batch_.front().address);
    if (batch_.size() > 1) text += " and " + std::to_string(batch_.size() - 1) + " more registers";
    text += (is_write(command) ? " to " : " from ") + to_text(peer_) + ": ";
    if (ec == hsb_errc::no_answer) {
        text += unreachable_ ? "nobody listens there; start the emulator, or check the port"
                             : "no answer after " + std::to_string(config_.tries) + " tries of " +
                                   std::to_string(config_.answer_deadline.count()) +
                                   " ms; check address, port and that the FPGA is up";
    } else {
        text += ec.message();
    }
    last_error_ = {ec, std::move(text)};
    return ec;
}

hsb_control_core_ptr make_hsb_control_core(const asio::any_io_executor& executor,
                                           const asio::ip::udp::endpoint& peer,
                                           const hsb_control_config& config) {
    throw_if(validate(config));
    if (peer.port() == 0) throw exception({errc::invalid_argument, "the control port is 0; FPGAs have 8192"});
    try {
        return std::make_shared<hsb_control_core>(executor, peer, config);
    } catch (const boost::system::system_error& e) {
        throw exception({e.code(), "control channel to " + to_text(peer) + ": " + e.code().message()});
    }
}

namespace {

using operation = hsb_control_core::operation;

/// Runs `make(operation)` on the core's strand; `done(error_code)` is called there.
template <class Make, class Done>
void run(const hsb_control_core_ptr& core, asio::cancellation_slot slot, Make make, Done done) {
    auto op = std::make_shared<operation>(core);
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr<operation>(op)](asio::cancellation_type type) {
            const auto honoured = asio::cancellation_type::terminal | asio::cancellation_type::total;
            if ((type & honoured) == asio::cancellation_type::none) return;
            if (const auto target = weak.lock()) target->request_cancel();
        });
    }
    asio::co_spawn(core->strand(), make(op),
                   [d = std::move(done)](const std::exception_ptr& e, error_code ec) mutable {
                       d(e ? async::code_of(e) : ec);
                   });
}

/// A single register, from the initiation to the handler.
struct one_read {
    std::uint32_t address;
    std::uint32_t value = 0;
};

} // namespace

void start_read(const hsb_control_core_ptr& core, std::uint32_t address, hsb_read_completion handler) {
    if (!core) return handler.post(errc::invalid_state, 0);
    auto what = std::make_shared<one_read>(one_read{address});
    const auto slot = handler.slot();
    run(
        core, slot,
        [core, what](const std::shared_ptr<operation>& op) {
            return hsb_control_core::read(core, op, {&what->address, 1}, {&what->value, 1});
        },
        [h = std::move(handler), what](const error_code& ec) mutable { h.post(ec, ec ? 0 : what->value); });
}

void start_write(const hsb_control_core_ptr& core, hsb_register what, hsb_step_completion handler) {
    if (!core) return handler.post(errc::invalid_state);
    auto kept = std::make_shared<hsb_register>(what);
    const auto slot = handler.slot();
    run(
        core, slot,
        [core, kept](const std::shared_ptr<operation>& op) {
            return hsb_control_core::write(core, op, {kept.get(), 1});
        },
        [h = std::move(handler), kept](const error_code& ec) mutable { h.post(ec); });
}

void start_read_block(const hsb_control_core_ptr& core, std::span<const std::uint32_t> addresses,
                      std::span<std::uint32_t> values, hsb_step_completion handler) {
    if (!core) return handler.post(errc::invalid_state);
    if (addresses.size() != values.size()) return handler.post(errc::invalid_argument);
    const auto slot = handler.slot();
    run(
        core, slot,
        [core, addresses, values](const std::shared_ptr<operation>& op) {
            return hsb_control_core::read(core, op, addresses, values);
        },
        [h = std::move(handler)](const error_code& ec) mutable { h.post(ec); });
}

void start_write_block(const hsb_control_core_ptr& core, std::span<const hsb_register> registers,
                       hsb_step_completion handler) {
    if (!core) return handler.post(errc::invalid_state);
    const auto slot = handler.slot();
    run(
        core, slot,
        [core, registers](const std::shared_ptr<operation>& op) {
            return hsb_control_core::write(core, op, registers);
        },
        [h = std::move(handler)](const error_code& ec) mutable { h.post(ec); });
}

void cancel(const hsb_control_core_ptr& core) {
    if (!core) return;
    asio::post(core->strand(), [core] { core->cancel_current(); });
}

error_info last_error_of(const hsb_control_core_ptr& core) {
    return core ? core->last_error() : error_info{errc::invalid_state, "a moved-from client"};
}

hsb_control_snapshot snapshot_of(const hsb_control_core_ptr& core) {
    return core ? core->snapshot() : hsb_control_snapshot{};
}

void abandon(hsb_control_core_ptr&& core) noexcept {
    const auto taken = std::move(core);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->close(); });
    } catch (const std::bad_alloc&) {
        // The deadlines end what is still outstanding.
    }
}

} // namespace rocio::fpga::detail
