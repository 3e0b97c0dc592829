#pragma once

#include "fake_slot_ring.hpp"
#include "rpc_messages.hpp"

#include <rocio/rpc/client.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace rocio::rpc {

using add_signature = std::int64_t(std::int64_t, std::int64_t);

/// What a call ended with; `times` counts its completions. Its handler may outlive it.
template <class R>
class ended {
    struct state {
        int times = 0;
        error_code ec;
        R result{};
    };

  public:
    const state* operator->() const noexcept { return state_.get(); }

    auto handler() {
        return [s = state_](error_code code, R r) {
            ++s->times;
            s->ec = code;
            s->result = std::move(r);
        };
    }

  private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// A client over a ring whose other end the test plays. Fails if work is left on the context.
class client_fixture : public ::testing::Test {
  protected:
    using ring_type = test::fake_slot_ring;
    using client_type = client<ring_type>;
    static constexpr std::chrono::seconds patience{20};
    /// A deadline that passes soon, but not before a busy machine under a sanitizer has sent the request.
    static constexpr std::chrono::milliseconds soon{200};

    asio::io_context context;
    ring_type ring{4, 64};
    client_config config{.first_id = 1};
    std::optional<client_type> caller;

    client_type& start() { return caller.emplace(context, ring, config); }

    /// Runs what is ready.
    void poll() {
        context.restart();
        context.poll();
    }
    /// Runs until nothing is left to do.
    void run() {
        context.restart();
        context.run_for(patience);
        ASSERT_TRUE(context.stopped()) << "work is left after " << patience.count() << " s";
    }

    /// Calls, and sends the request if there is a slot.
    void call(ended<std::int64_t>& end, std::int64_t a, std::int64_t b, call_options options = no_deadline) {
        caller->async_call<add_signature>("addThem", a, b, options, end.handler());
        poll();
    }

    /// What was sent, once all that is ready has run: a call from outside the context is sent by it.
    const test::byte_vector& sent(std::size_t n) {
        poll();
        return ring.sent.at(n).bytes;
    }
    const test::byte_vector& last_sent() {
        poll();
        return ring.sent.at(ring.sent.size() - 1).bytes;
    }
    std::size_t sent_count() {
        poll();
        return ring.sent.size();
    }

    /// The answer to the n-th request sent.
    test::byte_vector answer_to(std::size_t n, std::int64_t result) {
        return test::response_bytes(test::request_of(sent(n)), test::packed(result));
    }
    answer respond(std::size_t n, std::int64_t result) { return caller->on_response(answer_to(n, result)); }

    std::vector<std::uint32_t> sent_slots() {
        poll();
        std::vector<std::uint32_t> slots;
        for (const auto& m : ring.sent) slots.push_back(m.slot);
        return slots;
    }

    void TearDown() override {
        caller.reset();
        run();
    }
};

} // namespace rocio::rpc
