#pragma once

#include "udp_server.hpp"

#include <rocio/fpga/hsb_control.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <variant>
#include <vector>

namespace rocio::test {

/// The far end of an HSB control channel, made by hand: a register file, and a script of what happens to the
/// next requests. Requests without a step in the script are answered well.
class hsb_control_script {
  public:
    struct seen_request {
        fpga::hsb_command command{};
        std::uint8_t flags = 0;
        std::uint16_t sequence = 0;
        std::vector<fpga::hsb_register> registers{};
    };
    /// Gets the request; may send through `script`. True: it is answered well, too.
    using step = std::function<bool(hsb_control_script& script, const seen_request& request)>;

    hsb_control_script(boost::asio::io_context& context, const std::string& address)
        : server_(context, address, [this](auto bytes, const auto& from) { take(bytes, from); }) {}

    udp_server::endpoint endpoint() const { return server_.local(); }
    hsb_control_script& then(step s) {
        steps_.push_back(std::move(s));
        return *this;
    }
    /// Nothing is answered any more.
    void fall_silent() { silent_ = true; }

    void answer(const seen_request& request, fpga::hsb_status status = fpga::hsb_status::success) {
        auto pairs = request.registers;
        for (auto& r : pairs)
            if (!is_write(request.command)) r.value = registers[r.address];
        answer_with(request, pairs, status);
    }
    void answer_with(const seen_request& request, std::span<const fpga::hsb_register> pairs,
                     fpga::hsb_status status = fpga::hsb_status::success) {
        std::array<std::byte, fpga::hsb_max_datagram> out{};
        const fpga::hsb_response_header header{static_cast<std::uint8_t>(request.command), request.flags,
                                               request.sequence, status, request.sequence};
        const auto n = fpga::encode_response(out, header, pairs, dialect);
        ASSERT_GT(n, 0U);
        send(std::span<const std::byte>(out).first(n));
    }
    void send(std::span<const std::byte> bytes) { server_.send(bytes, client); }

    std::map<std::uint32_t, std::uint32_t> registers{};
    std::vector<seen_request> requests{};
    std::vector<fpga::hsb_register> writes{}; ///< As carried out.
    fpga::hsb_dialect dialect = fpga::hsb_dialect::emulator;
    udp_server::endpoint client{};

  private:
    void take(std::span<const std::byte> bytes, const udp_server::endpoint& from) {
        client = from;
        const auto parsed = fpga::parse_request(bytes);
        const auto* const request = std::get_if<fpga::hsb_request>(&parsed);
        ASSERT_NE(request, nullptr) << "a request that is none";
        seen_request seen{request->command, request->flags, request->sequence, {}};
        for (const auto pair : request->pairs) seen.registers.push_back(pair);
        requests.push_back(seen);
        if (is_write(request->command)) carry_out(seen);
        if (silent_) return;
        if (!steps_.empty()) {
            const auto next = std::move(steps_.front());
            steps_.pop_front();
            if (!next(*this, seen)) return;
        }
        answer(seen);
    }
    void carry_out(const seen_request& request) {
        for (const auto& r : request.registers) {
            registers[r.address] = r.value;
            writes.push_back(r);
        }
    }

    udp_server server_;
    std::deque<step> steps_{};
    bool silent_ = false;
};

/// A step: the request, or its answer, is lost.
inline bool lost(hsb_control_script&, const hsb_control_script::seen_request&) {
    return false;
}

} // namespace rocio::test
