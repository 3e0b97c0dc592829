#include "verbs/completion_status.hpp"

namespace rocio::verbs {

errc errc_of(ibv_wc_status status) noexcept {
    switch (status) {
    case IBV_WC_SUCCESS:
        return errc::success;
    case IBV_WC_LOC_LEN_ERR:
        return errc::local_length_error;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
        return errc::local_protection_error;
    case IBV_WC_WR_FLUSH_ERR:
        return errc::work_request_flushed;
    case IBV_WC_BAD_RESP_ERR:
        return errc::bad_response;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
        return errc::remote_invalid_request;
    case IBV_WC_REM_ACCESS_ERR:
        return errc::remote_access_error;
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
        return errc::remote_operation_error;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return errc::retry_exceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return errc::rnr_retry_exceeded;
    case IBV_WC_FATAL_ERR:
        return errc::device_fatal;
    default: // LOC_QP_OP, GENERAL, and what RC and UC queue pairs never give: EE contexts, windows, tags.
        return errc::local_operation_error;
    }
}

} // namespace rocio::verbs
