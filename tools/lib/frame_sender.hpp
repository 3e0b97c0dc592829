#pragma once

#include "lib/frame_source.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::tools {

/// What the sending half of an emulated board does.
struct frame_sender_config {
    std::uint32_t payload = 4096;            ///< Bytes of a slot, and of a PRBS frame.
    std::uint32_t window = 64;               ///< Frames on their way at a time.
    std::optional<std::uint64_t> count{};    ///< Frames to send; default endless.
    std::optional<double> rate{};            ///< Frames per second; default as fast as acknowledgements come.
    std::vector<std::uint8_t> channels{1};   ///< Of PRBS frames, in turn. The shipped firmware sends 1.
    std::size_t prbs_word_bytes = 4;         ///< As prbs_format.
    std::uint32_t counter_period = 1U << 24; ///< Of imm[31:8]; 0: it stands at 0 (AddrWrapCount).
    std::shared_ptr<frame_source> source{};  ///< Default: PRBS frames.
    queue_pair_config pair{};
    memory_options memory{};
};

struct frame_sender_counts {
    std::uint64_t frames = 0; ///< Acknowledged by the receiver.
    std::uint64_t bytes = 0;
};

/// The sending half of an emulated FPGA: frames as SEND with immediate, the running counter in imm[31:8].
///
/// Not thread-safe; use it on its context.
class frame_sender {
  public:
    using executor_type = boost::asio::io_context::executor_type;

    /// Throws rocio::exception.
    frame_sender(boost::asio::io_context& context, const std::shared_ptr<device>& dev,
                 const frame_sender_config& config);
    /// The same on a queue pair that was made before: not connected, with a send depth of at least `window`.
    frame_sender(boost::asio::io_context& context, const std::shared_ptr<device>& dev,
                 const frame_sender_config& config, basic_queue_pair<executor_type> pair);
    static queue_pair_config pair_config(const frame_sender_config& config);

    /// Connects and sends until the count is reached, stop() is called or the connection fails; waits for the
    /// last acknowledgement and says goodbye. Gives no error for a count reached or a stop. Once per object;
    /// the object must live until it has ended.
    boost::asio::awaitable<error_info> run(any_handshake how);
    /// Sends no further frame. Same context.
    void stop();
    /// Ends at once, without waiting for what is on its way. Same context.
    void abandon();
    /// Sends no further frame until it is told so. Same context.
    void pause(bool paused);

    const frame_sender_counts& counts() const noexcept { return counts_; }
    device_queue_pair_counters counters() const;
    /// True once it was connected, also after it ended.
    bool ever_connected() const noexcept { return ever_connected_; }

  private:
    struct completion;

    void send_frames();
    void start_due_frames();
    bool send_one(std::uint32_t slot);
    std::uint32_t counter() const noexcept;
    void on_sent(std::uint32_t slot, const error_code& ec);
    std::uint64_t allowed_now() const;
    bool all_sent() const;
    boost::asio::awaitable<void> next_change();

    frame_sender_config config_;
    basic_queue_pair<executor_type> pair_;
    memory_region memory_;
    std::shared_ptr<frame_source> source_;
    std::vector<std::uint32_t> lengths_; ///< Of the frames on their way, by slot.
    std::vector<std::uint32_t> free_slots_;
    boost::asio::steady_timer ended_;
    boost::asio::steady_timer pace_;
    std::chrono::steady_clock::time_point started_{};
    std::uint64_t next_frame_ = 0;
    frame_sender_counts counts_{};
    error_info failure_{};
    bool connected_ = false;
    bool ever_connected_ = false;
    bool watching_ = false;
    bool pacing_ = false; ///< The pace timer's handler is still to come, also after a cancel().
    bool behind_ = false; ///< More frames are due than there are free slots for.
    bool stopping_ = false;
    bool paused_ = false;
};

} // namespace rocio::tools
