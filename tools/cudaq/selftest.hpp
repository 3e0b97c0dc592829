#pragma once

#include "cudaq/bridge.hpp"
#include "cudaq/fpga_emulator.hpp"
#include "cudaq/playback.hpp"

#include <rocio/io/busy_poll_thread.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

struct selftest_config {
    std::shared_ptr<rocio::device> fpga{}; ///< The emulator's.
    std::shared_ptr<rocio::device> bridge{};
    std::uint8_t ib_port = 1;          ///< Of both.
    std::optional<gid> fpga_address{}; ///< Default: the last IPv4 address of its port.
    bridge_mode mode = bridge_mode::three_thread;
    std::uint32_t messages = 100;
    std::uint32_t payload_size = 8;
    std::uint32_t page_size = 384;
    std::uint32_t pages = 128;
    std::chrono::milliseconds reply_timeout{1000};
    /// The devices lose packets: lost messages do not fail the test, wrong ones and a ring that answers no
    /// more do.
    bool losses_expected = false;
    polling_policy poll = polling_policy::hybrid();  ///< Of the bridge.
    thread_placement thread{};                       ///< Of the bridge.
    memory_options memory{};                         ///< Of the bridge.
    std::shared_ptr<log_sink> log{};                 ///< Of the bridge.
    std::function<void(const std::string&)> error{}; ///< Told what goes wrong, a line each; may be empty.
};

/// What the three programs saw; a value.
struct selftest_report {
    playback_report playback{};
    emulator_report fpga{}; ///< When the last of `messages` was over.
    bridge_report bridge{}; ///< At the very end.
    gid fpga_address{}, bridge_address{};
    bool forward = false;
    bool losses_expected = false;
    std::optional<bool> still_answers{}; ///< Asked when losses are expected.
    /// Packets that the devices lost on purpose until then; nothing where they have no such count, or where a
    /// message has several packets.
    std::optional<std::uint64_t> dropped{};

    std::uint64_t matched() const noexcept { return playback.counts.matched; }
    std::uint64_t lost() const noexcept { return playback.counts.missing; }
    std::uint64_t mismatched() const noexcept {
        const auto& c = playback.counts;
        return c.header_errors + c.payload_errors + c.duplicates + c.unexpected;
    }
    /// "" when the test was passed, else why not.
    std::string failure() const;
    bool passed() const { return failure().empty(); }
};

/// Emulated FPGA, playback and bridge in one process: the FPGA and the playback on the caller's context, the
/// bridge on a thread of its own. Every message goes through both devices twice and is checked.
///
/// Thread safety: use it on the context's thread.
class selftest {
  public:
    /// Throws rocio::exception; then nothing runs.
    selftest(boost::asio::io_context& context, const selftest_config& config);
    ~selftest();
    selftest(const selftest&) = delete;
    selftest& operator=(const selftest&) = delete;

    /// Once. Throws rocio::exception when one of the three cannot run at all. The object must outlive it.
    boost::asio::awaitable<selftest_report> run();
    /// Ends it soon; what was played is checked still.
    void stop();
    playback_progress progress() const;

  private:
    /// One of the programs that run until they are told to stop.
    struct part {
        bool over = true;
        error_info failure{};
        std::exception_ptr thrown{};
    };

    fpga_emulator_config emulator_config() const;
    bridge_config bridge_settings() const;
    playback_config playback_settings(std::uint32_t messages) const;
    std::optional<std::uint64_t> dropped() const;
    void launch();
    void finished(part& which, std::exception_ptr thrown, const error_info& failure);
    boost::asio::awaitable<void> play();
    boost::asio::awaitable<bool> answers_one();
    boost::asio::awaitable<void> shut_down();
    void check(const part& which) const;

    boost::asio::io_context& context_;
    selftest_config config_;
    gid_table_entry fpga_address_;
    fpga_emulator emulator_;
    busy_poll_thread plane_;
    bridge bridge_;
    std::unique_ptr<playback> player_{};
    boost::asio::steady_timer ended_;
    part emulator_part_{}, bridge_part_{};
    selftest_report report_{};
    bool stopping_ = false;
};

} // namespace rocio::tools
