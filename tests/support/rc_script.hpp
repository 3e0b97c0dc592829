#pragma once

#include "rc_endpoint.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace rocio::test {

/// The key of the peer's memory in scripts.
inline constexpr std::uint32_t peer_key = 0x5EED;

/// A completion as a script expects it.
struct expected_completion {
    std::uint32_t id = 0;
    errc status = errc::success;
    bool of_receive = false;
    completion_opcode op = completion_opcode::send;
    std::uint64_t address = 0; ///< WRITEs of the peer and READs: where the bytes were put, or come from.
    std::uint32_t length = 0;  ///< Receives: bytes of message `message`.
    std::uint32_t message = 0;
    bool has_immediate = false;
    std::uint32_t immediate = 0;
    bool may_time_out = false; ///< See failed_by_peer().

    expected_completion with_immediate(std::uint32_t value) const {
        expected_completion c = *this;
        c.has_immediate = true;
        c.immediate = value;
        return c;
    }
};

/// Send wr(id) done.
expected_completion sent(std::uint32_t id);
/// Receive wr(id) holds `length` bytes of `message`.
expected_completion received(std::uint32_t id, std::uint32_t message, std::uint32_t length);
/// WRITE wr(id) done.
expected_completion wrote(std::uint32_t id);
/// READ wr(id) holds `length` bytes of the peer's memory from `address` on.
expected_completion has_read(std::uint32_t id, std::uint64_t address, std::uint32_t length);
/// Receive wr(id) tells that `message` was written to `address`; its own buffer is untouched.
expected_completion was_written(std::uint32_t id, std::uint32_t message, std::uint32_t length,
                                std::uint64_t address, std::uint32_t immediate);
expected_completion failed(std::uint32_t id, errc status);
/// As failed(), for a status that the peer told: when what it told is lost, the retries run out instead.
expected_completion failed_by_peer(std::uint32_t id, errc status);
inline expected_completion flushed(std::uint32_t id) {
    return failed(id, errc::work_request_flushed);
}

/// What happens to one queue pair, in order: posts, packets in, packets out, completions, time. Packets out
/// and completions must be exactly these. Play it with play(), which also loses each packet in turn.
class rc_script {
  public:
    explicit rc_script(const rc_endpoint_options& options) : options_(options) {}

    rc_script& posts_send(std::uint32_t n, std::size_t length);
    /// The send of message `n` as `change` makes it.
    rc_script& posts_send(std::uint32_t n, std::size_t length, std::function<void(send_request&)> change);
    /// To or from `address` of the peer, under key 0x5EED.
    rc_script& posts_rdma(
        opcode op, std::uint32_t n, std::size_t length, std::uint64_t address,
        std::function<void(send_request&)> change = [](send_request&) {});
    rc_script& posts_receive(std::uint32_t n, std::size_t size);
    rc_script& receives(const test_packet& p);
    rc_script& sends(const test_packet& p);
    rc_script& sends_nothing();
    rc_script& completes(const expected_completion& c);
    rc_script& completes_nothing();
    rc_script& waits(std::chrono::nanoseconds d);
    rc_script& waits_for_deadline(); ///< There must be one.
    rc_script& has_no_deadline();
    rc_script& is_in(transport::queue_pair_state s);
    rc_script& does(std::function<void(rc_endpoint&)> action);
    /// The peer never answers, in the replays neither.
    rc_script& with_dead_peer();

  private:
    struct packet_in {
        test_packet packet;
    };
    struct packet_out {
        test_packet packet;
    };
    struct completion {
        expected_completion expected;
    };
    struct action {
        std::function<void(rc_endpoint&)> run;
        bool posts = false; ///< Part of the story even after a loss; checks in between are not.
    };
    struct step {
        std::variant<packet_in, packet_out, completion, action> what;

        bool is_packet() const {
            return std::holds_alternative<packet_in>(what) || std::holds_alternative<packet_out>(what);
        }
    };
    struct player;

    friend void play(const rc_script& script);
    friend rc_script rnr_waiting_qp(const rc_endpoint_options& options);
    rc_script& add(step s);

    rc_endpoint_options options_;
    std::vector<step> steps_;
    bool dead_peer_ = false;
};

/// Scripts whose queue pair is already in a state.
inline rc_script rts_qp(const rc_endpoint_options& options = {}) {
    return rc_script(options);
}
/// wr(1), 10 bytes, was sent and refused with "receiver not ready", timer code 14 (1.28 ms).
rc_script rnr_waiting_qp(const rc_endpoint_options& options = {});

/// Plays the script as written, from ordinary PSNs and across their wrap. Then, for every packet in it, plays
/// it up to that packet, loses the packet, and lets a model peer carry the connection on: the completions
/// must come out the same, every message exactly once, in order and intact. Failures are reported to
/// GoogleTest.
void play(const rc_script& script);

} // namespace rocio::test
