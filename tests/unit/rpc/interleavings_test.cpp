// A client and a ring_dispatcher over a wire that loses, repeats and reorders, driven step by step by a
// seeded schedule. Whatever happens, a call ends once, with its own result or with an error that can be.

#include "client_fixture.hpp"

#include <rocio/rpc/ring_dispatcher.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <deque>
#include <list>
#include <random>
#include <sstream>
#include <string>

namespace rocio::rpc {
namespace {

using namespace std::chrono_literals;
using test::fake_slot_ring;

/// Different for every pair of arguments a schedule uses.
std::int64_t mix(std::int64_t a, std::int64_t b) {
    return a * 1'000'003 + b;
}

struct wire_faults {
    unsigned loss = 0;        ///< Per cent.
    unsigned duplication = 0; ///< Per cent.
    bool reorders = false;
};

/// One direction of the wire. A message goes into the slot of its number, as a WRITE with immediate does.
class faulty_wire {
  public:
    faulty_wire(std::mt19937& random, const wire_faults& faults) : random_(random), faults_(faults) {}

    void take(fake_slot_ring& from) {
        for (auto& m : from.sent) {
            if (random_() % 100 < faults_.loss) continue;
            if (random_() % 100 < faults_.duplication) under_way_.push_back(m);
            under_way_.push_back(std::move(m));
        }
        from.sent.clear();
    }
    /// Brings one message over; one for a slot that is held is lost. False if there is none.
    bool deliver(fake_slot_ring& to) {
        if (under_way_.empty()) return false;
        const auto at = faults_.reorders ? random_() % under_way_.size() : 0;
        const auto m = under_way_[at];
        under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!to.is_filled(m.slot)) to.receive(m.slot, m.bytes);
        return true;
    }

  private:
    std::mt19937& random_;
    wire_faults faults_;
    std::deque<fake_slot_ring::message> under_way_;
};

struct running_call {
    std::int64_t a = 0, b = 0;
    int ends = 0;
    error_code ec;
    std::int64_t result = 0;
    asio::cancellation_signal signal;
};

class schedule {
  public:
    schedule(std::uint32_t seed, const wire_faults& faults, asio::io_context& context)
        : random_(seed),
          context_(context),
          slots_(1 + random_() % 8),
          near_(slots_, 64),
          far_(slots_, 64, random_() % 2 ? fake_slot_ring::memory::shared : fake_slot_ring::memory::separate),
          out_(random_, faults),
          back_(random_, faults),
          caller_(context, near_, configured()),
          server_(far_, functions()) {}

    void run(std::size_t calls) {
        while (calls_.size() < calls) step();
        for (int i = 0; i < 200; ++i) step();
        caller_.cancel();
        poll();
    }

    /// What broke, or "".
    std::string defect() const {
        for (const auto& call : calls_) {
            std::ostringstream text;
            text << "mix(" << call.a << ", " << call.b << ") ";
            if (call.ends != 1)
                text << "ended " << call.ends << " times";
            else if (!call.ec && call.result != mix(call.a, call.b))
                text << "gave " << call.result;
            else if (call.ec && !allowed(call.ec))
                text << "failed: " << call.ec.message();
            else
                continue;
            return text.str();
        }
        const auto s = caller_.snapshot();
        if (s.in_flight + s.waiting > 0) return "calls are left";
        if (s.calls != s.succeeded + s.cancelled + s.deadline_exceeded) return "the counters do not add up";
        if (s.foreign_answers + s.not_answers + s.bad_responses > 0) return "an answer was not recognised";
        return {};
    }
    client_snapshot snapshot() const { return caller_.snapshot(); }

  private:
    static bool allowed(const error_code& ec) {
        return ec == asio::error::operation_aborted || ec == errc::deadline_exceeded;
    }
    client_config configured() {
        client_config config;
        config.order = random_() % 2 ? slot_order::sequential : slot_order::any_free;
        config.strict_timestamp = random_() % 2 != 0;
        // Near the wrap of the half that travels as request id.
        config.first_id = random_() % 2 ? 0xFFFFFFF0 + random_() % 16 : random_();
        return config;
    }
    function_table functions() {
        function_table table;
        table.add<add_signature>("here", mix).add<add_signature>("there", mix, {elsewhere_.get_executor()});
        return table;
    }

    void step() {
        switch (random_() % 8) {
        case 0:
        case 1:
            return start_call();
        case 2:
            return cancel_one();
        case 3:
            out_.take(near_);
            out_.deliver(far_);
            break;
        case 4:
            server_.poll();
            break;
        case 5:
            elsewhere_.restart();
            elsewhere_.poll_one();
            break;
        case 6:
            back_.take(far_);
            back_.deliver(near_);
            break;
        case 7:
            caller_.poll();
            break;
        }
        poll();
    }
    void poll() {
        context_.restart();
        context_.poll();
    }
    void start_call() {
        auto& call = calls_.emplace_back();
        call.a = static_cast<std::int64_t>(calls_.size());
        call.b = static_cast<std::int64_t>(random_() % 1000);
        const auto limit = random_() % 10 == 0 ? call_options(1us) : call_options(no_deadline);
        const char* name = random_() % 2 ? "here" : "there";
        caller_.async_call<add_signature>(
            name, call.a, call.b, limit,
            asio::bind_cancellation_slot(call.signal.slot(), [&call](error_code ec, std::int64_t r) {
                ++call.ends;
                call.ec = ec;
                call.result = r;
            }));
    }
    void cancel_one() {
        if (calls_.empty()) return;
        const auto behind = random_() % std::min<std::size_t>(calls_.size(), 2 * slots_);
        std::prev(calls_.end(), static_cast<std::ptrdiff_t>(behind) + 1)
            ->signal.emit(asio::cancellation_type::total);
        poll();
    }

    std::mt19937 random_;
    asio::io_context& context_;
    asio::io_context elsewhere_;
    std::uint32_t slots_;
    fake_slot_ring near_, far_;
    faulty_wire out_, back_;
    std::list<running_call> calls_; // before the client, whose handlers write into it
    client<fake_slot_ring> caller_;
    ring_dispatcher<fake_slot_ring> server_;
};

#if defined(ROCIO_SANITIZED)
constexpr std::uint32_t schedules = 2'000;
#else
constexpr std::uint32_t schedules = 10'000;
#endif

class interleavings_test : public ::testing::TestWithParam<wire_faults> {};

TEST_P(interleavings_test, give_no_call_anothers_answer) {
    asio::io_context context;
    client_snapshot sum;
    for (std::uint32_t seed = 0; seed < schedules / 4; ++seed) {
        schedule s(seed, GetParam(), context);
        s.run(20);
        ASSERT_EQ(s.defect(), "") << "seed " << seed;
        const auto one = s.snapshot();
        sum.succeeded += one.succeeded;
        sum.cancelled += one.cancelled;
        sum.deadline_exceeded += one.deadline_exceeded;
        sum.late_answers += one.late_answers;
        sum.duplicate_answers += one.duplicate_answers;
    }
    // The schedules went where they were meant to go.
    EXPECT_GT(sum.succeeded, schedules);
    EXPECT_GT(sum.cancelled, schedules / 4);
    EXPECT_GT(sum.deadline_exceeded, schedules / 10);
    EXPECT_GT(sum.late_answers, schedules / 100);
    EXPECT_EQ(sum.duplicate_answers > 0, GetParam().duplication > 0);
}

INSTANTIATE_TEST_SUITE_P(wires, interleavings_test,
                         ::testing::Values(wire_faults{}, wire_faults{.loss = 20},
                                           wire_faults{.duplication = 20, .reorders = true},
                                           wire_faults{.loss = 10, .duplication = 10, .reorders = true}),
                         [](const auto& param) { return "wire" + std::to_string(param.index); });

} // namespace
} // namespace rocio::rpc
