#pragma once

#include <rocio/stream/receive_server_snapshot.hpp>

#include <string>
#include <utility>

namespace rocio::test {

/// The snapshot of a stream that has nothing but a name.
inline receive_server_snapshot named_stream(std::string name) {
    receive_server_snapshot stream;
    stream.name = std::move(name);
    return stream;
}

} // namespace rocio::test
