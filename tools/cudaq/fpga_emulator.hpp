#pragma once

#include "cudaq/reply_matcher.hpp"

#include <rocio/fpga/board_port.hpp>
#include <rocio/fpga/hsb_board.hpp>
#include <rocio/fpga/hsb_board_server.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

struct fpga_emulator_config {
    std::shared_ptr<rocio::device> device{};
    std::uint8_t ib_port = 1;
    std::optional<std::uint32_t>
        gid_index{}; ///< Default: the last IPv4 one, in the bridge's subnet if that is known.
    boost::asio::ip::udp::endpoint control{}; ///< Where the control channel listens; port 0: a free one.
    std::optional<gid> bridge{};              ///< Default: the register HOST_IP.
    fpga::hsb_board_config board{};
    std::uint32_t page_size =
        256; ///< Bytes of the longest answer; and of the peer's pages if no register tells.
    std::chrono::milliseconds reply_timeout{10'000};
    std::chrono::milliseconds send_timeout{5'000};
    /// How long to wait for the registers that name the peer; default: for ever.
    std::optional<std::chrono::milliseconds> configuration_timeout{};
    std::optional<std::uint64_t> passes{}; ///< Ends after so many; default: stop() ends it.
    /// Ends as CUDA-Q's emulator does: after a pass without analyser, or a loop whose counts were read; after
    /// a pass with analyser the next one is waited for.
    bool one_session = false;
    /// After the last of `passes` the analyser can be read until no request came for so long.
    std::chrono::milliseconds linger{2'000};
    std::function<void(const std::string&)> line{};  ///< Takes what goes to stdout, a line without its end.
    std::function<void(const std::string&)> error{}; ///< The same for stderr.
    memory_options memory{};
};

/// What was sent and what came back; of a pass or of all.
struct emulator_counts {
    std::uint64_t windows = 0;
    std::uint64_t bytes = 0;
    std::uint64_t responses = 0;         ///< To a window in its time.
    std::uint64_t response_failures = 0; ///< Of these: too short, wrong magic, status other than 0.
    std::uint64_t send_errors = 0;
    std::uint64_t timeouts = 0; ///< Windows without a response in time.
    std::uint64_t late = 0;     ///< Responses to a window that had timed out.
    std::uint64_t stray = 0;    ///< Responses to nothing.

    bool all_right() const noexcept {
        return send_errors == 0 && timeouts == 0 && response_failures == 0 && responses == windows;
    }
    emulator_counts& operator+=(const emulator_counts& other) noexcept;
};

struct emulator_report {
    emulator_counts total{};
    std::uint64_t passes = 0;               ///< Begun, loops included.
    std::uint64_t verification_windows = 0; ///< Sent in passes with the analyser on.
    bool looped = false;
    std::chrono::nanoseconds elapsed{0}; ///< From the first trigger on.
    fpga::hsb_board_counts control{};
};

/// The GID that the emulator will have. The original takes the last IPv4 one, where its bridge takes the
/// first: so one port can be both ends. Throws rocio::exception.
std::optional<gid_table_entry> emulator_gid(const fpga_emulator_config& config);

/// CUDA-Q's emulated HSB FPGA: a control channel on UDP whose registers name a peer and hold windows, which
/// go to the peer by UC WRITE with immediate, one at a time, each answered by a SEND. Over any device. In
/// each request the timestamp is the time of sending, in each sample of the analyser that of the answer.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on the context's thread.
class fpga_emulator {
  public:
    /// Makes the queue pair and opens the control channel. `context` must outlive it. Throws
    /// rocio::exception.
    fpga_emulator(boost::asio::io_context& context, fpga_emulator_config config);
    ~fpga_emulator() = default;
    fpga_emulator(const fpga_emulator&) = delete;
    fpga_emulator& operator=(const fpga_emulator&) = delete;

    /// Serves until its configuration or stop() ends it; once. The emulator must live until then. The error
    /// is why no window could be sent at all; what went wrong with single ones is in report().
    boost::asio::awaitable<error_info> run();
    /// Ends run() soon: a window that is under way is given up.
    void stop();

    /// The queue pair's number: a bridge sends to it. A new one is announced by a line when a peer replaces
    /// another.
    qpn number() const noexcept { return pair_->number(); }
    boost::asio::ip::udp::endpoint control_endpoint() const { return server_.local_endpoint(); }
    /// As it stands.
    emulator_report report() const;

  private:
    using time_point = std::chrono::steady_clock::time_point;
    using condition = std::function<bool()>;
    struct connected_peer {
        gid address{};
        std::uint32_t queue_pair = 0;
        friend bool operator==(const connected_peer&, const connected_peer&) = default;
    };
    /// Of the target, what tells that the peer's ring is another one or begins anew.
    struct ring_place {
        std::uint64_t buffer = 0, page_bytes = 0, pages = 0;
        std::uint32_t remote_key = 0, queue_pair = 0;
        friend bool operator==(const ring_place&, const ring_place&) = default;
    };

    /// What the control half tells; run() acts on it.
    class port final : public fpga::board_port {
      public:
        explicit port(fpga_emulator& emulator) noexcept : emulator_(emulator) {}
        void connect(const fpga::board_target& target) override;
        void send(fpga::board_program program) override;
        void stop() override;
        void refuse(const error_info& why) override;

      private:
        fpga_emulator& emulator_;
    };

    std::optional<std::uint32_t> choose_gid_index() const;
    queue_pair_config pair_config() const;
    void say_start() const;
    void say(const std::string& text) const;
    void complain(const std::string& text) const;
    void say_number() const;
    void say_connecting() const;
    void say_progress(std::uint32_t windows) const;
    void say_target(const fpga::board_target& target) const;
    void say_program(const fpga::board_program& program, bool armed) const;
    void say_results() const;

    boost::asio::awaitable<bool> until(std::optional<time_point> deadline, condition holds);
    boost::asio::awaitable<error_info> wait_for_target();
    boost::asio::awaitable<error_info> serve_passes();
    boost::asio::awaitable<error_info> serve_pass();
    boost::asio::awaitable<void> drain();
    boost::asio::awaitable<error_info> connect_to_target();
    boost::asio::awaitable<void> renew_pair();
    boost::asio::awaitable<void> play(const fpga::board_program& program);
    boost::asio::awaitable<bool> exchange(const fpga::board_program& program, std::uint64_t index);
    boost::asio::awaitable<bool> send_window(const fpga::board_program& program, std::uint32_t window);
    boost::asio::awaitable<void> after_pass(bool loop, bool armed);
    boost::asio::awaitable<void> wait_for_reader();
    boost::asio::awaitable<void> linger();

    static error_info no_address();
    std::optional<gid> address_of(const fpga::board_target& target) const;
    error_info place_ring(const fpga::board_program& program);
    bool halted(const fpga::board_program& program) const;
    bool can_send() const { return pair_->state() == queue_pair_state::ready_to_send; }
    emulator_counts& counts() noexcept { return running_pass_ ? pass_ : done_; }
    void post_receive(std::uint32_t slot);
    void on_receive(std::uint32_t slot, const error_code& ec, std::size_t size);
    void on_sent(std::uint64_t number, const error_code& ec);
    void on_reply(std::span<const std::byte> reply);
    void check_reply(std::span<const std::byte> reply, std::uint32_t window);
    void capture(std::span<const std::byte> reply, std::uint32_t window, std::uint64_t time);
    std::uint64_t ptp_now() const;
    void notify() { wake_.cancel(); }

    boost::asio::io_context& context_;
    fpga_emulator_config config_;
    port port_;
    fpga::hsb_board board_;
    memory_region tx_, rx_; // outlive the queue pair
    std::optional<queue_pair> pair_;
    fpga::hsb_board_server server_;
    boost::asio::steady_timer wake_;
    /// Handlers of a queue pair hold a weak one: it is gone with the emulator.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

    std::optional<fpga::board_target> target_{};
    std::optional<fpga::board_program> pending_{};
    error_info refused_{}; ///< The last trigger that came to nothing, until run() has seen it.
    std::optional<connected_peer> peer_{};
    ring_place ring_{};
    std::uint64_t next_page_ = 0;
    std::uint32_t receives_ = 0; ///< Outstanding.
    std::optional<error_code> sent_{};
    std::uint64_t send_number_ = 0;

    reply_matcher matcher_{};
    emulator_counts done_{}, pass_{};
    std::uint64_t passes_ = 0, verification_windows_ = 0;
    bool looped_ = false, stopping_ = false, running_pass_ = false;
    bool halt_ = false;  ///< The player was switched off since the pass was taken up.
    bool ended_ = false; ///< No further pass.
    std::optional<time_point> first_trigger_{};
    time_point last_done_{};
    std::chrono::system_clock::time_point wall_clock_ = std::chrono::system_clock::now();
    time_point steady_clock_ = std::chrono::steady_clock::now();
};

} // namespace rocio::tools
