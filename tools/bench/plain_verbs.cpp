#include "bench/plain_verbs.hpp"

#include <rocio/open/open_device.hpp>
#include <rocio/types/gid_table.hpp>

#include <cerrno>
#include <cstring>
#include <random>

namespace rocio::tools {

namespace {

constexpr std::uint8_t port = 1;
/// Completions with an error tell no opcode.
constexpr std::uint64_t of_receives = 1;

error_info failure(const char* what, const std::string& device, int number = errno) {
    return {error_code(number, boost::system::system_category()),
            std::string(what) + " on " + device + ": " + std::strerror(number)};
}

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

plain_queue_pair::plain_queue_pair(const pair_bench_config& config, boost::asio::any_io_executor executor)
    : config_(config),
      executor_(std::move(executor)),
      sleeps_(config.poll.budget.count() == 0),
      memory_(out_offset() + config.size) {
    fill_pattern({out(), config.size}, config.dials());
    open();
}

plain_queue_pair::~plain_queue_pair() = default;

void plain_queue_pair::open() {
    const auto& device = config_.device;
    // Which GID serves is the same question for both; it is asked once, before anything is measured.
    const auto dev = open_device(device);
    std::vector<gid_table_entry> table;
    throw_if(dev->gid_table(port, table));
    const auto choice = choose_gid(table, {config_.gid_index, {}});
    if (!choice.chosen) throw exception(choice.error);
    port_attributes attributes;
    throw_if(dev->query_port(port, attributes));
    gid_index_ = choice.chosen->index;
    local_.address = choice.chosen->value;
    local_.path_mtu = config_.path_mtu.value_or(attributes.active_mtu);
    local_.send_psn = local_.receive_psn = psn{std::random_device{}() & psn::mask};

    context_.reset(open_by_name(device));
    if (!context_)
        throw exception({errc::device_not_found, "--plain needs a system device; " + device + " is none"});
    domain_.reset(ibv_alloc_pd(context_.get()));
    if (!domain_) throw exception(failure("ibv_alloc_pd", device));
    channel_.reset(ibv_create_comp_channel(context_.get()));
    if (!channel_) throw exception(failure("ibv_create_comp_channel", device));
    const auto room = static_cast<int>(config_.send_depth + config_.receive_depth);
    completions_.reset(ibv_create_cq(context_.get(), room, nullptr, channel_.get(), 0));
    if (!completions_) throw exception(failure("ibv_create_cq", device));
    region_.reset(ibv_reg_mr(domain_.get(), memory_.data(), memory_.size(),
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    if (!region_) throw exception(failure("ibv_reg_mr", device));
}

error_info plain_queue_pair::create_queue_pair() {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = completions_.get();
    wanted.cap = {.max_send_wr = config_.send_depth,
                  .max_recv_wr = config_.receive_depth,
                  .max_send_sge = 1,
                  .max_recv_sge = 1,
                  .max_inline_data = config_.sent_inline() ? config_.size : 0};
    wanted.qp_type = IBV_QPT_RC;
    pair_.reset(ibv_create_qp(domain_.get(), &wanted));
    return pair_ ? error_info{} : failure("ibv_create_qp", config_.device);
}

error_info plain_queue_pair::to_init() {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = port;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    const int e =
        ibv_modify_qp(pair_.get(), &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    return e == 0 ? error_info{} : failure("ibv_modify_qp to INIT", config_.device, e);
}

error_info plain_queue_pair::prepare(local_parameters& out) {
    pair_.reset(); // who dials again begins anew
    lost_ = false;
    if (auto e = create_queue_pair()) return e;
    if (auto e = to_init()) return e;
    try {
        if (config_.test == pair_test::send)
            for (std::uint32_t i = 0; i < ping_pong_receives; ++i) post_receive();
        if (config_.test == pair_test::stream && !config_.dials())
            for (std::uint32_t i = 0; i < config_.receive_depth; ++i) post_receive();
    } catch (const exception& e) {
        return {e.code(), e.what()};
    }
    local_.queue_pair = qpn{pair_->qp_num};
    local_.depth = config_.receive_depth;
    if (config_.test == pair_test::write)
        local_.region = {address_of(in()), config_.size, rkey{region_->rkey}};
    out = local_;
    return {};
}

error_info plain_queue_pair::establish(const peer_parameters& peer) {
    peer_region_ = peer.region;
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = static_cast<ibv_mtu>(code(local_.path_mtu));
    a.dest_qp_num = peer.queue_pair.value();
    a.rq_psn = peer.send_psn.value();
    a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = local_.min_rnr_timer.code();
    a.ah_attr.is_global = 1;
    std::memcpy(a.ah_attr.grh.dgid.raw, peer.address.bytes().data(), sizeof a.ah_attr.grh.dgid.raw);
    a.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
    a.ah_attr.grh.hop_limit = 64;
    a.ah_attr.port_num = port;
    int e = ibv_modify_qp(pair_.get(), &a,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    if (e != 0) return failure("ibv_modify_qp to RTR", config_.device, e);
    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = local_.send_psn.value();
    a.timeout = local_.timeout.code();
    a.retry_cnt = local_.retry_count;
    a.rnr_retry = local_.rnr_retry;
    a.max_rd_atomic = 1;
    e = ibv_modify_qp(pair_.get(), &a,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC);
    return e == 0 ? error_info{} : failure("ibv_modify_qp to RTS", config_.device, e);
}

void plain_queue_pair::connected(std::unique_ptr<liveness> watch) {
    const std::lock_guard held(mutex_);
    watch_ = std::move(watch);
}

/// What was posted is flushed, which wakes the loop that waits for a completion.
void plain_queue_pair::disconnected(const error_info& cause) {
    const std::lock_guard held(mutex_);
    cause_ = cause;
    lost_ = true;
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    if (pair_) ibv_modify_qp(pair_.get(), &a, IBV_QP_STATE);
    lost_changed_.notify_all();
}

void plain_queue_pair::wait_lost() {
    std::unique_lock held(mutex_);
    lost_changed_.wait_for(held, longest_silence, [this] { return is_lost(); });
}

void plain_queue_pair::say_goodbye() {
    const std::lock_guard held(mutex_);
    if (watch_) watch_->release();
    watch_.reset();
}

void plain_queue_pair::throw_cause() {
    const std::lock_guard held(mutex_);
    throw exception(cause_ ? cause_ : error_info{errc::peer_lost, {}});
}

void plain_queue_pair::post_receive() {
    ibv_sge part{address_of(in()), config_.size, region_->lkey};
    ibv_recv_wr request{};
    request.wr_id = of_receives;
    request.sg_list = &part;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    if (const int e = ibv_post_recv(pair_.get(), &request, &bad))
        throw exception(failure("ibv_post_recv", config_.device, e));
}

error_info plain_queue_pair::post(ibv_wr_opcode what) {
    ibv_sge part{address_of(out()), config_.size, region_->lkey};
    ibv_send_wr request{};
    request.opcode = what;
    request.sg_list = &part;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    if (config_.sent_inline()) request.send_flags |= IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = peer_region_.address;
    request.wr.rdma.rkey = peer_region_.key.value;
    ibv_send_wr* bad = nullptr;
    const int e = ibv_post_send(pair_.get(), &request, &bad);
    return e == 0 ? error_info{} : failure("ibv_post_send", config_.device, e);
}

void plain_queue_pair::post_send() {
    throw_if(post(IBV_WR_SEND));
}

void plain_queue_pair::post_write() {
    throw_if(post(IBV_WR_RDMA_WRITE));
}

int plain_queue_pair::take(ibv_wc* found, int most) {
    int n = 0;
    while ((n = ibv_poll_cq(completions_.get(), most, found)) == 0) {
        if (!sleeps_) continue;
        ibv_req_notify_cq(completions_.get(), 0);
        n = ibv_poll_cq(completions_.get(), most, found);
        if (n != 0) break;
        ibv_cq* queue = nullptr;
        void* of = nullptr;
        if (ibv_get_cq_event(channel_.get(), &queue, &of) == 0) ibv_ack_cq_events(queue, 1);
    }
    if (n < 0) throw exception(failure("ibv_poll_cq", config_.device));
    for (int i = 0; i < n; ++i)
        if (found[i].status != IBV_WC_SUCCESS) throw_failure(found[i]);
    return n;
}

/// A flushed work request is never the cause; what is queued behind it may be.
void plain_queue_pair::throw_failure(ibv_wc failed) {
    if (is_lost()) throw_cause();
    ibv_wc next;
    while (failed.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(completions_.get(), 1, &next) == 1)
        if (next.status != IBV_WC_SUCCESS) failed = next;
    throw exception({errc::local_operation_error,
                     std::string(failed.wr_id == of_receives ? "a receive" : "a send") + " on " +
                         config_.device + " failed: " + ibv_wc_status_str(failed.status)});
}

} // namespace rocio::tools
