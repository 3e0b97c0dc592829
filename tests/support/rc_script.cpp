#include "rc_script.hpp"

#include "model_peer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace rocio::test {

// ---- Writing

rc_script& rc_script::add(step s) {
    steps_.push_back(std::move(s));
    return *this;
}

rc_script& rc_script::posts_send(std::uint32_t n, std::size_t length) {
    return posts_send(n, length, [](send_request&) {});
}

rc_script& rc_script::posts_send(std::uint32_t n, std::size_t length,
                                 std::function<void(send_request&)> change) {
    return add({action{[=](rc_endpoint& e) {
                           send_request r = e.make_send(n, length);
                           change(r);
                           EXPECT_EQ(e.post(r).accepted, 1U) << "send " << n;
                       },
                       true}});
}

rc_script& rc_script::posts_rdma(opcode op, std::uint32_t n, std::size_t length, std::uint64_t address,
                                 std::function<void(send_request&)> change) {
    return add({action{[=](rc_endpoint& e) {
                           send_request r = e.make_rdma(op, n, length, address, peer_key);
                           change(r);
                           EXPECT_EQ(e.post(r).accepted, 1U) << "RDMA " << n;
                       },
                       true}});
}

rc_script& rc_script::posts_receive(std::uint32_t n, std::size_t size) {
    return add({action{[=](rc_endpoint& e) { EXPECT_EQ(e.receive(n, size).accepted, 1U) << "receive " << n; },
                       true}});
}

rc_script& rc_script::receives(const test_packet& p) {
    return add({packet_in{p}});
}
rc_script& rc_script::sends(const test_packet& p) {
    return add({packet_out{p}});
}
rc_script& rc_script::completes(const expected_completion& c) {
    return add({completion{c}});
}

rc_script& rc_script::sends_nothing() {
    return does([](rc_endpoint& e) {
        EXPECT_FALSE(e.qp().wants_to_send(e.now()));
        const auto p = e.take_packet();
        EXPECT_FALSE(p.has_value()) << "sends " << p->text();
    });
}

rc_script& rc_script::completes_nothing() {
    return does([](rc_endpoint& e) { EXPECT_FALSE(e.qp().has_completions()); });
}

rc_script& rc_script::waits(std::chrono::nanoseconds d) {
    return does([=](rc_endpoint& e) { e.wait(d); });
}

rc_script& rc_script::waits_for_deadline() {
    return does([](rc_endpoint& e) { EXPECT_TRUE(e.wait_for_deadline()) << "no deadline"; });
}

rc_script& rc_script::has_no_deadline() {
    return does([](rc_endpoint& e) { EXPECT_EQ(e.qp().next_deadline(), transport::never); });
}

rc_script& rc_script::is_in(transport::queue_pair_state s) {
    return does([=](rc_endpoint& e) { EXPECT_EQ(e.qp().state(), s); });
}

rc_script& rc_script::does(std::function<void(rc_endpoint&)> run) {
    return add({action{std::move(run), false}});
}

rc_script& rc_script::with_dead_peer() {
    dead_peer_ = true;
    return *this;
}

expected_completion sent(std::uint32_t id) {
    expected_completion c;
    c.id = id;
    return c;
}

expected_completion received(std::uint32_t id, std::uint32_t message, std::uint32_t length) {
    expected_completion c = sent(id);
    c.of_receive = true;
    c.op = completion_opcode::receive;
    c.message = message;
    c.length = length;
    return c;
}

expected_completion wrote(std::uint32_t id) {
    expected_completion c = sent(id);
    c.op = completion_opcode::rdma_write;
    return c;
}

expected_completion has_read(std::uint32_t id, std::uint64_t address, std::uint32_t length) {
    expected_completion c = sent(id);
    c.op = completion_opcode::rdma_read;
    c.address = address;
    c.length = length;
    return c;
}

expected_completion was_written(std::uint32_t id, std::uint32_t message, std::uint32_t length,
                                std::uint64_t address, std::uint32_t immediate) {
    expected_completion c = received(id, message, length).with_immediate(immediate);
    c.op = completion_opcode::receive_rdma_write_with_immediate;
    c.address = address;
    return c;
}

expected_completion failed(std::uint32_t id, errc status) {
    expected_completion c = sent(id);
    c.status = status;
    return c;
}

expected_completion failed_by_peer(std::uint32_t id, errc status) {
    expected_completion c = failed(id, status);
    c.may_time_out = true;
    return c;
}

rc_script rnr_waiting_qp(const rc_endpoint_options& options) {
    rc_script s(options);
    s.posts_send(1, 10).sends(send_only(0).carrying(1, 0, 10).asking()).receives(rnr_nak(0, 14, 0));
    return s;
}

// ---- Playing

struct rc_script::player {
    player(const rc_script& s, const rc_endpoint_options& options)
        : script(s), subject(rts_endpoint(options)), peer(bytes(options.path_mtu)) {
        if (script.dead_peer_) peer.is_dead();
        for (const step& one : script.steps_)
            if (const auto* in = std::get_if<packet_in>(&one.what)) peer.will_say(in->packet);
    }

    // Strictly as written.
    void play(const packet_in& s) {
        peer.said(s.packet, true);
        subject->deliver(s.packet);
    }
    void play(const packet_out& s) {
        const auto p = subject->take_packet();
        ASSERT_TRUE(p.has_value()) << "sends nothing instead of " << s.packet.text();
        EXPECT_EQ(p->text(), s.packet.text());
        peer.saw(*p);
    }
    void play(const completion& s) {
        const auto c = subject->poll();
        ASSERT_TRUE(c.has_value()) << "no completion of work request " << s.expected.id;
        check(*c, s.expected);
        ++completions;
    }
    void play(const action& s) { s.run(*subject); }

    void check(const work_completion& c, const expected_completion& expected) {
        SCOPED_TRACE("completion of work request " + std::to_string(expected.id));
        EXPECT_EQ(c.id, wr(expected.id));
        EXPECT_EQ(c.queue_pair, our_number);
        sends_done +=
            c.status == errc::success && !expected.of_receive && expected.op != completion_opcode::rdma_read;
        const bool told_by_time = expected.may_time_out && c.status == errc::retry_exceeded;
        EXPECT_EQ(error_code(c.status), error_code(told_by_time ? errc::retry_exceeded : expected.status));
        if (expected.status != errc::success) {
            EXPECT_EQ(c.byte_len, 0U);
            EXPECT_FALSE(c.has_immediate);
            return;
        }
        EXPECT_EQ(c.op, expected.op);
        EXPECT_EQ(c.byte_len, expected.length);
        EXPECT_EQ(c.has_immediate, expected.has_immediate);
        EXPECT_EQ(c.immediate, expected.immediate);
        check_bytes(expected);
    }

    void check_bytes(const expected_completion& expected) {
        const auto holds = [&](std::span<const std::byte> bytes, std::uint32_t message, std::size_t from) {
            const auto wanted = message_bytes(message, from, expected.length);
            EXPECT_TRUE(std::ranges::equal(bytes.first(expected.length), wanted));
        };
        switch (expected.op) {
        case completion_opcode::receive:
            return holds(subject->received(expected.id), expected.message, 0);
        case completion_opcode::rdma_read:
            return holds(subject->sent(expected.id), model_peer::memory_seed, expected.address);
        case completion_opcode::receive_rdma_write_with_immediate:
            for (const std::byte b : subject->received(expected.id)) EXPECT_EQ(b, std::byte{0});
            return holds(subject->remote_at(expected.address, expected.length), expected.message, 0);
        default:
            return;
        }
    }

    void play_all() {
        for (const step& s : script.steps_) std::visit([this](const auto& one) { play(one); }, s.what);
        const auto more = subject->take_packet();
        EXPECT_FALSE(more.has_value()) << "also sends " << more->text();
        EXPECT_FALSE(subject->poll().has_value()) << "more completions than written";
        check_messages_at_peer();
    }

    void play_losing(std::size_t lost) {
        for (std::size_t i = 0; i < lost; ++i)
            std::visit([this](const auto& one) { play(one); }, script.steps_[i].what);
        lose(script.steps_[lost]);
        for (std::size_t i = lost + 1; i < script.steps_.size(); ++i) keep_story(script.steps_[i]);
        converge();
        check_remaining_completions();
        check_messages_at_peer();
    }

    void lose(const step& s) {
        if (const auto* in = std::get_if<packet_in>(&s.what)) peer.said(in->packet, false);
        if (std::holds_alternative<packet_out>(s.what)) subject->take_packet();
    }

    void keep_story(const step& s) {
        if (const auto* a = std::get_if<action>(&s.what); a != nullptr && a->posts) a->run(*subject);
        if (const auto* in = std::get_if<packet_in>(&s.what); in != nullptr && !in->packet.is_answer())
            peer.will_request(in->packet);
    }

    /// Packets go back and forth; when none does, time passes for both.
    void converge() {
        for (int round = 0; round < 1000; ++round) {
            bool moved = false;
            for (const test_packet& p : subject->take_packets()) {
                moved = true;
                for (const test_packet& a : peer.answer_to(p)) subject->deliver(a);
            }
            if (moved) continue;
            const auto again = peer.repeat();
            for (const test_packet& p : again) subject->deliver(p);
            if (again.empty() && !subject->wait_for_deadline() && !peer.has_requests()) return;
        }
        ADD_FAILURE() << "the connection does not come to rest";
    }

    /// In the order of each queue; sends and receives may have come to pass in another order among each
    /// other.
    void check_remaining_completions() {
        auto left = subject->poll_all();
        std::size_t index = 0;
        for (const step& s : script.steps_) {
            const auto* c = std::get_if<completion>(&s.what);
            if (c == nullptr || index++ < completions) continue;
            const auto same_queue = [&](const work_completion& w) {
                const bool of_receive = w.op == completion_opcode::receive ||
                                        w.op == completion_opcode::receive_rdma_write_with_immediate;
                return w.status != errc::success || of_receive == c->expected.of_receive;
            };
            const auto match = std::find_if(left.begin(), left.end(), same_queue);
            ASSERT_NE(match, left.end()) << "no completion of work request " << c->expected.id;
            check(*match, c->expected);
            left.erase(match);
        }
        EXPECT_TRUE(left.empty()) << "more completions than written";
    }

    /// Messages are numbered by the order of their sends, which scripts post as 1, 2, 3 …
    void check_messages_at_peer() {
        const auto messages = peer.messages();
        for (std::uint32_t n = 1; n <= messages.size(); ++n) {
            const auto& message = messages[n - 1];
            EXPECT_EQ(first_difference(message, n), message.size()) << "message " << n << " at the peer";
        }
        EXPECT_GE(messages.size(), sends_done) << "a send completed that the peer did not get";
    }

    const rc_script& script;
    std::unique_ptr<rc_endpoint> subject;
    model_peer peer;
    std::size_t completions = 0;
    std::size_t sends_done = 0;
};

void play(const rc_script& script) {
    rc_endpoint_options across_the_wrap = script.options_;
    across_the_wrap.send_from = psn{0xFFFFFF};
    across_the_wrap.receive_from = psn{0xFFFFFE};
    for (const rc_endpoint_options& options : {script.options_, across_the_wrap}) {
        SCOPED_TRACE("first PSN " + std::to_string(options.send_from.value()));
        {
            SCOPED_TRACE("as written");
            rc_script::player(script, options).play_all();
        }
        if (testing::Test::HasFailure()) return;
        for (std::size_t i = 0; i < script.steps_.size(); ++i) {
            if (!script.steps_[i].is_packet()) continue;
            SCOPED_TRACE("losing step " + std::to_string(i));
            rc_script::player(script, options).play_losing(i);
        }
    }
}

} // namespace rocio::test
