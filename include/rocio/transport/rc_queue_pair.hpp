#pragma once

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <memory>

namespace rocio::transport {

/// Makes a reliable-connection queue pair in RESET: requester and responder of SEND, RDMA WRITE (both also
/// with immediate) and RDMA READ. Atomics and SEND with invalidate are not offered and answered as a
/// responder without them must: NAK "invalid request". `regions` must outlive it. Throws rocio::exception
/// (errc::invalid_argument) naming the member of `config` that is outside its range.
///
/// Where the standard leaves a choice:
/// - It asks for an acknowledgement on the last packet that may leave at once and every quarter of the
/// window.
/// - It acknowledges when asked; a peer that has never asked is acknowledged per completed message.
/// - A sequence NAK is answered by going back once; the next one without progress in between is left to the
/// timer. A READ response, or an acknowledgement, from behind a missing READ response counts as such a NAK
/// (IBA 9.7.5.1.2, "implied NAK"): the missing rest is asked for again, and what was sent after it.
/// - "Receiver not ready" for packet n acknowledges all before n. After that wait, and after a timeout, one
/// packet
///   goes first, and the window grows with each acknowledgement.
/// - A READ longer than a quarter of the response window is asked for in several requests. The peer cannot
///   tell them from several READs; their first PSNs are where one request's responses would have had them.
/// - A READ asked for again is read from memory again, and its answer begins with FIRST or ONLY; as requester
///   it takes an answer that resumes with MIDDLE or LAST, as rxe gives it, too.
std::unique_ptr<queue_pair> make_rc_queue_pair(const queue_pair_config& config,
                                               const memory_region_table& regions);

} // namespace rocio::transport
