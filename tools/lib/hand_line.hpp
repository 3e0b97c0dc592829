#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace rocio::tools {

/// "local qpn=0x… rq_psn=0x… sq_psn=0x… gid=… rkey=0x… addr=0x… length=…": what whoever brings the other side
/// up by hand needs of ours.
std::string hand_line(const local_parameters& local);

/// What was read of the other side.
struct hand_answer {
    std::uint32_t queue_pair = 0;
    std::uint32_t key = 0; ///< 0: not told.
};

/// Reads "qpn=0x… [lkey=0x…]", numbers decimal or with 0x. Of a line made by hand_line(), which begins with
/// "local", it takes the queue pair. errc::invalid_peer_parameters with a sentence otherwise.
error_info parse_hand_answer(std::string_view line, hand_answer& out);

} // namespace rocio::tools
