#include "verbs/completion_status.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include <endian.h>

namespace rocio::verbs {
namespace {

struct status_row {
    ibv_wc_status status;
    errc expected;
};

/// Every value of ibv_wc_status, in its order.
constexpr status_row every_status[] = {
    {IBV_WC_SUCCESS, errc::success},
    {IBV_WC_LOC_LEN_ERR, errc::local_length_error},
    {IBV_WC_LOC_QP_OP_ERR, errc::local_operation_error},
    {IBV_WC_LOC_EEC_OP_ERR, errc::local_operation_error},
    {IBV_WC_LOC_PROT_ERR, errc::local_protection_error},
    {IBV_WC_WR_FLUSH_ERR, errc::work_request_flushed},
    {IBV_WC_MW_BIND_ERR, errc::local_operation_error},
    {IBV_WC_BAD_RESP_ERR, errc::bad_response},
    {IBV_WC_LOC_ACCESS_ERR, errc::local_protection_error},
    {IBV_WC_REM_INV_REQ_ERR, errc::remote_invalid_request},
    {IBV_WC_REM_ACCESS_ERR, errc::remote_access_error},
    {IBV_WC_REM_OP_ERR, errc::remote_operation_error},
    {IBV_WC_RETRY_EXC_ERR, errc::retry_exceeded},
    {IBV_WC_RNR_RETRY_EXC_ERR, errc::rnr_retry_exceeded},
    {IBV_WC_LOC_RDD_VIOL_ERR, errc::local_operation_error},
    {IBV_WC_REM_INV_RD_REQ_ERR, errc::remote_invalid_request},
    {IBV_WC_REM_ABORT_ERR, errc::remote_operation_error},
    {IBV_WC_INV_EECN_ERR, errc::local_operation_error},
    {IBV_WC_INV_EEC_STATE_ERR, errc::local_operation_error},
    {IBV_WC_FATAL_ERR, errc::device_fatal},
    {IBV_WC_RESP_TIMEOUT_ERR, errc::retry_exceeded},
    {IBV_WC_GENERAL_ERR, errc::local_operation_error},
    {IBV_WC_TM_ERR, errc::local_operation_error},
    {IBV_WC_TM_RNDV_INCOMPLETE, errc::local_operation_error},
};

TEST(CompletionStatus, EveryStatusHasItsCode) {
    int next = 0;
    for (const auto& row : every_status) {
        EXPECT_EQ(row.status, next++) << "a status is missing from the table";
        EXPECT_EQ(errc_of(row.status), row.expected) << ibv_wc_status_str(row.status);
    }
    EXPECT_EQ(next, IBV_WC_TM_RNDV_INCOMPLETE + 1);
}

TEST(CompletionStatus, OnlySuccessIsSuccess) {
    // Up to 31: a newer provider's, as far as the C enumeration has bits for them.
    for (int i = 1; i < 32; ++i) EXPECT_NE(errc_of(static_cast<ibv_wc_status>(i)), errc::success) << i;
    EXPECT_EQ(errc_of(static_cast<ibv_wc_status>(31)), errc::local_operation_error);
}

TEST(CompletionStatus, LossOfThePeerComparesAlikeOnEveryDevice) {
    EXPECT_TRUE(make_error_code(errc_of(IBV_WC_RETRY_EXC_ERR)) == condition::connection_failed);
    EXPECT_TRUE(make_error_code(errc_of(IBV_WC_RETRY_EXC_ERR)) == condition::timed_out);
    EXPECT_TRUE(is_fatal(errc_of(IBV_WC_WR_FLUSH_ERR)));
}

/// In a place that held another one.
work_completion completion_of(const ibv_wc& wc) {
    work_completion out{.id = {9, 9, 9},
                        .status = errc::retry_exceeded,
                        .op = completion_opcode::rdma_read,
                        .has_immediate = true,
                        .immediate = 9,
                        .byte_len = 9,
                        .queue_pair = qpn{9}};
    translate(wc, out);
    return out;
}

ibv_wc good(ibv_wc_opcode op) {
    ibv_wc wc{};
    wc.wr_id = wr_id{0x1234, 0x5678, 0x9ABCDEF0}.bits();
    wc.status = IBV_WC_SUCCESS;
    wc.opcode = op;
    wc.byte_len = 777;
    wc.qp_num = 0xABCDEF;
    return wc;
}

TEST(Completion, OpcodesAndLengths) {
    struct row {
        ibv_wc_opcode from;
        completion_opcode to;
        std::uint32_t length;
    };
    for (const auto& r :
         {row{IBV_WC_SEND, completion_opcode::send, 0},
          row{IBV_WC_RDMA_WRITE, completion_opcode::rdma_write, 0},
          row{IBV_WC_RDMA_READ, completion_opcode::rdma_read, 777},
          row{IBV_WC_RECV, completion_opcode::receive, 777},
          row{IBV_WC_RECV_RDMA_WITH_IMM, completion_opcode::receive_rdma_write_with_immediate, 777}}) {
        const auto out = completion_of(good(r.from));
        EXPECT_EQ(out.status, errc::success);
        EXPECT_EQ(out.op, r.to) << r.from;
        EXPECT_EQ(out.byte_len, r.length) << r.from;
        EXPECT_EQ(out.id, (wr_id{0x1234, 0x5678, 0x9ABCDEF0}));
        EXPECT_EQ(out.queue_pair, qpn{0xABCDEF});
        EXPECT_FALSE(out.has_immediate);
    }
}

TEST(Completion, TheImmediateIsTurnedOnceAndOnlyWhereTheFlagSaysSo) {
    for (const std::uint32_t value : {0x01020304U, 0x80000001U, 0U}) {
        auto wc = good(IBV_WC_RECV);
        wc.imm_data = htobe32(value);
        EXPECT_EQ(completion_of(wc).immediate, 0U) << "no flag, no immediate";
        wc.wc_flags = IBV_WC_WITH_IMM;
        const auto out = completion_of(wc);
        EXPECT_TRUE(out.has_immediate);
        EXPECT_EQ(out.immediate, value);
    }
}

TEST(Completion, AFailedOneTellsIdStatusAndQueuePairAlone) {
    for (int status = 1; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
        ibv_wc garbage;
        std::memset(&garbage, 0xFF, sizeof garbage);
        garbage.wr_id = wr_id{1, 2, 3}.bits();
        garbage.status = static_cast<ibv_wc_status>(status);
        garbage.qp_num = 17;
        const auto out = completion_of(garbage);
        EXPECT_EQ(out.id, (wr_id{1, 2, 3}));
        EXPECT_EQ(out.queue_pair, qpn{17});
        EXPECT_NE(out.status, errc::success);
        EXPECT_EQ(out.op, work_completion{}.op);
        EXPECT_EQ(out.byte_len, 0U);
        EXPECT_EQ(out.immediate, 0U);
        EXPECT_FALSE(out.has_immediate);
    }
}

TEST(Completion, AQueuePairNumberOfMoreThan24BitsDoesNotThrow) {
    auto wc = good(IBV_WC_RECV);
    wc.qp_num = 0xFF000011;
    EXPECT_EQ(completion_of(wc).queue_pair, qpn{0x11});
}

} // namespace
} // namespace rocio::verbs
