#pragma once

#include "connect/cm_greeting.hpp"
#include "scripted_connection_manager.hpp"
#include "scripted_device.hpp"
#include "tracker_executor.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocio::test {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

inline std::size_t open_descriptors() {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
}

inline error_info system_error(int number, const char* text = "the script says no") {
    return {error_code(number, boost::system::system_category()), text};
}

/// The end of an operation; fails the test when it comes twice or inside the initiating function.
struct cm_ended {
    bool done = false;
    error_code ec{};
    peer_parameters peer{};
    std::optional<cm_peer> caller{};

    auto handler() {
        return [this](const error_code& e, auto... rest) {
            EXPECT_FALSE(done) << "completed twice";
            EXPECT_FALSE(initiation_scope::active()) << "completed inside the initiating function";
            done = true;
            ec = e;
            (take(std::move(rest)), ...);
        };
    }

  private:
    void take(peer_parameters p) { peer = p; }
    void take(cm_peer p) { caller.emplace(std::move(p)); }
};

/// A context, one device and its rdma_cm. At the end of each test nothing may be left: no work on the
/// context, no id, no manager, no descriptor, no rule of the seam broken.
class CmFixture : public ::testing::Test {
  protected:
    CmFixture() {
        context.emplace();
        cm->serve(*dev, *gid::parse("10.0.0.1"));
        cm->impose(numbers());
    }
    /// After the members of the test itself.
    ~CmFixture() override {
        if (context) {
            settle();
            EXPECT_TRUE(context->stopped()) << "work is left on the context";
        }
        context.reset();
        dev->set_connection_manager({});
        expect_no_ids();
        EXPECT_THAT(cm->violations(), IsEmpty());
        EXPECT_THAT(dev->violations(), IsEmpty());
        dev.reset();
        EXPECT_EQ(open_descriptors(), descriptors_) << "a descriptor is left";
    }

    /// What rdma_cm says of a connection whose other end is the script.
    static cm_numbers numbers() {
        cm_numbers n;
        n.local_address = *gid::parse("10.0.0.1");
        n.peer_address = *gid::parse("10.0.0.9");
        n.peer_queue_pair = qpn(77);
        n.send_psn = psn(0xABCDEF);
        n.receive_psn = psn(0x123456);
        n.path_mtu = mtu::b1024;
        n.reads_in = 3;
        n.reads_out = 5;
        return n;
    }
    static asio::ip::tcp::endpoint nine() { return parse_endpoint("10.0.0.9:4000"); }
    static local_parameters side(std::uint32_t number = 0x55) {
        local_parameters p;
        p.address = *gid::parse("10.0.0.1");
        p.queue_pair = qpn(number);
        p.retry_count = 3;
        p.rnr_retry = 6;
        return p;
    }
    static std::vector<std::byte> bytes(std::string_view text) {
        const auto b = std::as_bytes(std::span(text));
        return {b.begin(), b.end()};
    }
    static cm_event response(const cm_greeting::greeting& g = {}) {
        return {.kind = cm_event_kind::connect_response,
                .data = padded(cm_greeting::encode(g), cm_private_data::most_at_accept)};
    }
    static cm_event rejected(std::uint32_t reason, const std::vector<std::byte>& data = {}) {
        cm_event e{.kind = cm_event_kind::rejected};
        e.reject_reason = reason;
        e.data = padded(data, cm_private_data::most_at_reject);
        return e;
    }
    /// Somebody elsewhere accepts what we ask for.
    void peer_accepts() { cm->answer(cm_call::connect, {response()}); }

    /// Until nothing is left to do: a forgotten operation shows here.
    void run() {
        context->restart();
        context->run_for(20s);
        ASSERT_TRUE(context->stopped()) << "something still waits";
    }
    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + 20s;
        context->restart();
        while (!done()) ASSERT_GT(context->run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    void run_until(const cm_ended& e) {
        run_until([&] { return e.done; });
    }
    /// Runs what is ready, and what becomes ready by it.
    void settle() {
        context->restart();
        while (context->poll() > 0) context->restart();
    }

    /// Only what the test itself holds is left.
    void expect_no_ids() {
        EXPECT_EQ(cm->live_ids(), 0U);
        EXPECT_EQ(cm->live_managers(), 0U);
    }

    std::shared_ptr<scripted_cm> cm = scripted_cm::make();

  private:
    const std::size_t descriptors_ = open_descriptors();

  protected:
    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    std::optional<asio::io_context> context;
};

} // namespace rocio::test
