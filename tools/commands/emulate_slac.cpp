#include "commands/emulate_slac.hpp"

#include "commands/fpga_options.hpp"
#include "commands/stream_support.hpp"
#include "lib/file_source.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"
#include "slac/board_sender.hpp"
#include "slac/register_access.hpp"

#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

/// The shipped firmware's: imm[7:0] is fixed.
constexpr std::uint8_t firmware_channel = 1;

fpga::slac_board_config board_config(const slac_emulator_options& o) {
    fpga::slac_board_config c;
    c.prbs_present = !o.no_prbs_source;
    c.word_bits = static_cast<std::uint32_t>(o.prbs_word_bytes * 8);
    c.payload_bytes = o.payload;
    c.has_soft_reset = !o.no_soft_reset;
    return c;
}

std::string address_of(const device& dev) {
    std::vector<gid_table_entry> table;
    throw_if(dev.gid_table(1, table));
    auto choice = choose_gid(table, {});
    throw_if(choice.error);
    return choice.chosen->value.to_address_string();
}

/// Board, registers' server and sender of one emulated FPGA.
class emulated_board {
  public:
    emulated_board(asio::io_context& context, const slac_emulator_options& o,
                   const std::shared_ptr<device>& dev)
        : file_(o.frames.empty()
                    ? nullptr
                    : std::make_shared<file_source>(context, o.frames, o.payload, firmware_channel)),
          sender_(context, sender_config(o, dev, file_)),
          board_(sender_, board_config(o)),
          place_(parse_register_place(o.bus, o.registers, address_of(*dev))),
          server_(serve_registers(context, place_, board_, o.control)),
          tick_(context) {
        if (o.wedge_at > 0) board_.faults().wedge_at = o.wedge_at;
        board_.faults().reply_after_reads = o.reply_after_reads;
        if (o.stale) board_.leave_stale_resources();
        tick();
    }
    void stop() {
        stopping_ = true;
        tick_.cancel();
        server_.reset();
        sender_.close();
    }
    const register_place& place() const noexcept { return place_; }
    const fpga::slac_board& board() const noexcept { return board_; }
    board_sender_counts counts() const { return sender_.counts(); }
    error_info failure() const { return file_ ? file_->failure() : error_info{}; }
    double seconds() const { return std::chrono::duration<double>(last_growth_ - first_growth_).count(); }

  private:
    static constexpr std::chrono::milliseconds interval{100};

    static board_sender_config sender_config(const slac_emulator_options& o,
                                             const std::shared_ptr<device>& dev,
                                             const std::shared_ptr<file_source>& file) {
        board_sender_config c;
        c.dev = dev;
        c.window = o.depth;
        c.rate = o.rate;
        c.count = o.count;
        c.source = file;
        c.memory = o.memory;
        c.say = [](const std::string& text) { say(text); };
        return c;
    }
    /// The Core's counters and monitors follow what the sender has done.
    void tick() {
        if (stopping_) return;
        const auto now = sender_.counts();
        const auto frames = now.frames - told_.frames;
        fpga::slac_sent sent;
        sent.frames = frames;
        sent.failed = now.failed - told_.failed;
        sent.frames_per_second = static_cast<std::uint32_t>(frames * (1000 / interval.count()));
        sent.bytes_per_second =
            (now.bytes - told_.bytes) * static_cast<std::uint64_t>(1000 / interval.count());
        if (frames > 0) {
            last_growth_ = std::chrono::steady_clock::now();
            if (told_.frames == 0) first_growth_ = last_growth_ - interval;
        }
        told_ = now;
        board_.count(sent);
        tick_.expires_after(interval);
        tick_.async_wait([this](const error_code& ec) {
            if (!ec) tick();
        });
    }

    std::shared_ptr<file_source> file_;
    board_sender sender_;
    fpga::slac_board board_;
    register_place place_;
    std::unique_ptr<register_server> server_;
    asio::steady_timer tick_;
    board_sender_counts told_{};
    std::chrono::steady_clock::time_point first_growth_{}, last_growth_{};
    bool stopping_ = false;
};

report report_of(const emulated_board& b, const std::string& device_name) {
    const auto c = b.counts();
    report r;
    r.device = device_name;
    r.frames = c.frames;
    r.bytes = c.bytes;
    r.elapsed = std::chrono::nanoseconds(static_cast<std::int64_t>(b.seconds() * 1e9));
    r.rnr_naks = c.rnr_naks;
    r.retransmits = c.retransmits;
    r.more["connections"] = c.connections;
    r.more["failed_connections"] = c.failed;
    r.more["requests"] = b.board().requests();
    r.more["refusals"] = b.board().refusals();
    r.more["soft_resets"] = b.board().soft_resets();
    r.more["resources_allocated"] = b.board().resources_allocated();
    return r;
}

} // namespace

void slac_emulator_options::add_own_to(CLI::App& app) {
    add_bus_option(app, bus);
    app.add_option("--registers", registers,
                   "ADDRESS[:PORT] of the registers; default: the device's address, port 8192; with zmq "
                   "127.0.0.1:10000 and the next port");
    const auto probability = [&app](const char* name, double& value, const char* what) {
        app.add_option(name, value, what)->check(CLI::Range(0.0, 1.0));
    };
    probability("--control-drop", control.drop, "Probability that a packet to or from the registers is lost");
    probability("--control-duplicate", control.duplicate, "Probability that one comes twice");
    probability("--control-reorder", control.reorder, "Probability that one is overtaken by the next");
    app.add_option("--wedge", wedge_at, "The engine never answers its N-th request, until it is reset")
        ->type_name("N");
    app.add_option("--slow-replies", reply_after_reads, "Replies show only after so many looks")
        ->type_name("N");
    app.add_flag("--stale", stale, "Begin with what a session that crashed left behind");
    app.add_flag("--no-soft-reset", no_soft_reset, "Firmware without the SoftReset register");
    app.add_flag("--no-prbs-source", no_prbs_source,
                 "The application's own source: DispatchEnable alone starts it");
}

int emulate_slac(const slac_emulator_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(command_log(o.log));
    const auto dev = open_device(o.device, o.opening);
    emulated_board board(context, o, dev);
    say("registers at " + board.place().text() + ", frames from " + dev->name());
    live_line live(context.get_executor(), [&] {
        const auto c = board.counts();
        return human_count(static_cast<double>(c.frames)) + " frames sent  connections " +
               std::to_string(c.connections) + "  retransmits " + std::to_string(c.retransmits);
    });
    end_of_run end(context, o.seconds, [&] {
        live.stop();
        board.stop();
    });
    context.run();
    throw_if(board.failure());
    const auto r = report_of(board, dev->name());
    if (o.json)
        std::cout << json_line(r) << std::endl;
    else
        std::cout << to_text(r) << std::flush;
    return 0;
}

} // namespace rocio::tools
