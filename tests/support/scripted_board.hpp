#pragma once

#include "udp_server.hpp"

#include <rocio/fpga/board_port.hpp>
#include <rocio/fpga/hsb_board.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

/// An emulated HSB board whose bridge is a function: each window of a triggered pass is answered, or not, as
/// `answer` says, one window per turn of the context.
class scripted_board : fpga::board_port {
  public:
    using frame = std::array<std::byte, 64>;
    using sample = fpga::hsb::ila_sample;
    /// What comes back to a request; nothing: lost.
    using bridge =
        std::function<std::optional<sample>(const rpc::request_header& request, const frame& window)>;

    scripted_board(boost::asio::io_context& context, const std::string& address)
        : context_(context),
          board_(*this),
          server_(context, address, [this](auto bytes, const auto& from) { serve(bytes, from); }) {}

    udp_server::endpoint endpoint() const { return server_.local(); }
    const fpga::hsb_board& board() const noexcept { return board_; }

    /// As rpc_increment answers, 3,000 ns and as many as the request's id after the request.
    static std::optional<sample> increment(const rpc::request_header& request, const frame& window) {
        sample s{.data = window, .valid = true, .last = true, .write_count = 1, .time = 0};
        const rpc::response_header header{.status = 0,
                                          .result_len = request.arg_len,
                                          .request_id = request.request_id,
                                          .timestamp = fpga::hsb::ptp_time{7, 100}.packed()};
        static_cast<void>(header.encode(s.data));
        const auto seen = std::min<std::size_t>(request.arg_len, s.data.size() - header.size);
        for (std::size_t j = 0; j < seen; ++j) {
            auto& byte = s.data[rpc::response_header::size + j];
            byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
        }
        s.time = fpga::hsb::ptp_time{7, 3'100 + request.request_id}.packed();
        return s;
    }
    static std::optional<sample> echo(const rpc::request_header&, const frame& window) {
        return sample{.data = window, .valid = true, .last = true, .write_count = 1, .time = 0};
    }

    bridge answer = increment;
    /// Of each datagram that is sent to the client; may change it.
    std::function<void(std::span<std::byte> datagram)> on_answer{};
    /// Whether a request reaches the board.
    std::function<bool(std::span<const std::byte> datagram)> reaches{};
    bool says_done = true;
    std::optional<fpga::board_target> target{};
    std::vector<fpga::board_program> programs{}; ///< Of every trigger.
    unsigned stops = 0;
    fpga::hsb_loop_counts loop_counts{};
    bool publishes_loop = true;

  private:
    void connect(const fpga::board_target& t) override { target = t; }
    void send(fpga::board_program program) override {
        programs.push_back(std::move(program));
        const auto pass = programs.size() - 1;
        if (!programs.back().loop) boost::asio::post(context_, [this, pass] { play(pass, 0); });
    }
    void stop() override {
        ++stops;
        if (programs.empty() || !programs.back().loop || !publishes_loop) return;
        boost::asio::post(context_, [this] { board_.publish(loop_counts); });
    }
    void refuse(const error_info&) override {}

    void play(std::size_t pass, std::uint32_t window) {
        const auto& program = programs[pass];
        if (window == program.windows) {
            if (says_done) board_.pass_done();
            return;
        }
        frame beat{};
        std::ranges::copy(program.window(window).first(beat.size()), beat.begin());
        const auto request = rpc::request_header::decode(beat);
        if (request && board_.captures())
            if (const auto s = answer(*request, beat)) board_.capture(window, *s);
        boost::asio::post(context_, [this, pass, window] { play(pass, window + 1); });
    }
    void serve(std::span<const std::byte> datagram, const udp_server::endpoint& from) {
        if (reaches && !reaches(datagram)) return;
        const auto n = board_.answer(datagram, from.port(), out_);
        if (n == 0) return;
        const auto bytes = std::span(out_).first(n);
        if (on_answer) on_answer(bytes);
        server_.send(bytes, from);
    }

    boost::asio::io_context& context_;
    fpga::hsb_board board_;
    std::array<std::byte, fpga::hsb_max_datagram> out_{};
    udp_server server_;
};

} // namespace rocio::test
