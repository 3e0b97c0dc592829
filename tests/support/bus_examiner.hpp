#pragma once

#include <rocio/fpga/packetizer.hpp>
#include <rocio/fpga/rssi_connection.hpp>
#include <rocio/fpga/srp.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::test {

/// Gives any bytes to what takes them from the network and says which promise was broken, if one was. The
/// first byte chooses who takes the rest.
class bus_examiner {
  public:
    using bytes = std::span<const std::byte>;

    static const char* examine(bytes input) {
        if (input.empty()) return nullptr;
        const auto rest = input.subspan(1);
        switch (static_cast<std::uint8_t>(input[0]) % 5) {
        case 0:
            return request(rest);
        case 1:
            return reply(rest);
        case 2:
            return frames(rest);
        case 3:
            return machine(fpga::rssi_role::server, rest);
        default:
            return machine(fpga::rssi_role::client, rest);
        }
    }

  private:
    /// The next piece, which is behind its length.
    static bytes next(bytes& input) {
        const auto n = std::min<std::size_t>(static_cast<std::uint8_t>(input[0]), input.size() - 1);
        const auto piece = input.subspan(1, n);
        input = input.subspan(1 + n);
        return piece;
    }

    static const char* request(bytes message) {
        const auto r = fpga::parse_srp_request(message);
        if (!r) return nullptr;
        if (r->status != 0) return nullptr;
        if (r->request.size > fpga::srp_max_data && r->request.opcode != fpga::srp_opcode::null)
            return "a request for more than a transaction carries";
        if (!r->request.data.empty() && r->request.opcode != fpga::srp_opcode::null &&
            r->request.data.size() != r->request.size)
            return "a write with another amount of data than it says";
        return nullptr;
    }

    static const char* reply(bytes message) {
        const auto r = fpga::parse_srp_reply(message);
        if (!r) return nullptr;
        const fpga::srp_request asked{.id = 7, .address = 0x100, .size = 8};
        if (r->answers(asked) && r->status == 0 && r->data.size() != 8)
            return "an answer with another amount of data";
        return nullptr;
    }

    static const char* frames(bytes input) {
        constexpr std::size_t most = 512;
        fpga::depacketizer d(most);
        while (!input.empty()) {
            const auto verdict = d.on_segment(next(input));
            if (d.frame().size() > most) return "a frame beyond its limit";
            if (verdict == fpga::depacketizer::verdict::whole && d.frame().empty()) return "an empty frame";
        }
        return nullptr;
    }

    static const char* machine(fpga::rssi_role role, bytes input) {
        std::chrono::steady_clock::time_point now(std::chrono::hours(1));
        fpga::rssi_connection m(role, {});
        if (role == fpga::rssi_role::client) m.connect(now);
        std::array<std::byte, 9216> out{};
        std::size_t given = 0;
        while (!input.empty()) {
            int segments = 0;
            while (m.next_segment(out, now) != 0) {
                if (++segments > 300) return "segments without end";
            }
            if (m.state() == fpga::rssi_state::open && ++given % 3 == 0)
                m.send(std::span(out).first(std::min<std::size_t>(m.max_payload(), 24)));
            m.on_segment(next(input), now);
            if (given % 4 == 0) {
                while (m.receive()) {
                }
            }
            now += std::chrono::milliseconds(static_cast<int>(input.size() % 40));
            m.on_deadline(now);
            if (m.state() == fpga::rssi_state::open && !m.next_deadline())
                return "open and nothing to wait for";
        }
        return nullptr;
    }
};

inline const char* broken_bus_promise(std::span<const std::byte> input) {
    return bus_examiner::examine(input);
}

} // namespace rocio::test
