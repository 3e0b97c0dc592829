#include "bench/message_flow.hpp"
#include "bench/open_loop_caller.hpp"
#include "bench/ping_pong.hpp"
#include "bench/queue_pair_end.hpp"
#include "bench/write_ping_pong.hpp"

namespace rocio::tools {

namespace {

/// Of messages that moved; ends the connection.
template <class Messages>
measurement finish(queue_pair_end& end, Messages& messages, bool parts_first) {
    auto result = messages.result();
    result.engine = end.engine_since_meeting();
    end.part(parts_first);
    return result;
}

/// Of messages there and back, or of READs at a rate; Messages: ping_pong, or open_loop_caller.
template <class Messages>
measurement run_there_and_back(queue_pair_end& end) {
    const bool dials = end.config().dials();
    Messages messages(end);
    // Who dials may have to dial again, and each attempt that fails would flush its receives.
    if (!dials) messages.post_receives();
    end.meet();
    if (dials) messages.post_receives();
    messages.begin();
    end.run();
    auto result = finish(end, messages, end.config().is_ping_pong() ? !dials : dials);
    check_pattern(end.in().bytes(), !dials);
    return result;
}

measurement run_writes_there_and_back(queue_pair_end& end) {
    const bool dials = end.config().dials();
    end.meet();
    write_ping_pong messages(end);
    messages.run();
    auto result = finish(end, messages, !dials);
    check_pattern(end.in().first(end.config().size - 1).bytes(), !dials);
    return result;
}

measurement run_sender(queue_pair_end& end) {
    message_sender messages(end);
    end.meet();
    messages.begin();
    end.run();
    auto result = finish(end, messages, true);
    if (end.config().operation == message_operation::read) check_pattern(end.in().bytes(), false);
    return result;
}

measurement run_receiver(queue_pair_end& end) {
    message_receiver messages(end);
    messages.post_receives();
    end.meet();
    end.run();
    auto result = finish(end, messages, false);
    check_pattern(end.in().bytes(), true);
    return result;
}

measurement run_passive(queue_pair_end& end) {
    end.meet();
    auto result = end.stand_by();
    if (end.config().operation == message_operation::write) check_pattern(end.in().bytes(), true);
    return result;
}

} // namespace

measurement run_queue_pair(const pair_bench_config& config) {
    queue_pair_end end(config);
    if (config.is_ping_pong()) {
        if (config.operation == message_operation::write) return run_writes_there_and_back(end);
        if (config.is_paced() && config.dials()) return run_there_and_back<open_loop_caller>(end);
        return run_there_and_back<ping_pong>(end);
    }
    if (config.dials()) {
        if (config.is_paced() && config.what == measured::latency)
            return run_there_and_back<open_loop_caller>(end);
        return run_sender(end);
    }
    return is_received(config.operation) ? run_receiver(end) : run_passive(end);
}

} // namespace rocio::tools
