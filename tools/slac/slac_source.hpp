#pragma once

#include "lib/peer_source.hpp"
#include "slac/register_access.hpp"

#include <rocio/fpga/slac_engine.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace rocio::tools {

struct slac_source_config {
    gid fpga{};
    register_place registers{};
    fpga::slac_engine_config engine{};
    fpga::slac_transport transport{};
    /// Writes the host's address into the FPGA's UDP engine first.
    bool program_udp = true;
    /// Gets the word of the board's PRBS in bits, at each connection, where there is a prbs_base.
    std::function<void(std::uint32_t)> word_bits{};
    bool reconnect = false;
    std::chrono::milliseconds first_back_off{200};
    std::chrono::milliseconds longest_back_off{10000};
    std::function<void(const std::string&)> say{};
};

/// One SLAC board, brought up anew after each end where that is asked for. Not thread-safe, but for
/// snapshot(); use it on its context.
class slac_source final : public peer_source {
  public:
    slac_source(boost::asio::io_context& context, slac_source_config config);

    boost::asio::awaitable<next_peer> next() override;
    void ended(const error_info& why, bool connected) override;
    std::string description() const override;
    void close() override;

    /// Of the present session, or the last. Any thread.
    fpga::slac_engine_snapshot snapshot() const;
    /// Connections begun. Any thread.
    std::uint64_t attempts() const;
    const slac_source_config& config() const noexcept { return config_; }

  private:
    class bring_up;
    struct shown;
    class shown_engine;

    boost::asio::io_context& context_;
    slac_source_config config_;
    boost::asio::steady_timer pause_;
    std::shared_ptr<shown> shown_;
    error_info failure_{};
    std::chrono::milliseconds back_off_;
    bool began_ = false;
    bool closed_ = false;
};

} // namespace rocio::tools
