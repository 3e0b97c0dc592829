#include "bench/plain_end.hpp"

#include <rocio/open/open_device.hpp>
#include <rocio/types/gid_table.hpp>

#include <cerrno>
#include <cstring>

namespace rocio::tools {

namespace {

ibv_context* open_by_name(const std::string& name) {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    ibv_context* opened = nullptr;
    for (int i = 0; i < count && !opened; ++i)
        if (name == ibv_get_device_name(list[i])) opened = ibv_open_device(list[i]);
    if (list) ibv_free_device_list(list);
    return opened;
}

std::uint64_t address_of(const std::byte* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p);
}

} // namespace

error_info plain_end::failure(const char* what, const std::string& device, int number) {
    return {error_code(number, boost::system::system_category()),
            std::string(what) + " on " + device + ": " + std::strerror(number)};
}

error_info plain_end::failure(const char* what, const std::string& device) {
    return failure(what, device, errno);
}

plain_end::plain_end(const pair_bench_config& config, const boost::asio::any_io_executor& executor)
    : config_(config), sleeps_(config.poll.budget.count() == 0), memory_(out_offset() + config.size) {
    fill_pattern({out(), config.size}, config.dials());
    choose_address();
    open();
    for (std::uint32_t i = 0; i < config.queue_pairs; ++i)
        pairs_.push_back(std::make_shared<plain_queue_pair>(*this, i, executor));
}

plain_end::~plain_end() = default;

/// The same question for both implementations; it is asked once, before anything is measured.
void plain_end::choose_address() {
    const auto dev = open_device(config_.device);
    std::vector<gid_table_entry> table;
    throw_if(dev->gid_table(port, table));
    const auto choice = choose_gid(table, {config_.gid_index, {}});
    if (!choice.chosen) throw exception(choice.error);
    port_attributes attributes;
    throw_if(dev->query_port(port, attributes));
    gid_index_ = choice.chosen->index;
    local_.address = choice.chosen->value;
    local_.path_mtu = config_.path_mtu.value_or(attributes.active_mtu);
}

void plain_end::open() {
    const auto& device = config_.device;
    context_.reset(open_by_name(device));
    if (!context_)
        throw exception({errc::device_not_found, "--plain needs a system device; " + device + " is none"});
    domain_.reset(ibv_alloc_pd(context_.get()));
    if (!domain_) throw exception(failure("ibv_alloc_pd", device));
    channel_.reset(ibv_create_comp_channel(context_.get()));
    if (!channel_) throw exception(failure("ibv_create_comp_channel", device));
    const auto room = (config_.send_depth + config_.receive_depth) * config_.queue_pairs;
    completions_.reset(ibv_create_cq(context_.get(), static_cast<int>(room), nullptr, channel_.get(), 0));
    if (!completions_) throw exception(failure("ibv_create_cq", device));
    region_.reset(ibv_reg_mr(domain_.get(), memory_.data(), memory_.size(),
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
    if (!region_) throw exception(failure("ibv_reg_mr", device));
}

remote_region plain_end::granted() noexcept {
    const auto* at = config_.operation == message_operation::read ? out() : in();
    return {address_of(at), config_.size, rkey{region_->rkey}};
}

ibv_sge plain_end::part(std::byte* at) const noexcept {
    return {address_of(at), config_.size, region_->lkey};
}

std::uint32_t plain_end::receives_ahead() const noexcept {
    if (!is_received(config_.operation)) return 0;
    return config_.is_ping_pong() || !config_.dials() ? config_.receive_depth : 0;
}

void plain_end::connected(std::unique_ptr<liveness> watch) {
    const std::lock_guard held(mutex_);
    watches_.push_back(std::move(watch));
}

/// What was posted is flushed, which wakes the loop that waits for a completion.
void plain_end::disconnected(const error_info& cause) {
    const std::lock_guard held(mutex_);
    if (!lost_) cause_ = cause;
    lost_ = true;
    for (const auto& pair : pairs_) pair->to_error();
    lost_changed_.notify_all();
}

void plain_end::wait_lost(std::chrono::seconds limit) {
    std::unique_lock held(mutex_);
    if (limit.count() == 0) return lost_changed_.wait(held, [this] { return is_lost(); });
    lost_changed_.wait_for(held, limit, [this] { return is_lost(); });
}

void plain_end::say_goodbye() {
    const std::lock_guard held(mutex_);
    for (const auto& watch : watches_) watch->release();
    watches_.clear();
}

void plain_end::throw_cause() {
    const std::lock_guard held(mutex_);
    throw exception(cause_ ? cause_ : error_info{errc::peer_lost, {}});
}

int plain_end::look(ibv_wc* found, int most) {
    const int n = ibv_poll_cq(completions_.get(), most, found);
    if (n < 0) throw exception(failure("ibv_poll_cq", config_.device));
    for (int i = 0; i < n; ++i)
        if (found[i].status != IBV_WC_SUCCESS) throw_failure(found[i]);
    return n;
}

int plain_end::take(ibv_wc* found, int most) {
    for (;;) {
        if (const int n = look(found, most)) return n;
        if (!sleeps_) continue;
        ibv_req_notify_cq(completions_.get(), 0);
        if (const int n = look(found, most)) return n;
        ibv_cq* queue = nullptr;
        void* of = nullptr;
        if (ibv_get_cq_event(channel_.get(), &queue, &of) == 0) ibv_ack_cq_events(queue, 1);
    }
}

/// A flushed work request is never the cause; what is queued behind it may be.
void plain_end::throw_failure(ibv_wc failed) {
    if (is_lost()) throw_cause();
    ibv_wc next;
    while (failed.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(completions_.get(), 1, &next) == 1)
        if (next.status != IBV_WC_SUCCESS) failed = next;
    throw exception({errc::local_operation_error,
                     std::string((failed.wr_id & of_receives) != 0 ? "a receive" : "a send") + " on " +
                         config_.device + " failed: " + ibv_wc_status_str(failed.status)});
}

} // namespace rocio::tools
