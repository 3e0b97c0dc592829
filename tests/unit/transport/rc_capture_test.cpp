#include "rc_endpoint.hpp"
#include "roce_capture.hpp"

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

struct seen_packet {
    std::vector<std::byte> bytes;
    wire::packet_view view{};

    bool is_answer() const { return view.op() == wire::rc::acknowledge; }
    /// Everything but the ICRC, which covers addresses that a queue pair does not know.
    std::vector<std::byte> without_icrc() const { return {bytes.begin(), bytes.end() - wire::icrc_size}; }
};

std::vector<seen_packet> packets_of(const conversation& c) {
    std::vector<seen_packet> all;
    for (const auto& frame : read_pcap(std::filesystem::path(ROCIO_TEST_DATA) / "vectors" / c.file)) {
        auto captured = roce_in(frame);
        if (!captured) continue;
        seen_packet p{std::move(captured->bytes)};
        EXPECT_EQ(wire::packet_view::parse(p.bytes, p.view), wire::malformed::none);
        all.push_back(std::move(p));
    }
    return all;
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
        ASSERT_EQ(qp->to_init(), errc::success);
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

    std::vector<seen_packet> packets = packets_of(GetParam());
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
    for (std::uint32_t i = 0; i < 64; ++i) {
        const receive_request r{wr(i), memory.take(8192)};
        ASSERT_EQ(qp->post_receive({&r, 1}).accepted, 1U);
    }
    std::deque<std::vector<std::byte>> answers;
    std::size_t bytes_in = 0;
    for (const seen_packet& p : packets) {
        if (p.is_answer()) {
            ASSERT_FALSE(answers.empty()) << "the kernel answers here";
            EXPECT_EQ(answers.front(), p.without_icrc()) << wire::to_text(p.view);
            answers.pop_front();
            continue;
        }
        qp->on_packet(p.view, now);
        bytes_in += p.view.payload().size();
        for (auto& a : take()) answers.push_back(std::move(a));
    }
    EXPECT_TRUE(answers.empty()) << "the kernel does not answer here";
    EXPECT_EQ(qp->state(), transport::queue_pair_state::ready_to_send);
    EXPECT_LE(qp->counters().bytes_received, bytes_in);
    EXPECT_GT(qp->counters().messages_received, 0U);
}

class rc_capture_sent : public rc_capture {
  protected:
    /// The message that begins with packet i, as the kernel's user posted it.
    send_request message_from(std::size_t i) {
        send_request r;
        std::vector<std::byte> bytes;
        for (; i < packets.size(); ++i) {
            if (packets[i].is_answer()) continue;
            const wire::packet_view& v = packets[i].view;
            bytes.insert(bytes.end(), v.payload().begin(), v.payload().end());
            if (!v.op().ends()) continue;
            r.solicited = v.bth().solicited;
            if (v.op().has_immediate()) {
                r.op = opcode::send_with_immediate;
                r.immediate = v.immediate().value;
            }
            break;
        }
        r.buffer = memory.take(bytes.size());
        std::copy(bytes.begin(), bytes.end(), r.buffer.data);
        return r;
    }
};

TEST_P(rc_capture_sent, requester_sends_the_same_bytes_and_takes_the_kernels_answers) {
    connect(requester, responder);
    std::deque<std::vector<std::byte>> ours;
    std::size_t messages = 0;
    std::size_t completed = 0;
    work_completion done[16];
    for (std::size_t i = 0; i < packets.size(); ++i) {
        if (packets[i].is_answer()) {
            qp->on_packet(packets[i].view, now);
            completed += qp->poll(done);
            continue;
        }
        if (packets[i].view.op().starts()) {
            const send_request r = message_from(i);
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
    {"rc_send_mtu256.pcap", mtu::b256},         {"rc_send_mtu1024.pcap", mtu::b1024},
    {"rc_send_mtu4096.pcap", mtu::b4096},       {"rc_send_imm_mtu256.pcap", mtu::b256},
    {"rc_send_imm_mtu1024.pcap", mtu::b1024},   {"rc_send_imm_mtu4096.pcap", mtu::b4096},
    {"rc_psn_wrap_send.pcap", mtu::b1024},      {"rc_pipelined_sends.pcap", mtu::b1024},
    {"v6_rc_send_mtu1024.pcap", mtu::b1024},    {"v6_rc_psn_wrap_send.pcap", mtu::b1024},
    {"v6_rc_pipelined_sends.pcap", mtu::b1024}, {"rc_tos_ttl_flow.pcap", mtu::b1024},
};
const conversation with_duplicates[] = {{"peer_rc_dup_send.pcap", mtu::b1024}};

std::string name_of(const testing::TestParamInfo<conversation>& test) {
    const std::string file = test.param.file;
    return file.substr(0, file.find('.'));
}

INSTANTIATE_TEST_SUITE_P(undisturbed, rc_capture, testing::ValuesIn(undisturbed), name_of);
INSTANTIATE_TEST_SUITE_P(duplicates, rc_capture, testing::ValuesIn(with_duplicates), name_of);
INSTANTIATE_TEST_SUITE_P(undisturbed, rc_capture_sent, testing::ValuesIn(undisturbed), name_of);

} // namespace
} // namespace rocio::test
