#include "ring_fixture.hpp"

#include <rocio/io/completion_engine.hpp>

#include <atomic>
#include <thread>

namespace rocio::test {
namespace {

constexpr std::uint32_t slots = 256;
// A fault of the order showed once in some hundred thousand.
#ifdef ROCIO_SANITIZED
constexpr std::uint32_t messages = 50'000;
#else
constexpr std::uint32_t messages = 100'000; // some seconds beside a compiler
#endif

/// Walks through the send ring on a thread of its own, as CUDA-Q's dispatchers do: slot after slot, a number
/// in each, then its flag. Never more on their way than half of the ring holds: UC has no flow control.
class walking_producer {
  public:
    walking_producer(ring_transceiver& ring, const std::atomic<std::uint32_t>& received)
        : ring_(ring), received_(received), thread_([this] { walk(); }) {}
    ~walking_producer() {
        stop_ = true;
        thread_.join();
    }
    walking_producer(const walking_producer&) = delete;
    walking_producer& operator=(const walking_producer&) = delete;

  private:
    void walk() {
        for (std::uint32_t n = 0; n < messages; ++n) {
            const auto slot = n % slots;
            const std::atomic_ref<std::uint64_t> flag(ring_.tx_flags()[slot]);
            while (n - received_.load(std::memory_order_acquire) >= slots / 2 ||
                   flag.load(std::memory_order_acquire) != 0) {
                if (stop_.load(std::memory_order_relaxed)) return;
                std::this_thread::yield();
            }
            const auto bytes = ring_.tx_slot(slot);
            std::memcpy(bytes.data(), &n, sizeof n);
            flag.store(reinterpret_cast<std::uintptr_t>(bytes.data()), std::memory_order_release);
        }
    }

    ring_transceiver& ring_;
    const std::atomic<std::uint32_t>& received_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/// A peer that numbers SENDs by arrival has the answers in each other's slots when two change places.
TEST_F(RingSoft, SendsLeaveInTheOrderInWhichTheirFlagsWereSet) {
    completion_engine::of(context).set_policy(polling_policy::spin());
    ring_transceiver sender(context, config_on("soft:127.98.40.1", slots, 64));
    ring_transceiver receiver(context, config_on("soft:127.98.40.2", slots, 64));
    connect(sender, receiver);
    std::atomic<std::uint32_t> received{0};
    std::uint32_t out_of_order = 0;
    const walking_producer producer(sender, received);
    run_until([&] {
        (void)receiver.poll([&](std::uint32_t slot) {
            std::uint32_t number = 0;
            std::memcpy(&number, receiver.rx_slot(slot).data(), sizeof number);
            if (number != received.load(std::memory_order_relaxed)) ++out_of_order;
            receiver.release(slot);
            received.fetch_add(1, std::memory_order_release);
        });
        return received == messages || out_of_order > 0;
    });
    EXPECT_EQ(out_of_order, 0U) << "first at message " << received;
}

} // namespace
} // namespace rocio::test
