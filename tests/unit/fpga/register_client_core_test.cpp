#include "bus_bytes.hpp"
#include "fpga/register_client_core.hpp"
#include "fpga/srp_protocol.hpp"

#include <rocio/fpga/register_client.hpp>
#include <rocio/fpga/srp.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace rocio::fpga {
namespace {

using test::byte_string;
using test::words_of;
using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// A board as a test wants it: what is sent is kept, what it says is said by hand.
struct script {
    std::vector<byte_string> sent{};
    std::vector<std::uint32_t> withdrawn{};
    int begins = 0, rests = 0;
    bool closed = false;
    bool sends_at_once = true;
    error_info silence{};
    detail::message_transport::user* user = nullptr;

    std::uint32_t id_of(std::size_t i) const { return parse_srp_request(sent.at(i))->request.id; }
    void reply(std::size_t i, const byte_string& data, std::uint32_t status = 0) const {
        user->on_message(encode_srp_reply(sent.at(i), data, status));
    }
};

class scripted_transport final : public detail::message_transport {
  public:
    explicit scripted_transport(script& s) : script_(s) {}
    void begin(const std::shared_ptr<void>&) override {
        ++script_.begins;
        script_.user = &its_user();
    }
    void rest() override { ++script_.rests; }
    void send(std::uint32_t id, std::span<const std::byte> m) override {
        script_.sent.emplace_back(m.begin(), m.end());
        if (script_.sends_at_once) its_user().on_sent(id);
    }
    void withdraw(std::uint32_t id) override { script_.withdrawn.push_back(id); }
    void close() override { script_.closed = true; }
    std::string peer() const override { return "the script"; }
    error_info silence() const override { return script_.silence; }

  private:
    script& script_;
};

class scripted_bus : public basic_register_client<> {
  public:
    scripted_bus(asio::io_context& context, script& s, std::chrono::milliseconds deadline, unsigned tries)
        : scripted_bus(context, s, asio::make_strand(asio::any_io_executor(context.get_executor())), deadline,
                       tries) {}

  private:
    scripted_bus(asio::io_context& context, script& s, const async::control_strand& strand,
                 std::chrono::milliseconds deadline, unsigned tries)
        : basic_register_client<>(context.get_executor(),
                                  std::make_shared<detail::register_client_core>(
                                      strand, std::make_unique<detail::srp_protocol>(srp_config{}),
                                      std::make_unique<scripted_transport>(s),
                                      detail::register_client_core::limits{deadline, tries})) {}
};

class register_client_core : public ::testing::Test {
  protected:
    asio::io_context context;
    script board;
    std::optional<scripted_bus> bus{std::in_place, context, board, 30s, 1U};

    void quick(unsigned tries) { bus.emplace(context, board, 20ms, tries); }
    /// What is ready now.
    void poll() {
        context.restart();
        context.poll();
    }
    void run() {
        context.restart();
        context.run_for(30s);
    }

    struct outcome {
        std::optional<error_code> ec{};
        std::uint32_t value = 0;
    };
    void read(std::uint64_t address, outcome& o) {
        bus->async_read(address, [&o](const error_code& ec, std::uint32_t v) {
            o.ec = ec;
            o.value = v;
        });
        poll();
    }
    void write(std::uint64_t address, std::uint32_t value, outcome& o) {
        bus->async_write(address, value, [&o](const error_code& ec) { o.ec = ec; });
        poll();
    }
};

TEST_F(register_client_core, AnswersOutOfOrderFindTheirTransactions) {
    outcome first, second, third;
    read(0x100, first);
    read(0x104, second);
    write(0x108, 5, third);
    ASSERT_EQ(board.sent.size(), 3U);
    board.reply(2, words_of({5}));
    board.reply(1, words_of({22}));
    board.reply(0, words_of({11}));
    poll();
    EXPECT_EQ(first.value, 11U);
    EXPECT_EQ(second.value, 22U);
    EXPECT_EQ(third.ec, error_code());
    EXPECT_EQ(bus->client_snapshot().requests, 3U);
    EXPECT_EQ(bus->client_snapshot().ignored, 0U);
}

TEST_F(register_client_core, EachTransactionHasItsOwnNumber) {
    std::vector<outcome> outcomes(50);
    for (auto& o : outcomes) read(0x100, o);
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < board.sent.size(); ++i) ids.push_back(board.id_of(i));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
    bus->cancel();
    poll();
}

TEST_F(register_client_core, LateForeignAndDoubleAnswersAreCountedAndDoNoHarm) {
    outcome first, second;
    read(0x100, first);
    board.reply(0, words_of({1}));
    board.reply(0, words_of({2})); // again, before the first one was looked at
    poll();
    EXPECT_EQ(first.value, 1U);
    board.reply(0, words_of({3})); // late
    read(0x104, second);
    auto foreign = board.sent[1];
    foreign[4] ^= std::byte{0x80}; // another transaction's number
    board.user->on_message(encode_srp_reply(foreign, words_of({4}), 0));
    board.user->on_message(test::pattern(7));
    board.user->on_message({});
    auto elsewhere = board.sent[1];
    elsewhere[8] ^= std::byte{0x04}; // our number, another address
    board.user->on_message(encode_srp_reply(elsewhere, words_of({5}), 0));
    board.reply(1, words_of({6, 7})); // too long
    poll();
    EXPECT_FALSE(second.ec);
    board.reply(1, words_of({8}));
    poll();
    EXPECT_EQ(second.value, 8U);
    EXPECT_EQ(bus->client_snapshot().ignored, 7U);
}

TEST_F(register_client_core, WhatIsNotAnsweredIsSentAgainWithTheSameNumber) {
    quick(3);
    outcome o;
    read(0x100, o);
    run();
    ASSERT_EQ(board.sent.size(), 3U);
    EXPECT_EQ(board.sent[1], board.sent[0]);
    EXPECT_EQ(board.sent[2], board.sent[0]);
    EXPECT_EQ(o.ec, bus_errc::no_answer);
    EXPECT_EQ(o.value, 0U);
    EXPECT_EQ(bus->client_snapshot().retries, 2U);
    EXPECT_EQ(bus->client_snapshot().failures, 1U);
    EXPECT_THAT(bus->last_error().text,
                AllOf(HasSubstr("read of 0x100 (4 bytes) from the script"), HasSubstr("3 tries of 20 ms"),
                      HasSubstr("check address, port")));
}

TEST_F(register_client_core, WhatTheTransportKnowsOfTheSilenceIsSaid) {
    quick(1);
    board.silence = {bus_errc::not_connected, "no connection, 4 SYNs were not answered"};
    outcome o;
    write(0x100, 1, o);
    run();
    EXPECT_EQ(o.ec, bus_errc::not_connected);
    EXPECT_EQ(bus->last_error().text,
              "write of 0x100 (4 bytes) to the script: no connection, 4 SYNs were not answered");
}

TEST_F(register_client_core, ARefusalIsAnErrorWithTheBoardsStatus) {
    outcome o;
    read(0x100, o);
    board.reply(0, words_of({0}), 0x103);
    poll();
    EXPECT_EQ(o.ec, srp_error(0x103));
    EXPECT_EQ(bus->client_snapshot().refusals, 1U);
    EXPECT_THAT(bus->last_error().text, HasSubstr("timed out"));
}

TEST_F(register_client_core, ALostConnectionEndsAllThatIsInFlight) {
    outcome first, second, third;
    read(0x100, first);
    write(0x104, 1, second);
    board.user->on_failure({bus_errc::connection_lost, "gone"});
    poll();
    EXPECT_EQ(first.ec, bus_errc::connection_lost);
    EXPECT_EQ(second.ec, bus_errc::connection_lost);
    read(0x100, third);
    board.reply(2, words_of({9}));
    poll();
    EXPECT_EQ(third.value, 9U) << "the bus is of use afterwards";
}

TEST_F(register_client_core, APostIsDoneWhenItIsSentAndIsNoAnswersBusiness) {
    board.sends_at_once = false;
    std::optional<error_code> posted;
    bus->async_post(0x100, 7, [&](const error_code& ec) { posted = ec; });
    poll();
    ASSERT_EQ(board.sent.size(), 1U);
    EXPECT_EQ(board.sent[0], words_of({0x0A000203, board.id_of(0), 0x100, 0, 3, 7}));
    EXPECT_FALSE(posted);
    board.reply(0, words_of({7}));
    poll();
    EXPECT_FALSE(posted);
    board.user->on_sent(board.id_of(0));
    poll();
    EXPECT_EQ(posted, error_code());
}

TEST_F(register_client_core, CancellationIsPerOperation) {
    asio::cancellation_signal signal;
    std::optional<error_code> cancelled;
    outcome other;
    bus->async_write(
        0x100, 1, asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { cancelled = ec; }));
    read(0x104, other);
    signal.emit(asio::cancellation_type::partial);
    poll();
    EXPECT_FALSE(cancelled) << "what was sent cannot be taken back in part";
    signal.emit(asio::cancellation_type::terminal);
    poll();
    EXPECT_EQ(cancelled, asio::error::operation_aborted);
    EXPECT_FALSE(other.ec);
    board.reply(0, words_of({1}));
    board.reply(1, words_of({2}));
    poll();
    EXPECT_EQ(other.value, 2U);
    EXPECT_EQ(bus->client_snapshot().ignored, 1U) << "the cancelled one's answer";
}

TEST_F(register_client_core, AnOperationThatIsOverIsWithdrawnAndTheLastOneLetsTheTransportRest) {
    outcome first, second;
    read(0x100, first);
    read(0x104, second);
    board.reply(0, words_of({1}));
    poll();
    EXPECT_THAT(board.withdrawn, testing::ElementsAre(board.id_of(0)));
    EXPECT_EQ(board.rests, 0);
    board.reply(1, words_of({1}));
    poll();
    EXPECT_EQ(board.rests, 1);
}

TEST_F(register_client_core, CloseEndsOperationsAndRefusesLaterOnes) {
    outcome before, after;
    read(0x100, before);
    bus->close();
    poll();
    EXPECT_EQ(before.ec, asio::error::operation_aborted);
    EXPECT_TRUE(board.closed);
    read(0x100, after);
    EXPECT_EQ(after.ec, errc::stopped);
    EXPECT_EQ(board.sent.size(), 1U);
}

TEST_F(register_client_core, DestructionClosesTheTransport) {
    outcome o;
    read(0x100, o);
    bus.reset();
    poll();
    EXPECT_EQ(o.ec, asio::error::operation_aborted);
    EXPECT_TRUE(board.closed);
}

TEST_F(register_client_core, AReadBlockFillsItsWordsOnlyOnSuccess) {
    std::vector<std::uint32_t> words(3, 77);
    std::optional<error_code> result;
    bus->async_read_block(0x100, words, [&](const error_code& ec) { result = ec; });
    poll();
    board.reply(0, words_of({1, 2}));
    poll();
    EXPECT_FALSE(result);
    EXPECT_THAT(words, testing::Each(77U));
    board.reply(0, words_of({1, 2, 3}));
    poll();
    EXPECT_EQ(result, error_code());
    EXPECT_THAT(words, testing::ElementsAre(1, 2, 3));
}

} // namespace
} // namespace rocio::fpga
