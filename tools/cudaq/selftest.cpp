#include "cudaq/selftest.hpp"

#include "cudaq/increment.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

/// Messages at the end of a test with losses, of which one must be answered. At every second packet lost, one
/// in a million tests would find none.
constexpr int last_messages = 48;

gid_table_entry address_of_fpga(const selftest_config& c) {
    if (!c.fpga || !c.bridge) throw exception({errc::invalid_argument, "selftest: a device is missing"});
    std::vector<gid_table_entry> table;
    throw_if(c.fpga->gid_table(c.ib_port, table));
    std::optional<gid_table_entry> found;
    for (const auto& entry : table) {
        if (entry.type != gid_type::roce_v2 || !entry.value.is_v4_mapped()) continue;
        if (!c.fpga_address || entry.value == *c.fpga_address) found = entry;
    }
    if (found) return *found;
    const auto wanted = c.fpga_address ? c.fpga_address->to_address_string() : std::string("an IPv4 address");
    throw exception({errc::no_usable_gid,
                     wanted + " is no RoCE v2 address of " + c.fpga->name() + "; see `rocio devices`"});
}

asio::ip::address_v4 v4_of(const gid& address) {
    return asio::ip::make_address_v4(address.to_address_string());
}

rpc::function_table functions() {
    rpc::function_table table;
    table.add_raw(increment_name, increment);
    return table;
}

busy_poll_thread_config thread_of(const selftest_config& c) {
    busy_poll_thread_config how;
    how.name = "bridge";
    // In unified mode the bridge has a thread of its own.
    const bool unified = c.mode == bridge_mode::unified;
    how.policy = unified ? polling_policy::park() : c.poll;
    if (unified) return how;
    how.cpu = c.thread.cpu;
    how.realtime_priority = c.thread.realtime_priority;
    return how;
}

std::optional<std::uint64_t> dropped_by(const device& dev) {
    for (const auto& counter : dev.snapshot().counters)
        if (counter.name == "faults.dropped") return counter.value;
    return std::nullopt;
}

std::string number(std::uint64_t n, const char* what) {
    return std::to_string(n) + " " + what;
}

} // namespace

std::string selftest_report::failure() const {
    const auto& c = playback.counts;
    if (playback.played != playback.messages)
        return "stopped after " + number(playback.played, "of ") + number(playback.messages, "messages");
    if (mismatched() > 0) return number(mismatched(), "wrong answers");
    if (playback.memory_mismatches > 0)
        return number(playback.memory_mismatches, "words of the player's memory differ");
    if (c.matched + c.missing != playback.messages)
        return number(c.matched, "right answers and ") + number(c.missing, "lost messages are not the ") +
               number(playback.messages, "played");
    if (fpga.total.send_errors > 0) return number(fpga.total.send_errors, "messages could not be sent");
    if (!forward && fpga.total.response_failures > 0)
        return number(fpga.total.response_failures, "answers with an error");
    if (!losses_expected) return lost() == 0 ? "" : number(lost(), "messages without an answer");
    if (fpga.total.timeouts != lost() + fpga.total.late)
        return number(lost(), "lost messages, but the FPGA missed ") + number(fpga.total.timeouts, "answers");
    if (dropped && *dropped != lost())
        return number(lost(), "lost messages, but ") + number(*dropped, "packets were dropped");
    return still_answers.value_or(false) ? "" : "no answer any more at the end";
}

selftest::selftest(asio::io_context& context, const selftest_config& config)
    : context_(context),
      config_(config),
      fpga_address_(address_of_fpga(config)),
      emulator_(context, emulator_config()),
      plane_(thread_of(config)),
      bridge_(plane_.context(), bridge_settings(), functions()),
      ended_(context) {
    bridge_.start();
    report_.fpga_address = fpga_address_.value;
    report_.bridge_address = bridge_.local().address;
    report_.forward = config.mode == bridge_mode::forward;
    report_.losses_expected = config.losses_expected;
    throw_if(validate(playback_settings(config.messages)));
}

selftest::~selftest() {
    // The bridge must not be in use when it goes.
    plane_.stop();
    try {
        plane_.join();
    } catch (...) { // what ended it was told when it did
    }
}

fpga_emulator_config selftest::emulator_config() const {
    fpga_emulator_config c;
    c.device = config_.fpga;
    c.ib_port = config_.ib_port;
    c.gid_index = fpga_address_.index;
    c.control = {v4_of(fpga_address_.value), 0};
    c.page_size = config_.page_size;
    c.reply_timeout = config_.reply_timeout;
    // It would tell each loss that is expected, and each request that comes back for no answer.
    if (!config_.losses_expected && config_.mode != bridge_mode::forward) c.error = config_.error;
    return c;
}

bridge_config selftest::bridge_settings() const {
    bridge_config c;
    c.device = config_.bridge;
    c.port = config_.ib_port;
    c.peer_address = fpga_address_.value;
    c.peer_queue_pair = emulator_.number().value();
    c.pages = config_.pages;
    c.page_size = config_.page_size;
    c.payload_size = config_.payload_size;
    c.mode = config_.mode;
    c.poll = config_.poll;
    c.thread = config_.thread;
    c.memory = config_.memory;
    c.log = config_.log;
    return c;
}

playback_config selftest::playback_settings(std::uint32_t messages) const {
    const auto ours = bridge_.local();
    playback_config c;
    c.control = emulator_.control_endpoint();
    c.queue_pair = ours.queue_pair.value();
    c.remote_key = ours.region.key.value;
    c.buffer = ours.region.address;
    c.page_size = config_.page_size;
    c.pages = config_.pages;
    c.bridge_ip = v4_of(ours.address);
    c.messages = messages;
    c.payload_size = config_.payload_size;
    c.emulator = true;
    c.forward = config_.mode == bridge_mode::forward;
    c.reply_timeout = config_.reply_timeout;
    return c;
}

/// Each message is one packet each way where neither is longer than the path MTU.
std::optional<std::uint64_t> selftest::dropped() const {
    const auto longest = std::max(window_bytes(config_.payload_size), bridge_.frame_size());
    const auto fpga = dropped_by(*config_.fpga), bridge = dropped_by(*config_.bridge);
    if (!fpga || !bridge || longest > bytes(bridge_.local().path_mtu)) return std::nullopt;
    return *fpga + *bridge;
}

void selftest::finished(part& which, std::exception_ptr thrown, const error_info& failure) {
    which = {true, failure, std::move(thrown)};
    ended_.cancel();
    // Without it the playback would wait for nothing.
    if (!stopping_ && player_ && (failure || which.thrown)) player_->stop();
}

void selftest::launch() {
    emulator_part_.over = bridge_part_.over = false;
    asio::co_spawn(context_, emulator_.run(), [this](std::exception_ptr e, const error_info& failure) {
        finished(emulator_part_, std::move(e), failure);
    });
    asio::co_spawn(plane_.context(), bridge_.run(),
                   [this](const std::exception_ptr& e, const error_info& failure) {
                       auto report = bridge_.report();
                       asio::post(context_, [this, e, failure, report = std::move(report)]() mutable {
                           report_.bridge = std::move(report);
                           finished(bridge_part_, e, failure);
                       });
                   });
}

asio::awaitable<selftest_report> selftest::run() {
    launch();
    std::exception_ptr thrown;
    try {
        co_await play();
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await shut_down();
    check(emulator_part_);
    check(bridge_part_);
    if (thrown) std::rethrow_exception(thrown);
    co_return std::move(report_);
}

asio::awaitable<void> selftest::play() {
    player_ = std::make_unique<playback>(context_.get_executor(), playback_settings(config_.messages));
    report_.playback = co_await player_->run();
    report_.fpga = emulator_.report();
    if (!config_.losses_expected || stopping_) co_return;
    report_.dropped = dropped();
    report_.still_answers = false;
    for (int i = 0; i < last_messages && !*report_.still_answers && !stopping_; ++i)
        report_.still_answers = co_await answers_one();
}

asio::awaitable<bool> selftest::answers_one() {
    player_ = std::make_unique<playback>(context_.get_executor(), playback_settings(1));
    const auto result = co_await player_->run();
    co_return result.passed();
}

asio::awaitable<void> selftest::shut_down() {
    stopping_ = true;
    bridge_.stop();
    emulator_.stop();
    while (!emulator_part_.over || !bridge_part_.over) {
        ended_.expires_at(std::chrono::steady_clock::time_point::max());
        error_code ignored;
        co_await ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
}

void selftest::check(const part& which) const {
    if (which.thrown) std::rethrow_exception(which.thrown);
    throw_if(which.failure);
}

void selftest::stop() {
    stopping_ = true;
    if (player_) player_->stop();
}

playback_progress selftest::progress() const {
    return player_ ? player_->progress() : playback_progress{};
}

} // namespace rocio::tools
