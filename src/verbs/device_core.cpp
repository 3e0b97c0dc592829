#include "verbs/device_core.hpp"

#include "verbs/async_event.hpp"
#include "verbs/failure.hpp"
#include "verbs/verbs_completion_queue.hpp"
#include "verbs/verbs_queue_pair.hpp"

#include <cerrno>

#include <fcntl.h>

namespace rocio::verbs {

namespace {

/// libibverbs leaves the descriptors blocking, and a read of an event that somebody took would wait for ever.
constexpr std::uint32_t inline_sizes[] = {1024, 512, 256, 128, 64, 32, 16};

bool try_again(int number) noexcept {
    return number == EINTR;
}

bool nothing_there(int number) noexcept {
    return number == EAGAIN || number == EWOULDBLOCK;
}

} // namespace

error_info device_core::open(ibv_device& device, std::shared_ptr<device_core>& out) {
    std::shared_ptr<device_core> made(new device_core);
    made->name_ = ibv_get_device_name(&device);
    made->context_.reset(ibv_open_device(&device));
    if (!made->context_) {
        const int number = errno;
        return failure(number, "ibv_open_device", made->name_,
                       number == EACCES || number == EPERM
                           ? "access to /dev/infiniband/uverbs* is needed; check its owner, mode and, in a "
                             "container, --device /dev/infiniband"
                           : "check /dev/infiniband/uverbs* and the kernel's log");
    }
    if (auto bad = made->prepare()) return bad;
    out = std::move(made);
    return {};
}

error_info device_core::prepare() {
    if (const int number = ibv_query_device(context_.get(), &attributes_))
        return failure(number, "ibv_query_device", name_);
    protection_domain_.reset(ibv_alloc_pd(context_.get()));
    if (!protection_domain_) return failure(errno, "ibv_alloc_pd", name_);
    channel_.reset(ibv_create_comp_channel(context_.get()));
    if (!channel_) return failure(errno, "ibv_create_comp_channel", name_);
    for (const int descriptor : {channel_->fd, context_->async_fd})
        if (auto bad = make_nonblocking(descriptor)) return bad;
    max_inline_ = measure_inline();
    return {};
}

error_info device_core::make_nonblocking(int descriptor) const {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0)
        return failure(errno, "fcntl(O_NONBLOCK)", name_);
    return {};
}

/// Verbs does not tell the limit: ask for less until a queue pair is made, and take what it says it got.
std::uint32_t device_core::measure_inline() const {
    const completion_queue_handle completions(ibv_create_cq(context_.get(), 2, nullptr, nullptr, 0));
    if (!completions) return 0;
    for (const auto size : inline_sizes) {
        ibv_qp_init_attr wanted{};
        wanted.send_cq = wanted.recv_cq = completions.get();
        wanted.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = size};
        wanted.qp_type = IBV_QPT_RC;
        const queue_pair_handle pair(ibv_create_qp(protection_domain_.get(), &wanted));
        if (pair) return wanted.cap.max_inline_data;
    }
    return 0;
}

error_info device_core::check_port(std::uint8_t port) const {
    if (port >= 1 && port <= attributes_.phys_port_cnt) return {};
    return outside(errc::invalid_argument, "port", name_, port, 1, attributes_.phys_port_cnt);
}

error_info device_core::query(std::uint8_t port, ibv_port_attr& out) const {
    if (auto bad = check_port(port)) return bad;
    out = {};
    if (const int number = ibv_query_port(context_.get(), port, &out))
        return failure(number, "ibv_query_port", name_, "port " + std::to_string(port));
    return {};
}

error_info device_core::check_gid(std::uint8_t port, std::uint32_t index) const {
    ibv_port_attr attributes{};
    if (auto bad = query(port, attributes)) return bad;
    const auto entries = static_cast<std::uint32_t>(std::max(attributes.gid_tbl_len, 0));
    ibv_gid_entry entry{};
    if (index < entries && ibv_query_gid_ex(context_.get(), port, index, &entry, 0) == 0) return {};
    return {
        errc::invalid_gid_index,
        "GID index " + std::to_string(index) + " of " + name_ + " port " + std::to_string(port) + ": " +
            (index < entries ? "the entry is empty"
                             : "the table has " + std::to_string(entries) + " entries") +
            "; list them with `rocio devices`, and look the index up anew at every connect, because it moves "
            "with the addresses"};
}

errc device_core::bind(const void* engine) noexcept {
    const void* expected = nullptr;
    if (engine_.compare_exchange_strong(expected, engine) || expected == engine) return errc::success;
    return errc::device_bound;
}

void device_core::unbind(const void* engine) noexcept {
    engine_.compare_exchange_strong(engine, nullptr);
}

/// Events are counted in their queue and acknowledged in one go: acknowledging takes a lock, and a queue with
/// an event that is not acknowledged cannot be destroyed (ibv_destroy_cq would wait for ever).
/// When every armed queue has had its event there is no other, and the read that would say so is a system
/// call saved.
void device_core::drain_events() {
    verbs_completion_queue* counted = nullptr;
    for (;;) {
        ibv_cq* queue = nullptr;
        void* owner = nullptr;
        if (ibv_get_cq_event(channel_.get(), &queue, &owner) == 0) {
            static_cast<verbs_completion_queue*>(owner)->count_event(counted);
            if (expected_events_ > 1) {
                --expected_events_;
                continue;
            }
            expected_events_ = 0;
            break;
        }
        const int number = errno;
        if (try_again(number)) continue;
        if (!nothing_there(number)) gone_ = true;
        expected_events_ = 0;
        break;
    }
    while (counted != nullptr) counted = counted->acknowledge_events();
}

bool device_core::next_event(device_event& out) {
    if (!take_event(out)) return false;
    history_.add(out);
    return true;
}

bool device_core::take_event(device_event& out) {
    while (!fatal_told_) {
        ibv_async_event event{};
        if (ibv_get_async_event(context_.get(), &event) == 0) {
            const auto known = event_of(event);
            ibv_ack_async_event(&event);
            if (!known) continue;
            if (known->kind == device_event_kind::queue_pair_fatal ||
                known->kind == device_event_kind::queue_pair_access_error)
                note_failure(known->queue_pair);
            fatal_told_ = known->kind == device_event_kind::device_fatal;
            out = *known;
            return true;
        }
        const int number = errno;
        if (try_again(number)) continue;
        if (nothing_there(number) && !gone_) return false;
        fatal_told_ = true;
        out = {.kind = device_event_kind::device_fatal, .port = 0, .queue_pair = {}};
        return true;
    }
    return false;
}

void device_core::add(verbs_queue_pair& pair) {
    const std::lock_guard held(mutex_);
    queue_pairs_[pair.number().value()] = &pair;
}

void device_core::remove(const verbs_queue_pair& pair) noexcept {
    const std::lock_guard held(mutex_);
    queue_pairs_.erase(pair.number().value());
}

void device_core::note_failure(qpn number) noexcept {
    const std::lock_guard held(mutex_);
    if (const auto found = queue_pairs_.find(number.value()); found != queue_pairs_.end())
        found->second->note_failure();
}

} // namespace rocio::verbs
