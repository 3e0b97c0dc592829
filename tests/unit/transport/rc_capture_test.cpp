#include "capture_conversation.hpp"
#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <ostream>

// The Linux kernel's own conversations (rdma_rxe), with this queue pair in the place of one of its two.

namespace rocio::test {
namespace {

struct conversation {
    const char* file;
    mtu path_mtu;
};

void PrintTo(const conversation& c, std::ostream* out) {
    *out << c.file;
}

class rc_capture : public testing::TestWithParam<conversation> {
  protected:
    rc_capture() {
        for (const seen_packet& p : packets) {
            if (p.is_answer() || requester_known) continue;
            first = p.view.bth().sequence;
            responder = p.view.bth().destination;
            requester_known = true;
        }
        for (const seen_packet& p : packets)
            if (p.is_answer()) requester = p.view.bth().destination;
    }

    void connect(qpn own, qpn peer) {
        qp = transport::make_rc_queue_pair({own}, regions);
        ASSERT_EQ(qp->to_init(memory_access::remote_write | memory_access::remote_read), errc::success);
        ASSERT_EQ(qp->to_rtr({peer, GetParam().path_mtu, first, rnr_timer(12)}), errc::success);
        transport::send_path path;
        path.first = first;
        ASSERT_EQ(qp->to_rts(path), errc::success);
    }

    std::deque<std::vector<std::byte>> take() {
        std::deque<std::vector<std::byte>> all;
        transport::packet_out out[1];
        while (qp->next_packets(out, now) == 1) {
            auto bytes = encode(out[0]);
            bytes.resize(bytes.size() - wire::icrc_size);
            all.push_back(std::move(bytes));
            qp->commit(1, now);
        }
        return all;
    }

    std::vector<seen_packet> packets = packets_of(GetParam().file);
    psn first{};
    qpn requester{};
    qpn responder{};
    bool requester_known = false;
    transport::memory_region_table regions;
    registered_memory memory{regions, 1 << 20};
    std::unique_ptr<transport::queue_pair> qp;
    transport::time_point now{std::chrono::seconds{1}};
};

TEST_P(rc_capture, responder_answers_the_kernel_as_the_kernel_does) {
    connect(responder, requester);
    captured_memory remote(regions, packets);
    for (std::uint32_t i = 0; i < 64; ++i) {
        const receive_request r{wr(i), memory.take(8192)};
        ASSERT_EQ(qp->post_receive({&r, 1}).accepted, 1U);
    }
    std::deque<std::vector<std::byte>> answers;
    std::size_t bytes_in = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
        const seen_packet& p = packets[i];
        if (p.is_answer()) {
            ASSERT_FALSE(answers.empty()) << "the kernel answers here";
            EXPECT_EQ(answers.front(), p.without_icrc()) << wire::to_text(p.view);
            answers.pop_front();
            continue;
        }
        remote.fill_for_read(packets, i);
        qp->on_packet(p.view, now);
        bytes_in += p.view.payload().size();
        for (auto& a : take()) answers.push_back(std::move(a));
    }
    EXPECT_TRUE(answers.empty()) << "the kernel does not answer here";
    EXPECT_EQ(qp->state(), transport::queue_pair_state::ready_to_send);
    EXPECT_LE(qp->counters().bytes_received, bytes_in);
    EXPECT_GT(qp->counters().messages_received, 0U);
}

/// Conversations that the kernel ended with a NAK.
class rc_capture_refused : public rc_capture {
  protected:
    void expect_the_kernels_refusal(wire::nak_code code) {
        std::deque<std::vector<std::byte>> answers;
        for (const seen_packet& p : packets) {
            if (p.is_answer()) {
                ASSERT_FALSE(answers.empty()) << "the kernel answers here";
                EXPECT_EQ(answers.front(), p.without_icrc()) << wire::to_text(p.view);
                EXPECT_EQ(p.view.aeth().syndrome, wire::aeth::nak(code, 0).syndrome);
                answers.pop_front();
                continue;
            }
            qp->on_packet(p.view, now);
            for (auto& a : take()) answers.push_back(std::move(a));
        }
        EXPECT_TRUE(answers.empty()) << "the kernel does not answer here";
        EXPECT_EQ(qp->state(), transport::queue_pair_state::error);
    }
};
class rc_capture_bad_length : public rc_capture_refused {};

TEST_P(rc_capture_refused, is_refused_as_the_kernel_refuses_it) {
    connect(responder, requester);
    expect_the_kernels_refusal(wire::nak_code::remote_access_error);
}

TEST_P(rc_capture_bad_length, is_refused_as_the_kernel_refuses_it) {
    connect(responder, requester);
    captured_memory remote(regions, packets);
    expect_the_kernels_refusal(wire::nak_code::invalid_request);
}

class rc_capture_sent : public rc_capture {
  protected:
    /// The message that begins with packet i, as the kernel's user posted it.
    send_request message_from(std::size_t i) {
        send_request r;
        r.op = operation_of(packets[i].view.op());
        if (packets[i].view.op().has_reth()) {
            r.remote_address = packets[i].view.reth().address;
            r.remote_key = packets[i].view.reth().key;
        }
        std::vector<std::byte> bytes;
        if (r.op == opcode::rdma_read) bytes.resize(packets[i].view.reth().length);
        for (; i < packets.size(); ++i) {
            if (packets[i].is_answer()) continue;
            const wire::packet_view& v = packets[i].view;
            bytes.insert(bytes.end(), v.payload().begin(), v.payload().end());
            if (!v.op().ends()) continue;
            r.solicited = v.bth().solicited;
            if (v.op().has_immediate()) {
                r.op = r.op == opcode::send ? opcode::send_with_immediate : opcode::rdma_write_with_immediate;
                r.immediate = v.immediate().value;
            }
            break;
        }
        r.buffer = memory.take(bytes.size());
        std::copy(bytes.begin(), bytes.end(), r.buffer.data);
        return r;
    }
    static opcode operation_of(wire::opcode op) {
        if (op == wire::rc::read_request) return opcode::rdma_read;
        return op.what() == wire::operation::rdma_write ? opcode::rdma_write : opcode::send;
    }
};

TEST_P(rc_capture_sent, requester_sends_the_same_bytes_and_takes_the_kernels_answers) {
    connect(requester, responder);
    std::deque<std::vector<std::byte>> ours;
    std::size_t messages = 0;
    std::size_t completed = 0;
    std::vector<std::byte> answered; // by the READ under way
    registered_buffer reading{};
    work_completion done[16];
    for (std::size_t i = 0; i < packets.size(); ++i) {
        if (packets[i].is_answer()) {
            qp->on_packet(packets[i].view, now);
            completed += qp->poll(done);
            const auto payload = packets[i].view.payload();
            answered.insert(answered.end(), payload.begin(), payload.end());
            if (!packets[i].view.op().ends() || reading.size == 0) continue;
            EXPECT_TRUE(std::ranges::equal(answered, reading.bytes())) << "what the kernel read";
            continue;
        }
        if (packets[i].view.op().starts()) {
            const send_request r = message_from(i);
            reading = r.op == opcode::rdma_read ? r.buffer : registered_buffer{};
            answered.clear();
            ASSERT_EQ(qp->post_send({&r, 1}).accepted, 1U);
            ++messages;
            ours = take();
        }
        ASSERT_FALSE(ours.empty()) << wire::to_text(packets[i].view);
        EXPECT_EQ(ours.front(), packets[i].without_icrc()) << wire::to_text(packets[i].view);
        ours.pop_front();
    }
    EXPECT_TRUE(ours.empty());
    EXPECT_GT(messages, 0U);
    EXPECT_EQ(completed, messages);
    EXPECT_EQ(qp->next_deadline(), transport::never);
}

const conversation undisturbed[] = {
    {"rc_send_mtu256.pcap", mtu::b256},           {"rc_send_mtu1024.pcap", mtu::b1024},
    {"rc_send_mtu4096.pcap", mtu::b4096},         {"rc_send_imm_mtu256.pcap", mtu::b256},
    {"rc_send_imm_mtu1024.pcap", mtu::b1024},     {"rc_send_imm_mtu4096.pcap", mtu::b4096},
    {"rc_psn_wrap_send.pcap", mtu::b1024},        {"rc_pipelined_sends.pcap", mtu::b1024},
    {"v6_rc_send_mtu1024.pcap", mtu::b1024},      {"v6_rc_psn_wrap_send.pcap", mtu::b1024},
    {"v6_rc_pipelined_sends.pcap", mtu::b1024},   {"rc_tos_ttl_flow.pcap", mtu::b1024},
    {"rc_send_solicited.pcap", mtu::b1024},       {"rc_write_mtu256.pcap", mtu::b256},
    {"rc_write_mtu1024.pcap", mtu::b1024},        {"rc_write_mtu4096.pcap", mtu::b4096},
    {"rc_write_imm_mtu1024.pcap", mtu::b1024},    {"rc_write_imm_mtu4096.pcap", mtu::b4096},
    {"rc_read_mtu256.pcap", mtu::b256},           {"rc_read_mtu1024.pcap", mtu::b1024},
    {"rc_psn_wrap_read.pcap", mtu::b256},         {"v6_rc_write_mtu1024.pcap", mtu::b1024},
    {"v6_rc_write_imm_mtu1024.pcap", mtu::b1024}, {"v6_rc_read_mtu1024.pcap", mtu::b1024},
    {"v6_rc_psn_wrap_write.pcap", mtu::b256},
};
const conversation as_responder[] = {{"peer_rc_dup_send.pcap", mtu::b1024},
                                     {"peer_rc_dup_write.pcap", mtu::b1024},
                                     {"peer_rc_write_zero_len_bad_rkey.pcap", mtu::b1024},
                                     {"rc_ackreq_long_write.pcap", mtu::b256}};
const conversation without_access[] = {{"rc_nak_write_bad_rkey.pcap", mtu::b1024},
                                       {"rc_nak_read_bad_rkey.pcap", mtu::b1024},
                                       {"rc_nak_write_multi_bad_rkey.pcap", mtu::b1024},
                                       {"rc_nak_write_out_of_bounds.pcap", mtu::b1024},
                                       {"peer_rc_write_bad_rkey_then_more.pcap", mtu::b1024}};
const conversation with_bad_lengths[] = {{"peer_rc_write_len_mismatch.pcap", mtu::b1024},
                                         {"peer_rc_write_first_short.pcap", mtu::b1024}};

std::string name_of(const testing::TestParamInfo<conversation>& test) {
    const std::string file = test.param.file;
    return file.substr(0, file.find('.'));
}

INSTANTIATE_TEST_SUITE_P(undisturbed, rc_capture, testing::ValuesIn(undisturbed), name_of);
INSTANTIATE_TEST_SUITE_P(as_responder, rc_capture, testing::ValuesIn(as_responder), name_of);
INSTANTIATE_TEST_SUITE_P(without_access, rc_capture_refused, testing::ValuesIn(without_access), name_of);
INSTANTIATE_TEST_SUITE_P(with_bad_lengths, rc_capture_bad_length, testing::ValuesIn(with_bad_lengths),
                         name_of);
INSTANTIATE_TEST_SUITE_P(undisturbed, rc_capture_sent, testing::ValuesIn(undisturbed), name_of);

} // namespace
} // namespace rocio::test
