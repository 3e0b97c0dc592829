#pragma once

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <memory>

namespace rocio::transport {

/// Makes an unreliable-connection queue pair in RESET: SEND and RDMA WRITE, both also with immediate. READ is
/// errc::not_supported. `regions` must outlive it. Throws rocio::exception (errc::invalid_argument) naming
/// the member of `config` that is outside its range.
///
/// A send completes when the link took its last packet; nothing comes back, nothing is repeated, and there is
/// never a deadline. One next_packets() gives at most a quarter of send_path::window, since nobody tells how
/// much has arrived: call it once per turn of the peer, not until it gives nothing.
///
/// As responder it drops quietly and counts (IBA 9.8.3): a message that lost a packet gives its receive back,
/// and the packet that ended it is itself taken; MIDDLE and LAST without their FIRST are dropped up to the
/// next FIRST or ONLY, whatever its PSN; there is no detection of duplicates. Bytes of a WRITE that lost a
/// later packet stay written, but no completion tells of them. A message longer than its receive completes
/// that receive with errc::local_length_error and takes the queue pair to the error state.
std::unique_ptr<queue_pair> make_uc_queue_pair(const queue_pair_config& config,
                                               const memory_region_table& regions);

} // namespace rocio::transport
