#include "bench/write_ping_pong.hpp"

#include <atomic>

namespace rocio::tools {

namespace {

constexpr std::uint32_t looks_between_turns = 4096;
constexpr std::uint32_t looks_between_clocks = 1 << 16;

} // namespace

write_ping_pong::write_ping_pong(queue_pair_end& end)
    : end_(end),
      total_(end.config().ping_pong_messages()),
      part_(total_ - end.config().count, end.config().count) {
    sent_.reserve(total_);
}

void write_ping_pong::run() {
    // Keeps the engine turning all the time.
    if (turns_) end_.pair().async_wait_closed([this](const error_code& ec) { closed_ = {ec, {}}; });
    for (std::uint64_t n = 1; n <= total_; ++n) {
        if (!end_.config().dials()) await_message(n);
        write(n);
        if (end_.config().dials()) await_message(n);
        part_.pass(n);
    }
}

measurement write_ping_pong::result() const {
    auto m = part_.result();
    m.latencies = half_round_trips(sent_, end_.config().warm_up());
    return m;
}

void write_ping_pong::write(std::uint64_t n) {
    out_.data[out_.size - 1] = static_cast<std::byte>(n);
    writing_ = true;
    sent_.push_back(clock::now());
    end_.start(0, 0, written{this});
    while (writing_) turn();
    end_.moved();
}

void write_ping_pong::await_message(std::uint64_t n) {
    const auto expected = static_cast<std::byte>(n);
    const std::atomic_ref<std::byte> last(in_.data[in_.size - 1]);
    for (std::uint32_t looks = 1; last.load(std::memory_order_acquire) != expected; ++looks) {
        if (turns_ || looks % looks_between_turns == 0) turn();
        if (looks % looks_between_clocks == 0) check_silence();
    }
}

void write_ping_pong::turn() {
    end_.context().poll_one();
    if (!closed_ && end_.pair().state() != queue_pair_state::error) return;
    const auto reason = end_.pair().last_error();
    throw exception(reason ? reason : error_info{end_.pair().close_reason(), {}});
}

void write_ping_pong::check_silence() {
    if (clock::now() - sent_or_begin() > longest_silence)
        throw exception({errc::peer_lost, "no message for " + std::to_string(longest_silence.count()) +
                                              " s: the other side hangs"});
}

} // namespace rocio::tools
