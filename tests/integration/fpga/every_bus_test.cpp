#include "register_bus_fixture.hpp"

#include <rocio/fpga/run_program.hpp>
#include <rocio/fpga/udp_engine.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <numeric>
#include <vector>

namespace rocio::fpga {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using namespace std::chrono_literals;

#ifdef ROCIO_TEST_WITHOUT_ZMQ
using ways = ::testing::Types<udp_way, rssi_way>;

TEST(memory_bridge, SaysThatItWasLeftOut) {
    asio::io_context context;
    test::fake_registers registers;
    const asio::ip::tcp::endpoint where(asio::ip::make_address(bridge_way::address), 10000);
    const auto expect_refused = [](auto make) {
        try {
            make();
            FAIL() << "made without libzmq";
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), errc::not_supported);
            EXPECT_THAT(e.what(), HasSubstr("-DROCIO_ZMQ=ON"));
        }
    };
    expect_refused([&] { memory_bridge_bus(context, where); });
    expect_refused([&] { memory_bridge_server(context.get_executor(), where, registers); });
}
#else
using ways = ::testing::Types<udp_way, rssi_way, bridge_way>;
#endif
TYPED_TEST_SUITE(every_bus, ways);

TYPED_TEST(every_bus, ReadsTheRegisterAskedFor) {
    this->registers.values[0x0015'0F4C] = 0xCAFE'F00D;
    auto bus = this->make_bus();
    const auto [ec, value] = this->read(bus, 0x0015'0F4C);
    EXPECT_FALSE(ec) << bus.last_error().message();
    EXPECT_EQ(value, 0xCAFE'F00DU);
    EXPECT_EQ(bus.client_snapshot().requests, 1U);
}

TYPED_TEST(every_bus, WritesAreDoneWhenTheyComplete) {
    auto bus = this->make_bus();
    EXPECT_FALSE(this->write(bus, 0x8000'0000, 17));
    EXPECT_THAT(this->registers.writes, ElementsAre(Pair(0x8000'0000, 17)));
}

TYPED_TEST(every_bus, ReachesRegistersBeyondFourGigabytes) {
    auto bus = this->make_bus();
    EXPECT_FALSE(this->write(bus, 0x1234'5678'9ABC'DEF0, 5));
    EXPECT_EQ(this->registers.values.at(0x1234'5678'9ABC'DEF0), 5U);
    EXPECT_EQ(this->read(bus, 0x1234'5678'9ABC'DEF0).value, 5U);
}

TYPED_TEST(every_bus, ABlockOf4096BytesIsOneTransaction) {
    auto bus = this->make_bus();
    std::vector<std::uint32_t> out(1024), in(1024);
    std::iota(out.begin(), out.end(), 0xA000'0000U);
    EXPECT_FALSE(this->wait([&](auto h) { bus.async_write_block(0x1000, out, h); }))
        << bus.last_error().message();
    EXPECT_FALSE(this->wait([&](auto h) { bus.async_read_block(0x1000, in, h); }))
        << bus.last_error().message();
    EXPECT_EQ(in, out);
    EXPECT_EQ(this->registers.writes.size(), 1024U);
    EXPECT_EQ(bus.client_snapshot().requests, 2U);
}

TYPED_TEST(every_bus, BlocksThatNoTransactionCarriesAreRefusedBeforeTheyAreSent) {
    auto bus = this->make_bus();
    std::vector<std::uint32_t> words(1025);
    const auto block = [&](std::uint64_t address, std::size_t n) {
        return this->wait([&](auto h) { bus.async_read_block(address, std::span(words).first(n), h); });
    };
    EXPECT_EQ(block(0x1000, 1025), errc::invalid_argument);
    EXPECT_THAT(bus.last_error().message(),
                HasSubstr("1025 words in one transaction, allowed are 1 to 1024"));
    EXPECT_EQ(block(0x1000, 0), errc::invalid_argument);
    EXPECT_EQ(block(0x1002, 1), errc::invalid_argument);
    EXPECT_EQ(block(0xFFFF'FFFF'FFFF'FFFC, 2), errc::invalid_argument);
    EXPECT_EQ(bus.client_snapshot().requests, 0U);
}

TYPED_TEST(every_bus, TheLastRegisterOfTheAddressSpaceCanBeRead) {
    this->registers.values[0xFFFF'FFFF'FFFF'FFFC] = 3;
    auto bus = this->make_bus();
    EXPECT_EQ(this->read(bus, 0xFFFF'FFFF'FFFF'FFFC).value, 3U) << bus.last_error().message();
}

TYPED_TEST(every_bus, AnAddressWithoutARegisterIsADecodeError) {
    this->registers.failing[0xF000] = bus_response::decode_error;
    auto bus = this->make_bus();
    const auto [ec, value] = this->read(bus, 0xF000);
    EXPECT_TRUE(ec);
    EXPECT_EQ(value, 0U);
    EXPECT_THAT(bus.last_error().message(),
                AllOf(HasSubstr("read of 0xf000 (4 bytes) from"), HasSubstr("no register at this address"),
                      HasSubstr(TypeParam::address)));
    EXPECT_EQ(bus.last_error().code, ec);
    EXPECT_TRUE(this->write(bus, 0xF000, 1));
    EXPECT_EQ(bus.client_snapshot().refusals, 2U);
    EXPECT_FALSE(this->write(bus, 0xF004, 1)) << "a refusal is not the end of the bus";
}

TYPED_TEST(every_bus, APostedWriteArrivesBeforeTheReadAfterIt) {
    auto bus = this->make_bus();
    EXPECT_FALSE(this->wait([&](auto h) { bus.async_post(0x100, 9, h); }));
    EXPECT_EQ(this->read(bus, 0x100).value, 9U);
}

TYPED_TEST(every_bus, ANullRequestTouchesNothing) {
    auto bus = this->make_bus();
    EXPECT_FALSE(this->wait([&](auto h) { bus.async_null(h); })) << bus.last_error().message();
    EXPECT_TRUE(this->registers.writes.empty());
}

TYPED_TEST(every_bus, ManyOperationsAreInFlightAtOnce) {
    auto bus = this->make_bus();
    constexpr std::uint32_t count = 100;
    for (std::uint32_t i = 0; i < count; ++i) this->registers.values[4 * i] = 1000 + i;
    std::uint32_t done = 0, right = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        bus.async_read(4 * i, [&, i](const error_code& ec, std::uint32_t value) {
            ++done;
            right += !ec && value == 1000 + i;
        });
    }
    this->run_until([&] { return done == count; });
    EXPECT_EQ(right, count);
}

TYPED_TEST(every_bus, NothingThereIsAnErrorThatSaysSoWithinTheDeadline) {
    auto bus = this->make_bus(300ms);
    this->server.reset();
    const auto begun = std::chrono::steady_clock::now();
    const auto ec = this->read(bus, 0x100).ec;
    EXPECT_TRUE(ec == bus_errc::no_answer || ec == bus_errc::not_connected) << ec.message();
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 290ms);
    EXPECT_THAT(bus.last_error().message(),
                AllOf(HasSubstr("read of 0x100"), HasSubstr(TypeParam::address), HasSubstr("port")));
}

TYPED_TEST(every_bus, ABoardThatComesLaterIsFound) {
    const auto where = this->server->local_endpoint();
    auto bus = this->make_bus(200ms);
    this->server.reset();
    EXPECT_TRUE(this->write(bus, 0x100, 1));
    this->server.emplace(this->context.get_executor(), where, this->registers);
    error_code ec = bus_errc::no_answer;
    for (int i = 0; i < 100 && ec; ++i) ec = this->write(bus, 0x100, 2);
    EXPECT_FALSE(ec) << bus.last_error().message();
    EXPECT_EQ(this->registers.values.at(0x100), 2U);
}

TYPED_TEST(every_bus, ACancelledOperationEndsAloneAndAtOnce) {
    auto bus = this->make_bus();
    this->server->close();
    asio::cancellation_signal signal;
    std::optional<error_code> cancelled, other;
    bus.async_read(0x100, asio::bind_cancellation_slot(
                              signal.slot(), [&](const error_code& ec, std::uint32_t) { cancelled = ec; }));
    bus.async_write(0x104, 1, [&](const error_code& ec) { other = ec; });
    this->context.poll();
    signal.emit(asio::cancellation_type::total);
    this->run_until([&] { return cancelled.has_value(); });
    EXPECT_EQ(cancelled, asio::error::operation_aborted);
    EXPECT_FALSE(other.has_value());
    bus.cancel();
    this->run_until([&] { return other.has_value(); });
    EXPECT_EQ(other, asio::error::operation_aborted);
}

TYPED_TEST(every_bus, AfterCancelTheBusIsOfUse) {
    auto bus = this->make_bus();
    std::optional<error_code> result;
    bus.async_write(0x100, 1, [&](const error_code& ec) { result = ec; });
    bus.cancel();
    this->run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, asio::error::operation_aborted);
    EXPECT_FALSE(this->write(bus, 0x104, 2)) << bus.last_error().message();
}

TYPED_TEST(every_bus, DestructionEndsWhatIsOutstanding) {
    std::optional bus(this->make_bus());
    this->server->close();
    std::optional<error_code> result;
    bus->async_read(0x100, [&](const error_code& ec, std::uint32_t) { result = ec; });
    this->context.poll();
    bus.reset();
    this->run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, asio::error::operation_aborted);
    this->context.run();
}

TYPED_TEST(every_bus, AContextMayBeDestroyedWithOperationsInFlight) {
    auto called = std::make_shared<bool>(false);
    {
        asio::io_context other;
        typename TypeParam::bus_type bus(other, this->server->local_endpoint(),
                                         TypeParam::config(this->patience));
        bus.async_read(0x100, [called](const error_code&, std::uint32_t) { *called = true; });
        other.poll();
    }
    EXPECT_FALSE(*called);
    EXPECT_EQ(called.use_count(), 1) << "the handler was destroyed";
}

TYPED_TEST(every_bus, CloseEndsOperationsAndTheBus) {
    auto bus = this->make_bus();
    EXPECT_FALSE(this->write(bus, 0x100, 1));
    bus.close();
    EXPECT_EQ(this->write(bus, 0x100, 2), errc::stopped);
    EXPECT_THAT(bus.last_error().message(), HasSubstr("closed"));
    this->server->close();
    this->context.run(); // ends: nothing is waited for any more
    EXPECT_EQ(this->registers.values.at(0x100), 1U);
}

TYPED_TEST(every_bus, MovesWithWhatIsOutstanding) {
    auto bus = this->make_bus();
    std::optional<error_code> result;
    bus.async_write(0x100, 1, [&](const error_code& ec) { result = ec; });
    auto taken = std::move(bus);
    this->run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, error_code());
    auto other = this->make_bus();
    taken = std::move(other);
    EXPECT_FALSE(this->write(taken, 0x104, 1)) << taken.last_error().message();
}

TYPED_TEST(every_bus, NeverCompletesInsideTheInitiatingFunction) {
    auto bus = this->make_bus();
    bool called = false;
    bus.async_read(0x101, [&](const error_code&, std::uint32_t) { called = true; });
    EXPECT_FALSE(called);
    this->run_until([&] { return called; });
}

template <class Bus>
asio::awaitable<std::uint32_t> write_and_read(Bus& bus) {
    co_await bus.async_write(0x100, 7);
    const auto value = co_await bus.async_read(0x100);
    co_return value;
}

TYPED_TEST(every_bus, IsAwaitedInACoroutineByDefault) {
    auto bus = this->make_bus();
    std::uint32_t got = 0;
    bool done = false;
    asio::co_spawn(this->context, write_and_read(bus), [&](const std::exception_ptr& e, std::uint32_t value) {
        done = true;
        got = e ? 0 : value;
    });
    this->run_until([&] { return done; });
    EXPECT_EQ(got, 7U);
}

TYPED_TEST(every_bus, ServesProgramsWithoutItsType) {
    any_register_bus bus(this->make_bus());
    udp_engine_target target;
    target.host = asio::ip::make_address_v4("192.168.2.1");
    const auto program = std::make_shared<udp_engine_program>(target);
    EXPECT_FALSE(this->wait([&](auto h) { async_run(bus, program, h); })) << program->result().message();
    EXPECT_EQ(this->registers.values.at(0x0011'0000), 0xB712U);
    EXPECT_EQ(this->registers.values.at(0x0011'0004), 0x0102'A8C0U);
}

TYPED_TEST(every_bus, TheServersPortIsToBeHadOnlyOnce) {
    try {
        typename TypeParam::server_type second(this->context.get_executor(), this->server->local_endpoint(),
                                               this->registers);
        FAIL() << "two servers at one port";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::address_in_use) << e.what();
        EXPECT_THAT(e.what(), HasSubstr(TypeParam::address));
    }
}

TYPED_TEST(every_bus, APortOfZeroIsRefused) {
    try {
        typename TypeParam::bus_type bus(this->context, this->any_port());
        FAIL() << "a bus to port 0";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
    }
}

} // namespace
} // namespace rocio::fpga
