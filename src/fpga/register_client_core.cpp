#include "fpga/register_client_core.hpp"

#include <rocio/fpga/bus_error.hpp>

#include <boost/asio/post.hpp>

#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace rocio::fpga::detail {

namespace {

constexpr std::size_t max_words = 1024;

std::string hex(std::uint64_t value) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdef"[value & 0xF]);
        value >>= 4;
    } while (value != 0);
    return "0x" + text;
}

std::size_t words_of(const register_access& access) {
    return access.kind == access_kind::read ? access.into.size() : access.from.size();
}

error_info check(const register_access& access) {
    if (access.kind == access_kind::null) return {};
    const auto words = words_of(access);
    if (access.address % 4 != 0)
        return {errc::invalid_argument, "the address is no multiple of 4, as those of registers are"};
    if (words < 1 || words > max_words)
        return {errc::invalid_argument, std::to_string(words) +
                                            " words in one transaction, allowed are 1 to " +
                                            std::to_string(max_words)};
    if (access.address > std::numeric_limits<std::uint64_t>::max() - 4 * words + 1)
        return {errc::invalid_argument, "the last word is beyond the 64-bit address space"};
    return {};
}

std::string describe(const register_access& access) {
    switch (access.kind) {
    case access_kind::null:
        return "null request to ";
    case access_kind::read:
        return "read of " + hex(access.address) + " (" + std::to_string(4 * words_of(access)) +
               " bytes) from ";
    default:
        return "write of " + hex(access.address) + " (" + std::to_string(4 * words_of(access)) +
               " bytes) to ";
    }
}

} // namespace

/// Lives in the coroutine that waits for it.
struct register_client_core::transaction {
    transaction(const async::control_strand& strand, const register_access& a, const operation& o)
        : access(a), op(o), timer(strand) {}

    void finish(error_info why) {
        if (done) return;
        done = true;
        failure = std::move(why);
        timer.cancel();
    }

    register_access access;
    const operation& op;
    async::control_timer timer;
    std::uint32_t id = 0;
    bool done = false;
    error_info failure{};
};

/// A transaction's entry in the table, also when its context is destroyed.
class register_client_core::place {
  public:
    place(register_client_core& core, transaction& t) : core_(core), id_(core.free_id()) {
        t.id = id_;
        core_.pending_.emplace(id_, &t);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() { core_.pending_.erase(id_); }

  private:
    register_client_core& core_;
    std::uint32_t id_;
};

register_client_core::register_client_core(const async::control_strand& strand,
                                           std::unique_ptr<register_protocol> protocol,
                                           std::unique_ptr<message_transport> transport,
                                           const limits& allowed)
    : strand_(strand),
      protocol_(std::move(protocol)),
      transport_(std::move(transport)),
      limits_(allowed),
      // Answers to an earlier program are for other numbers.
      next_id_(static_cast<std::uint32_t>(std::random_device()())) {
    transport_->set_user(*this);
}

std::uint32_t register_client_core::free_id() {
    while (pending_.contains(next_id_)) ++next_id_;
    return next_id_++;
}

error_info register_client_core::last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
}

register_client_snapshot register_client_core::snapshot() const noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    return {requests_.load(relaxed), retries_.load(relaxed), refusals_.load(relaxed), failures_.load(relaxed),
            ignored_.load(relaxed)};
}

bool register_client_core::over(const transaction& t) const noexcept {
    return t.done || closed_ || t.op.cancelled();
}

async::task<error_code> register_client_core::execute(register_client_core_ptr self, operation_ptr op,
                                                      register_access access) {
    auto refused = check(access);
    if (self->closed_) refused = {errc::stopped, "the bus was closed"};
    if (op->cancelled()) refused = {asio::error::operation_aborted, "cancelled"};
    if (refused) co_return self->fail(access, refused);
    self->requests_.fetch_add(1, std::memory_order_relaxed);
    transaction t(self->strand_, access, *op);
    error_info result;
    {
        const place mine(*self, t);
        self->transport_->begin(self);
        co_await self->exchange(t);
        result = self->outcome(t);
        self->transport_->withdraw(t.id);
    }
    if (self->pending_.empty()) self->transport_->rest();
    co_return self->fail(access, result);
}

async::task<void> register_client_core::exchange(transaction& t) {
    const auto message = protocol_->encode(t.id, t.access);
    for (unsigned attempt = 0; attempt < limits_.tries && !over(t); ++attempt) {
        if (attempt > 0) retries_.fetch_add(1, std::memory_order_relaxed);
        transport_->send(t.id, message);
        if (over(t)) co_return;
        t.timer.expires_after(limits_.answer_deadline);
        co_await t.timer.async_wait(async::as_result);
    }
}

error_info register_client_core::outcome(const transaction& t) const {
    if (t.done) return t.failure;
    if (t.op.cancelled() || closed_) return {asio::error::operation_aborted, "cancelled"};
    if (auto known = transport_->silence()) return known;
    return {bus_errc::no_answer, "no answer after " + std::to_string(limits_.tries) +
                                     (limits_.tries == 1 ? " try of " : " tries of ") +
                                     std::to_string(limits_.answer_deadline.count()) +
                                     " ms; check address, port and that the board is up"};
}

/// Notes the sentence for an error.
error_code register_client_core::fail(const register_access& access, const error_info& why) {
    if (!why) return {};
    failures_.fetch_add(1, std::memory_order_relaxed);
    auto text = describe(access) + transport_->peer() + ": " + why.message();
    const std::lock_guard lock(mutex_);
    last_error_ = {why.code, std::move(text)};
    return why.code;
}

void register_client_core::on_message(std::span<const std::byte> message) {
    const auto id = protocol_->id_of(message);
    const auto found = id ? pending_.find(*id) : pending_.end();
    if (found == pending_.end() || over(*found->second)) {
        ignored_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    auto& t = *found->second;
    auto verdict = protocol_->judge(t.id, t.access, message);
    if (!verdict) {
        ignored_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (*verdict) refusals_.fetch_add(1, std::memory_order_relaxed);
    t.finish(std::move(*verdict));
}

void register_client_core::on_sent(std::uint32_t id) {
    const auto found = pending_.find(id);
    if (found != pending_.end() && found->second->access.kind == access_kind::post) found->second->finish({});
}

void register_client_core::on_failure(const error_info& why) {
    for (const auto& [id, t] : pending_) t->finish(why);
}

void register_client_core::on_cancel(const operation& op) {
    for (const auto& [id, t] : pending_) {
        if (&t->op == &op) t->timer.cancel();
    }
}

void register_client_core::cancel_all() {
    on_failure({asio::error::operation_aborted, "cancelled"});
}

void register_client_core::close() {
    closed_ = true;
    transport_->close();
    for (const auto& [id, t] : pending_) t->timer.cancel();
}

namespace {

using operation_ptr = register_client_core::operation_ptr;

async::task<std::tuple<error_code, std::uint32_t>> read_word(register_client_core_ptr core, operation_ptr op,
                                                             std::uint64_t address) {
    std::uint32_t value = 0;
    const auto ec =
        co_await register_client_core::execute(core, op, {access_kind::read, address, {&value, 1}, {}});
    co_return std::tuple<error_code, std::uint32_t>(ec, ec ? 0 : value);
}

async::task<std::tuple<error_code>> word(register_client_core_ptr core, operation_ptr op, access_kind kind,
                                         std::uint64_t address, std::uint32_t value) {
    const auto ec = co_await register_client_core::execute(core, op, {kind, address, {}, {&value, 1}});
    co_return std::tuple<error_code>(ec);
}

async::task<std::tuple<error_code>> several(register_client_core_ptr core, operation_ptr op,
                                            register_access access) {
    const auto ec = co_await register_client_core::execute(core, op, access);
    co_return std::tuple<error_code>(ec);
}

operation_ptr make_operation(const register_client_core_ptr& core, asio::cancellation_slot slot) {
    auto op = std::make_shared<register_client_core::operation>(core);
    async::relay_cancellation(slot, op);
    return op;
}

} // namespace

void start_read_word(const register_client_core_ptr& core, std::uint64_t address,
                     register_read_completion handler) {
    if (!core) return handler.post(errc::invalid_state, 0);
    auto op = make_operation(core, handler.slot());
    async::run_task(core->strand(), read_word(core, std::move(op), address), std::move(handler));
}

void start_word(const register_client_core_ptr& core, access_kind kind, std::uint64_t address,
                std::uint32_t value, register_step_completion handler) {
    if (!core) return handler.post(errc::invalid_state);
    auto op = make_operation(core, handler.slot());
    async::run_task(core->strand(), word(core, std::move(op), kind, address, value), std::move(handler));
}

void start_access(const register_client_core_ptr& core, const register_access& access,
                  register_step_completion handler) {
    if (!core) return handler.post(errc::invalid_state);
    auto op = make_operation(core, handler.slot());
    async::run_task(core->strand(), several(core, std::move(op), access), std::move(handler));
}

void cancel(const register_client_core_ptr& core) {
    if (core) asio::post(core->strand(), [core] { core->cancel_all(); });
}

void close(const register_client_core_ptr& core) {
    if (core) asio::post(core->strand(), [core] { core->close(); });
}

error_info last_error_of(const register_client_core_ptr& core) {
    return core ? core->last_error() : error_info{errc::invalid_state, "a moved-from bus"};
}

register_client_snapshot snapshot_of(const register_client_core_ptr& core) {
    return core ? core->snapshot() : register_client_snapshot{};
}

void abandon(register_client_core_ptr&& core) noexcept {
    const auto taken = std::move(core);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->close(); });
    } catch (const std::bad_alloc&) {
        // The deadlines end what is still outstanding.
    }
}

} // namespace rocio::fpga::detail
