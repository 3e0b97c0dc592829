#include "bench/plain_queue_pair.hpp"

#include "bench/plain_end.hpp"

#include <cerrno>
#include <cstring>
#include <random>

#include <netinet/in.h>

namespace rocio::tools {

namespace {

ibv_wr_opcode opcode_of(message_operation operation) noexcept {
    switch (operation) {
    case message_operation::send_imm:
        return IBV_WR_SEND_WITH_IMM;
    case message_operation::write:
        return IBV_WR_RDMA_WRITE;
    case message_operation::write_imm:
        return IBV_WR_RDMA_WRITE_WITH_IMM;
    case message_operation::read:
        return IBV_WR_RDMA_READ;
    default:
        return IBV_WR_SEND;
    }
}

constexpr int reads_on_their_way = 16;

} // namespace

plain_queue_pair::plain_queue_pair(plain_end& end, std::uint32_t index, boost::asio::any_io_executor executor)
    : end_(end), index_(index), executor_(std::move(executor)), local_(end.local()) {
    local_.send_psn = local_.receive_psn = psn{std::random_device{}() & psn::mask};
}

plain_queue_pair::~plain_queue_pair() = default;

error_info plain_queue_pair::create() {
    const auto& config = end_.config();
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = end_.completions();
    wanted.cap = {.max_send_wr = config.send_depth,
                  .max_recv_wr = config.receive_depth,
                  .max_send_sge = 1,
                  .max_recv_sge = 1,
                  .max_inline_data = config.sent_inline() ? config.size : 0};
    wanted.qp_type = IBV_QPT_RC;
    pair_.reset(ibv_create_qp(end_.domain(), &wanted));
    return pair_ ? error_info{} : plain_end::failure("ibv_create_qp", config.device);
}

error_info plain_queue_pair::to_init() {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = plain_end::port;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    const int e =
        ibv_modify_qp(pair_.get(), &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    return e == 0 ? error_info{} : plain_end::failure("ibv_modify_qp to INIT", end_.config().device, e);
}

error_info plain_queue_pair::prepare(local_parameters& out) {
    const auto& config = end_.config();
    pair_.reset(); // who dials again begins anew
    end_.begin_attempt();
    if (auto e = create()) return e;
    if (auto e = to_init()) return e;
    make_requests({});
    try {
        for (std::uint32_t i = 0; i < end_.receives_ahead(); ++i) post_receive();
    } catch (const exception& e) {
        return {e.code(), e.what()};
    }
    local_.queue_pair = qpn{pair_->qp_num};
    local_.depth = config.receive_depth;
    if (!is_send(config.operation)) local_.region = end_.granted();
    out = local_;
    return {};
}

error_info plain_queue_pair::establish(const peer_parameters& peer) {
    make_requests(peer.region);
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = static_cast<ibv_mtu>(code(local_.path_mtu));
    a.dest_qp_num = peer.queue_pair.value();
    a.rq_psn = peer.send_psn.value();
    a.max_dest_rd_atomic = reads_on_their_way;
    a.min_rnr_timer = local_.min_rnr_timer.code();
    a.ah_attr.is_global = 1;
    std::memcpy(a.ah_attr.grh.dgid.raw, peer.address.bytes().data(), sizeof a.ah_attr.grh.dgid.raw);
    a.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(end_.gid_index());
    a.ah_attr.grh.hop_limit = 64;
    a.ah_attr.port_num = plain_end::port;
    int e = ibv_modify_qp(pair_.get(), &a,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    if (e != 0) return plain_end::failure("ibv_modify_qp to RTR", end_.config().device, e);
    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = local_.send_psn.value();
    a.timeout = local_.timeout.code();
    a.retry_cnt = local_.retry_count;
    a.rnr_retry = local_.rnr_retry;
    a.max_rd_atomic = reads_on_their_way;
    e = ibv_modify_qp(pair_.get(), &a,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC);
    return e == 0 ? error_info{} : plain_end::failure("ibv_modify_qp to RTS", end_.config().device, e);
}

void plain_queue_pair::make_requests(const remote_region& target) {
    const auto& config = end_.config();
    const bool reads = config.operation == message_operation::read;
    send_part_ = end_.part(reads ? end_.in() : end_.out());
    receive_part_ = end_.part(end_.in());
    receive_ = {};
    receive_.wr_id = plain_end::of_receives | index_;
    receive_.sg_list = &receive_part_;
    receive_.num_sge = 1;
    sends_.assign(config.batch, {});
    for (auto& s : sends_) {
        s.wr_id = index_;
        s.opcode = opcode_of(config.operation);
        s.sg_list = &send_part_;
        s.num_sge = 1;
        s.send_flags = IBV_SEND_SIGNALED;
        if (config.sent_inline()) s.send_flags |= IBV_SEND_INLINE;
        s.wr.rdma.remote_addr = target.address;
        s.wr.rdma.rkey = target.key.value;
    }
}

void plain_queue_pair::post(std::uint32_t n, std::uint32_t number) {
    for (std::uint32_t i = 0; i < n; ++i) {
        sends_[i].imm_data = htonl(number + i);
        sends_[i].next = i + 1 < n ? &sends_[i + 1] : nullptr;
    }
    ibv_send_wr* bad = nullptr;
    if (const int e = ibv_post_send(pair_.get(), sends_.data(), &bad))
        throw exception(plain_end::failure("ibv_post_send", end_.config().device, e));
}

void plain_queue_pair::post_receive() {
    ibv_recv_wr* bad = nullptr;
    if (const int e = ibv_post_recv(pair_.get(), &receive_, &bad))
        throw exception(plain_end::failure("ibv_post_recv", end_.config().device, e));
}

void plain_queue_pair::to_error() noexcept {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    if (pair_) ibv_modify_qp(pair_.get(), &a, IBV_QP_STATE);
}

void plain_queue_pair::connected(std::unique_ptr<liveness> watch) {
    end_.connected(std::move(watch));
}

void plain_queue_pair::disconnected(const error_info& cause) {
    end_.disconnected(cause);
}

} // namespace rocio::tools
