#pragma once

#include <rocio/stream/receive_server_snapshot.hpp>

#include <string>

namespace rocio {

/// The texts that users of the SLAC receive server know, from a snapshot; of several lines each but the last
/// ends with a newline. Pure.

/// One line at construction: name, device, port, GID index, payload, depth.
std::string construction_text(const receive_server_snapshot& s);
/// Eight lines: what a bring-up by hand needs.
std::string connection_info_text(const receive_server_snapshot& s);
/// What the connection came to, with a last line that says it is ready to receive.
std::string connect_summary_text(const receive_server_snapshot& s);

} // namespace rocio
