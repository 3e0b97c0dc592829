// A ring: messages come into numbered slots and leave from numbered slots, as quantum controllers send them.
// One side writes into the other's slots and gets an answer for each. Two devices in one program.
//
// usage: 05_ring [RESPONDER_DEVICE REQUESTER_DEVICE]

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/ring/ring_transceiver.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstring>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

constexpr std::uint32_t messages = 20; // over 8 slots: two laps and a half

rocio::ring_config ring_on(const char* device, rocio::ring_tx_mode mode) {
    rocio::ring_config c;
    c.device = rocio::open_device(device);
    c.slots = 8;
    c.slot_size = c.frame_size = 64;
    c.tx_mode = mode;
    return c;
}

std::uint32_t number_in(std::span<const std::byte> slot) {
    std::uint32_t n = 0;
    std::memcpy(&n, slot.data(), sizeof n);
    return n;
}

void send(rocio::ring_transceiver& ring, std::uint32_t slot, std::uint32_t number) {
    std::memcpy(ring.tx_slot(slot).data(), &number, sizeof number);
    rocio::throw_if({ring.publish(slot, sizeof number), {}});
}

/// Answers every number with its square, from the slot of the same number.
asio::awaitable<void> responder(asio::io_context& context, const char* device,
                                rocio::tcp_listener& listener) {
    rocio::ring_transceiver ring(context, ring_on(device, rocio::ring_tx_mode::send));
    auto peer = co_await listener.async_accept(use_awaitable);
    co_await ring.async_connect(std::move(peer), use_awaitable);
    for (std::uint32_t i = 0; i < messages; ++i) {
        const rocio::ring_slot slot =
            co_await ring.async_receive(use_awaitable); // free again at the end of the turn
        while (!ring.tx_free(slot.index())) {
            co_await ring.async_wait(use_awaitable);
        }
        const auto n = number_in(slot.bytes());
        send(ring, slot.index(), n * n);
    }
    // The last answer is on its way when its slot is free.
    while (!ring.tx_free((messages - 1) % 8)) {
        co_await ring.async_wait(use_awaitable);
    }
    std::cout << "responder: " << ring.snapshot().received << " messages\n";
}

asio::awaitable<void> requester(asio::io_context& context, const char* device,
                                asio::ip::tcp::endpoint where) {
    rocio::ring_transceiver ring(context, ring_on(device, rocio::ring_tx_mode::write_with_immediate));
    co_await ring.async_connect(rocio::tcp_connector(context, where), use_awaitable);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < messages; ++i) {
        send(ring, i % 8, i);
        const rocio::ring_slot answer = co_await ring.async_receive(use_awaitable);
        sum += number_in(answer.bytes());
    }
    std::cout << "requester: the squares of 0 to " << messages - 1 << " make " << sum << "\n";
}

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main(int argc, char** argv) {
    try {
        asio::io_context context;
        rocio::tcp_listener listener(context);
        const bool given = argc > 2;
        asio::co_spawn(context, responder(context, given ? argv[1] : "soft:127.0.5.1", listener), rethrow);
        asio::co_spawn(context,
                       requester(context, given ? argv[2] : "soft:127.0.5.2", listener.local_endpoint()),
                       rethrow);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "05_ring: " << e.what() << "\n";
        return 1;
    }
}
