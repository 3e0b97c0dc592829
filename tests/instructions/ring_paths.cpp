#include "instant_device.hpp"
#include "paths.hpp"

#include <rocio/ring/ring_transceiver.hpp>

#include <array>
#include <atomic>

namespace rocio::test {

namespace user {

/// A consumer by flags: before each poll it reads the flags in order and clears those that are set.
class flag_reader {
  public:
    flag_reader(std::uint64_t* flags, std::uint32_t slots, meter& count) noexcept
        : flags_(flags), mask_(slots - 1), count_(count) {}

    static void call(void* self) { static_cast<flag_reader*>(self)->take_all(); }

  private:
    void take_all() {
        std::uint64_t n = 0;
        for (; n <= mask_; ++n, next_ = (next_ + 1) & mask_) {
            std::atomic_ref flag(flags_[next_]);
            if (flag.load(std::memory_order_acquire) == 0) break;
            flag.store(0, std::memory_order_release);
        }
        count_.take(n);
    }

    std::uint64_t* flags_;
    std::uint32_t mask_;
    std::uint32_t next_ = 0;
    meter& count_;
};

} // namespace user

namespace {

using typed_ring = basic_ring_transceiver<asio::io_context::executor_type>;
constexpr instant::receive_script writes{completion_opcode::receive_rdma_write_with_immediate, true, 64};

struct ring_end {
    explicit ring_end(ring_mode mode, std::uint32_t frame_size = 64)
        : ring(context, config_of(mode, frame_size)) {
        completion_engine::of(context).set_policy(polling_policy::spin());
        ring.connect(some_peer());
    }
    ring_config config_of(ring_mode mode, std::uint32_t frame_size) const {
        ring_config c;
        c.device = dev;
        c.mode = mode;
        c.frame_size = frame_size;
        return c;
    }

    std::shared_ptr<instant::device> dev = std::make_shared<instant::device>(writes);
    asio::io_context context;
    typed_ring ring;
};

/// A consumer that waits, polls and releases by slot number.
class slot_taker {
  public:
    slot_taker(typed_ring& ring, user::meter& count) noexcept : ring_(&ring), count_(&count) {}
    void start() { ring_->async_wait(ring_wait::received, slot_taker(*this)); }
    void operator()(error_code ec) {
        if (ec) return;
        const auto n = ring_->poll([this](std::uint32_t slot) { ring_->release(slot); });
        if (count_->take(n)) start();
    }

  private:
    typed_ring* ring_;
    user::meter* count_;
};

void receive_by_flags(user::meter& count) {
    ring_end end(ring_mode::rx_only);
    user::flag_reader reader(end.ring.rx_flags(), end.ring.slot_count(), count);
    end.dev->on_poll({&user::flag_reader::call, &reader});
    while (!count.done()) end.context.run_one();
    end.dev->on_poll({});
}

void receive_by_wait(user::meter& count) {
    ring_end end(ring_mode::rx_only);
    slot_taker(end.ring, count).start();
    while (!count.done()) end.context.run_one();
}

/// The members as somebody's program calls them, so that what of them is inline counts as the ring's.
[[gnu::noinline]] bool next_request(typed_ring& ring, std::uint32_t& slot) {
    return ring.rx_poll(slot);
}
[[gnu::noinline]] bool answer(typed_ring& ring, std::uint32_t slot) {
    return ring.tx_publish(slot);
}

} // namespace

namespace user {

static void answer_requests(typed_ring& ring, meter& count) {
    for (bool more = true; more;) {
        std::uint32_t slot = 0;
        if (!next_request(ring, slot)) continue;
        if (!answer(ring, slot)) throw exception({errc::invalid_state, "a send was refused"});
        more = count.take(1);
    }
}

} // namespace user

namespace {

void answer_small_requests(user::meter& count) {
    ring_end end(ring_mode::unified);
    user::answer_requests(end.ring, count);
}

/// More than a device copies: each answer holds its slot until it has left.
void answer_large_requests(user::meter& count) {
    ring_end end(ring_mode::unified, 384);
    user::answer_requests(end.ring, count);
}

} // namespace

std::vector<measured_path> ring_paths() {
    return {
        {"ring_flags", "ring_transceiver: flags set and seen cleared, receives re-posted on release",
         receive_by_flags},
        {"ring_wait", "ring_transceiver: async_wait(), poll(), release(), typed executor", receive_by_wait},
        {"unified_request", "rx_poll() and tx_publish() of one request, answer of 64 bytes",
         answer_small_requests},
        {"unified_request_384", "the same, answer of 384 bytes", answer_large_requests},
    };
}

} // namespace rocio::test
