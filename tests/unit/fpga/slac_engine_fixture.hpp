#pragma once

#include "memory_register_bus.hpp"
#include "slac_fixture.hpp"

#include <rocio/fpga/slac_engine.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <optional>

namespace rocio::fpga {

/// An engine at a board on an in-memory bus; pauses are short.
class slac_engine_fixture : public ::testing::Test {
  protected:
    using bus_type = test::memory_register_bus;
    using fate = bus_type::fate;
    using access = bus_type::access;
    static constexpr std::chrono::seconds patience{60};
    static constexpr std::uint32_t prbs_base = 0x0016'0000;

    boost::asio::io_context context;
    recording_port port;
    slac_board board{port};
    std::shared_ptr<bus_type::control> wire = make_wire();
    any_register_bus bus{bus_type(context, wire)};
    slac_engine_config config = quick();
    const gid fpga = gid::from_v4({192, 168, 2, 10});

    std::shared_ptr<bus_type::control> make_wire() {
        auto w = std::make_shared<bus_type::control>();
        w->board = &board;
        return w;
    }
    static slac_engine_config quick() {
        using std::chrono::milliseconds;
        slac_engine_config c;
        c.prbs_base = prbs_base;
        c.reset_pause = c.settle_pause = c.disarm_pause = milliseconds(0);
        c.first_poll = c.poll = milliseconds(1);
        c.liveness_interval = milliseconds(1);
        c.clean_up_deadline = milliseconds(100); // passes only where no reply is due
        return c;
    }
    static local_parameters local() {
        local_parameters l;
        l.address = gid::from_v4({192, 168, 2, 1});
        l.queue_pair = qpn(0x123456);
        l.send_psn = l.receive_psn = psn(0xABCDEF);
        l.region = {0xDEAD'BEEF'0000, std::uint64_t{64} * 4096, rkey{9}};
        l.max_payload = 4096;
        l.depth = 64;
        return l;
    }
    std::uint32_t at(std::uint32_t offset) const { return config.engine_base + offset; }

    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    template <class Begin>
    error_code wait(Begin begin) {
        std::optional<error_code> result;
        begin([&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
    struct exchanged {
        error_code ec{};
        peer_parameters peer{};
    };
    exchanged exchange(slac_engine& engine, const local_parameters& ours = local()) {
        std::optional<exchanged> result;
        engine.async_exchange(ours, [&](const error_code& ec, const peer_parameters& peer) {
            result = exchanged{ec, peer};
        });
        run_until([&] { return result.has_value(); });
        return result.value_or(exchanged{});
    }
    error_code ready(slac_engine& engine) {
        return wait([&](auto h) { engine.async_ready(h); });
    }
    error_code release(slac_engine& engine) {
        return wait([&](auto h) { engine.async_release(h); });
    }
    void connect(slac_engine& engine) {
        ASSERT_FALSE(exchange(engine).ec) << engine.last_error().text;
        ASSERT_FALSE(ready(engine)) << engine.last_error().text;
    }

    void TearDown() override {
        EXPECT_EQ(wire->overlaps, 0U) << "the bus carries one access at a time";
        context.restart();
        context.run_for(patience);
        EXPECT_TRUE(context.stopped()) << "work is left on the context";
    }
};

} // namespace rocio::fpga
