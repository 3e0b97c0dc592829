#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <boost/json/object.hpp>

namespace rocio {

/// The status document, as docs/status.md and docs/status.schema.json describe it: "schema_version",
/// "process", "stale", and an array for each kind of part: "engines", "devices", "queue_pairs", "streams",
/// "rings", "sensors", "services", "callers", "fpgas", "handshakes"; "stream_variables" has a sentence for
/// each variable of a stream.
///
/// A stream carries the fifteen variables of the SLAC receive server under their snake_case names, and more.
/// Keys and addresses are strings ("0x…"). Counters are JSON integers with all 64 bits; a reader that keeps
/// numbers as doubles, as browsers do, sees them exactly up to 2^53. Nothing known is null. Throws
/// std::bad_alloc.
boost::json::object to_json(const status_snapshot& status);

boost::json::object to_json(const engine_snapshot& engine);
/// Counters whose name has a dot ("drops.bad_icrc") stand in an object of their group.
boost::json::object to_json(const device_snapshot& device);
boost::json::object to_json(const receive_server_snapshot& stream);
/// "session" has "kind" ("slac" or "hsb"), "state", and what that kind of control plane knows.
boost::json::object to_json(const fpga_session_snapshot& fpga);

} // namespace rocio
