#pragma once

#include "hsb_messages.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

namespace asio = boost::asio;

/// A plain UDP socket that programs a board's registers.
class raw_control_client {
  public:
    raw_control_client(asio::io_context& context, const asio::ip::udp::endpoint& board)
        : socket_(context, asio::ip::udp::endpoint(board.protocol(), 0)), pause_(context), board_(board) {
        socket_.connect(board_);
    }

    /// The answer to a datagram as it is.
    asio::awaitable<std::vector<std::byte>> exchange(std::vector<std::byte> datagram) {
        co_await socket_.async_send(asio::buffer(datagram), asio::use_awaitable);
        std::vector<std::byte> answer(fpga::hsb_max_datagram);
        const auto n = co_await socket_.async_receive(asio::buffer(answer), asio::use_awaitable);
        answer.resize(n);
        co_return answer;
    }
    /// In blocks of 180, as playback does.
    asio::awaitable<fpga::hsb_status> write(hsb_registers registers) {
        auto status = fpga::hsb_status::success;
        for (std::size_t at = 0; at < registers.size() && status == fpga::hsb_status::success; at += 180) {
            const auto end = std::min(registers.size(), at + 180);
            const hsb_registers block(registers.begin() + static_cast<std::ptrdiff_t>(at),
                                      registers.begin() + static_cast<std::ptrdiff_t>(end));
            const auto answer =
                co_await exchange(hsb_datagram(fpga::hsb_command::write_block, ++sequence_, block));
            status = std::get<fpga::hsb_response>(fpga::parse_response(answer)).status;
        }
        co_return status;
    }
    asio::awaitable<std::uint32_t> read(std::uint32_t address) {
        const hsb_registers addresses(1, {address, 0});
        const auto answer =
            co_await exchange(hsb_datagram(fpga::hsb_command::read_dword, ++sequence_, addresses));
        co_return std::get<fpga::hsb_response>(fpga::parse_response(answer)).pairs[0].value;
    }
    /// Reads again and again until it is so.
    asio::awaitable<void> wait_for(std::uint32_t address, std::uint32_t value) {
        for (;;) {
            const auto now = co_await read(address);
            if (now == value) co_return;
            pause_.expires_after(std::chrono::milliseconds{2});
            co_await pause_.async_wait(asio::use_awaitable);
        }
    }
    asio::awaitable<fpga::hsb::ila_sample> sample(std::uint32_t number) {
        hsb_registers addresses;
        for (std::uint32_t bank = 0; bank < fpga::hsb::ila::banks; ++bank)
            addresses.push_back({fpga::hsb::ila::address(bank, number), 0});
        const auto answer =
            co_await exchange(hsb_datagram(fpga::hsb_command::read_block, ++sequence_, addresses));
        const auto pairs = std::get<fpga::hsb_response>(fpga::parse_response(answer)).pairs;
        fpga::hsb::ila_sample::words words{};
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = pairs[i].value;
        co_return fpga::hsb::ila_sample::unpack(words);
    }

  private:
    asio::ip::udp::socket socket_;
    asio::steady_timer pause_;
    asio::ip::udp::endpoint board_;
    std::uint16_t sequence_ = 0x100;
};

} // namespace rocio::test
