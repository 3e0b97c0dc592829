// The loops beside which rocio is measured: the same device calls through the seam, nothing else.

#include "instant_device.hpp"
#include "paths.hpp"

#include <array>

namespace rocio::test {
namespace {

constexpr std::uint32_t depth = 256;
constexpr std::uint32_t slot_size = 64;
constexpr std::size_t batch = 16;

/// A queue pair of the device with receives and sends made beforehand.
struct plain_end {
    explicit plain_end(const instant::receive_script& receives = {}) : dev(receives) {
        (void)dev.create_completion_queue(2 * depth, completions);
        device_queue_pair_config config;
        config.completions = completions.get();
        (void)dev.create_queue_pair(config, pair);
        for (std::uint32_t slot = 0; slot < depth; ++slot) {
            requests[slot] = {{0, 0, slot}, {memory.data() + std::size_t{slot} * slot_size, slot_size, {1}}};
            sends[slot].id = {0, 1, slot};
            sends[slot].buffer = requests[slot].buffer;
        }
        (void)pair->post_receive(requests);
    }

    instant::device dev;
    std::vector<std::byte> memory = std::vector<std::byte>(std::size_t{depth} * slot_size);
    std::vector<receive_request> requests = std::vector<receive_request>(depth);
    std::vector<send_request> sends = std::vector<send_request>(depth);
    std::unique_ptr<device_completion_queue> completions;
    std::unique_ptr<device_queue_pair> pair;
    std::array<work_completion, batch> found{};
};

void plain_receive(user::meter& count) {
    plain_end end;
    std::array<receive_request, batch> chain{};
    errc error{};
    for (bool more = true; more;) {
        const auto n = end.completions->poll(end.found, error);
        std::size_t back = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& wc = end.found[i];
            if (wc.status != errc::success || wc.op != completion_opcode::receive) continue;
            chain[back++] = end.requests[wc.id.slot];
        }
        (void)end.pair->post_receive(std::span(chain).first(back));
        more = count.take(n);
    }
}

void plain_echo(user::meter& count) {
    plain_end end;
    errc error{};
    for (bool more = true; more;) {
        const auto n = end.completions->poll(end.found, error);
        std::uint64_t answered = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& wc = end.found[i];
            if (wc.status != errc::success || wc.op != completion_opcode::receive) continue;
            const auto slot = wc.id.slot;
            (void)end.pair->post_receive({&end.requests[slot], 1});
            (void)end.pair->post_send({&end.sends[slot], 1});
            ++answered;
        }
        more = count.take(answered);
    }
}

} // namespace

std::vector<measured_path> plain_paths() {
    return {
        {"plain_receive", "plain loop: poll 16, one chained post per batch", plain_receive},
        {"plain_echo", "plain loop: poll 16, each message re-posted and answered by a send", plain_echo},
    };
}

} // namespace rocio::test
