#pragma once

#include "lib/frame_sender.hpp"
#include "lib/frame_source.hpp"

#include <rocio/fpga/slac_stream_port.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

struct board_sender_config {
    std::shared_ptr<device> dev{};
    std::uint32_t window = 16;              ///< The shipped firmware's ring has 16 slots.
    std::optional<double> rate{};           ///< Instead of the board's trigger.
    std::optional<std::uint64_t> count{};   ///< Frames of each connection.
    std::shared_ptr<frame_source> source{}; ///< Instead of PRBS frames.
    std::function<void(const std::string&)> say{};
    memory_options memory{};
};

/// What the board has sent since it was made.
struct board_sender_counts {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t failed = 0; ///< Connections that ended by an error.
    std::uint64_t connections = 0;
    std::uint64_t retransmits = 0;
    std::uint64_t rnr_naks = 0;
};

/// The data half of an emulated SLAC board on any device. Not thread-safe; use it on its context.
class board_sender final : public fpga::slac_stream_port {
  public:
    board_sender(boost::asio::io_context& context, board_sender_config config);
    ~board_sender() override;
    board_sender(const board_sender&) = delete;
    board_sender& operator=(const board_sender&) = delete;

    std::uint32_t create_queue_pair(std::uint32_t proposed) override;
    void destroy_queue_pair() override;
    void start(const fpga::slac_stream& stream) override;
    void stop() override;

    board_sender_counts counts() const;
    /// Ends for good; what is on its way is given up.
    void close();

  private:
    class session;

    boost::asio::io_context& context_;
    board_sender_config config_;
    std::shared_ptr<session> session_;
    board_sender_counts ended_{};
};

} // namespace rocio::tools
