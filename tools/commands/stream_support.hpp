#pragma once

#include "lib/frame_receiver.hpp"
#include "lib/live_line.hpp"
#include "lib/log_levels.hpp"
#include "lib/options.hpp"
#include "lib/report.hpp"

#include <rocio/device/device.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/status/status_snapshot.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

/// Where both halves meet unless told otherwise.
inline constexpr const char* default_rendezvous = "127.0.0.1:18515";
/// The same port on every address of the device, where rdma_cm listens.
inline constexpr const char* any_rendezvous = "0.0.0.0:18515";

/// --drop --duplicate --reorder --corrupt --seed.
void add_fault_options(CLI::App& app, fault_plan& plan);
/// The plan as open_options; nothing when it does nothing.
open_options with_faults(const fault_plan& plan);
/// --pcap: every packet into a file.
void add_capture_option(CLI::App& app, std::string& file);

/// What recv and demo take for their receiving half.
struct receive_options {
    std::string name = "stream";
    std::optional<std::uint32_t> gid_index{};
    mtu path_mtu = mtu::b4096;
    std::uint32_t depth = 256;
    std::uint32_t payload = 4096;
    std::uint8_t ib_port = 1;
    rnr_timer min_rnr_timer{};
    std::uint8_t rnr_retry = 7;
    std::uint8_t retry_count = 3;
    std::optional<options::http_address> http{};
    std::optional<std::chrono::nanoseconds> seconds{};
    std::optional<std::uint64_t> count{};
    frame_check_config verify{};
    std::optional<std::chrono::milliseconds> idle{};
    polling_policy poll = polling_policy::hybrid();
    thread_placement thread{};
    memory_options memory{};
    log_levels log{};
    bool json = false;

    void add_to(CLI::App& app);
    frame_receiver_config receiver(std::shared_ptr<device> dev) const;
};

/// The streams of a program; they outlive whoever shows them.
using receivers = std::vector<std::unique_ptr<frame_receiver>>;

void show_streams(status_snapshot& status, const receivers& streams);

/// Calls `stop` once: on SIGINT, SIGTERM, or after `limit`. cancel() lets run() end.
class end_of_run {
  public:
    end_of_run(boost::asio::io_context& context, const std::optional<std::chrono::nanoseconds>& limit,
               std::function<void()> stop);
    void cancel();

  private:
    void fire();

    boost::asio::signal_set signals_;
    boost::asio::steady_timer timer_;
    std::function<void()> stop_;
};

/// "1.20 M frames, 4.9 GB, 1.31 GB/s, …" for a live line.
std::string progress_text(const receivers& streams, std::chrono::steady_clock::time_point since);

/// Counts of the receiving half as a report: sums, and each stream apart where there are several.
report report_of(const receivers& streams, const std::string& device_name);

/// Prints the report, as JSON on the last line where asked; gives the exit status.
int conclude(const report& r, bool json);

/// As parse_endpoint(), but port 0 is allowed: a free one. Throws rocio::exception.
boost::asio::ip::tcp::endpoint listen_endpoint(const std::string& text);

/// As place_this_thread(), but throws rocio::exception.
void pin_this_thread(const std::optional<unsigned>& cpu);

/// A sentence on stderr, without disturbing a live line.
void say(const std::string& text);

} // namespace rocio::tools
