#pragma once

#include <rocio/io/completion_engine.hpp>
#include <rocio/io/memory_snapshot.hpp>

namespace rocio::tools {

/// What a region's memory_options could not have, as warnings of the context's log; servers and rings do so
/// themselves.
inline void log_memory(boost::asio::io_context& context, const memory_snapshot& memory) {
    for (const auto& text : memory.warnings)
        completion_engine::of(context).log(log_level::warning, "io", text);
}

} // namespace rocio::tools
