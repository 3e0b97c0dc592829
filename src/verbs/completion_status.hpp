#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/work_completion.hpp>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// Total: a status this version does not know is errc::local_operation_error.
errc errc_of(ibv_wc_status status) noexcept;

/// Reads only what is valid: of a failed completion wr_id, status and qp_num (ibv_poll_cq(3)).
work_completion completion_of(const ibv_wc& wc) noexcept;

} // namespace rocio::verbs
