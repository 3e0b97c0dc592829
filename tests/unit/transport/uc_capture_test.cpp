#include "capture_conversation.hpp"
#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

#include <ostream>

// Packets of unreliable connections: those that the Linux kernel's requester sent, and those that its
// responder was given, with what the standard makes of them where the kernel does not follow it.

namespace rocio::test {
namespace {

using transport::queue_pair_state;

struct uc_case {
    const char* file;
    mtu path_mtu = mtu::b1024;
    std::vector<std::uint32_t> received{}; ///< Bytes of each message that must arrive, in order.
    queue_pair_state ends_in = queue_pair_state::ready_to_send;
    std::uint32_t receives = 6;
};

void PrintTo(const uc_case& c, std::ostream* out) {
    *out << c.file;
}
std::string name_of(const testing::TestParamInfo<uc_case>& test) {
    const std::string file = test.param.file;
    return file.substr(0, file.find('.'));
}

class uc_capture : public testing::TestWithParam<uc_case> {
  protected:
    void connect() {
        ASSERT_FALSE(packets.empty());
        peer = packets.front().view.bth().destination;
        qp = transport::make_uc_queue_pair({qpn{1}}, regions);
        const psn first = packets.front().view.bth().sequence;
        ASSERT_EQ(qp->to_init(memory_access::remote_write), errc::success);
        ASSERT_EQ(qp->to_rtr({peer, GetParam().path_mtu, first, rnr_timer{12}}), errc::success);
        transport::send_path path;
        path.first = first;
        ASSERT_EQ(qp->to_rts(path), errc::success);
    }
    void post_receives(std::uint32_t count, std::size_t size) {
        for (std::uint32_t i = 0; i < count; ++i) {
            receives.push_back(memory.take(size));
            const receive_request r{wr(i), receives.back()};
            ASSERT_EQ(qp->post_receive({&r, 1}).accepted, 1U);
        }
    }

    std::vector<seen_packet> packets = packets_of(GetParam().file);
    transport::memory_region_table regions;
    registered_memory memory{regions, 1 << 20};
    qpn peer{};
    std::unique_ptr<transport::queue_pair> qp;
    std::vector<registered_buffer> receives;
    transport::time_point now{std::chrono::seconds{1}};
};

class uc_capture_sent : public uc_capture {
  protected:
    send_request message_from(std::size_t i) {
        send_request r;
        const wire::packet_view& begin = packets[i].view;
        const bool write = begin.op().has_reth();
        if (write) {
            r.remote_address = begin.reth().address;
            r.remote_key = begin.reth().key;
        }
        std::vector<std::byte> bytes;
        for (;; ++i) {
            const wire::packet_view& v = packets.at(i).view;
            bytes.insert(bytes.end(), v.payload().begin(), v.payload().end());
            if (!v.op().ends()) continue;
            const bool immediate = v.op().has_immediate();
            if (immediate) r.immediate = v.immediate().value;
            r.op = write       ? immediate ? opcode::rdma_write_with_immediate : opcode::rdma_write
                   : immediate ? opcode::send_with_immediate
                               : opcode::send;
            break;
        }
        r.buffer = memory.take(bytes.size());
        std::copy(bytes.begin(), bytes.end(), r.buffer.data);
        return r;
    }
};

TEST_P(uc_capture_sent, requester_sends_the_same_bytes) {
    connect();
    std::size_t messages = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
        if (packets[i].view.op().starts()) {
            const send_request r = message_from(i);
            ASSERT_EQ(qp->post_send({&r, 1}).accepted, 1U);
            ++messages;
        }
        transport::packet_out out;
        ASSERT_EQ(qp->next_packets({&out, 1}, now), 1U);
        auto bytes = encode(out);
        bytes.resize(bytes.size() - wire::icrc_size);
        EXPECT_EQ(bytes, packets[i].without_icrc()) << wire::to_text(packets[i].view);
        qp->commit(1, now);
    }
    work_completion done[64];
    EXPECT_EQ(qp->poll(done), messages);
    EXPECT_GT(messages, 0U);
}

TEST_P(uc_capture_sent, responder_takes_every_message) {
    connect();
    captured_memory remote(regions, packets);
    post_receives(16, 8192);
    std::size_t messages = 0, bytes = 0;
    for (const seen_packet& p : packets) {
        qp->on_packet(p.view, now);
        messages += p.view.op().ends();
        bytes += p.view.payload().size();
        EXPECT_FALSE(qp->wants_to_send(now));
    }
    EXPECT_EQ(qp->counters().messages_received, messages);
    EXPECT_EQ(qp->counters().bytes_received, bytes);
    EXPECT_EQ(qp->counters().psn_gaps + qp->counters().interrupted_messages, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    kernel, uc_capture_sent,
    testing::Values(uc_case{"uc_send_mtu256.pcap", mtu::b256}, uc_case{"uc_send_mtu1024.pcap"},
                    uc_case{"uc_send_mtu4096.pcap", mtu::b4096},
                    uc_case{"uc_send_imm_mtu256.pcap", mtu::b256}, uc_case{"uc_send_imm_mtu1024.pcap"},
                    uc_case{"uc_send_imm_mtu4096.pcap", mtu::b4096},
                    uc_case{"uc_write_mtu256.pcap", mtu::b256}, uc_case{"uc_write_mtu1024.pcap"},
                    uc_case{"uc_write_mtu4096.pcap", mtu::b4096},
                    uc_case{"uc_write_imm_mtu256.pcap", mtu::b256}, uc_case{"uc_write_imm_mtu1024.pcap"},
                    uc_case{"v6_uc_psn_wrap_send.pcap"}, uc_case{"v6_uc_send_mtu1024.pcap"},
                    uc_case{"v6_uc_send_imm_mtu1024.pcap"}, uc_case{"v6_uc_write_mtu1024.pcap"}),
    name_of);

TEST_P(uc_capture, responder_keeps_to_the_standard) {
    connect();
    if (qp == nullptr) return;
    post_receives(GetParam().receives, GetParam().ends_in == queue_pair_state::error ? 16 : 4096);
    for (const seen_packet& p : packets) {
        qp->on_packet(p.view, now);
        EXPECT_FALSE(qp->wants_to_send(now)) << "UC never answers";
    }
    std::vector<std::uint32_t> received;
    work_completion c;
    while (qp->poll({&c, 1}) == 1) {
        if (c.status != errc::success) continue;
        EXPECT_EQ(c.id, wr(static_cast<std::uint32_t>(received.size()))) << "the first free receive";
        received.push_back(c.byte_len);
    }
    EXPECT_EQ(received, GetParam().received);
    EXPECT_EQ(qp->state(), GetParam().ends_in);
}

const uc_case given_to_the_kernel[] = {
    {"peer_uc_first_no_gap_restart.pcap", mtu::b1024, {33, 34}}, // the kernel loses 33
    {"peer_uc_first_short_payload.pcap", mtu::b1024, {}},        // the kernel takes 200
    {"peer_uc_lost_first.pcap", mtu::b1024, {33}},
    {"peer_uc_lost_last_then_first.pcap", mtu::b1024, {1029, 34}}, // the kernel loses 1029
    {"peer_uc_lost_last_then_only.pcap", mtu::b1024, {33, 34}},    // the kernel loses 33
    {"peer_uc_lost_middle.pcap", mtu::b1024, {33}},                // the kernel loses it
    {"peer_uc_lost_middle_then_first.pcap", mtu::b1024, {1029, 1030}},
    {"peer_uc_lost_only.pcap", mtu::b1024, {16, 17, 18, 19, 20}},
    {"peer_uc_no_receive.pcap", mtu::b1024, {}, queue_pair_state::ready_to_send, 0},
    {"peer_uc_read_req_malformed.pcap", mtu::b1024, {33}},
    {"peer_uc_recv_too_small.pcap", mtu::b1024, {}, queue_pair_state::error},
    {"peer_uc_write_bad_rkey.pcap", mtu::b1024, {20}},
    {"peer_uc_write_len_mismatch.pcap", mtu::b1024, {20}},
    {"peer_uc_write_imm_no_receive.pcap", mtu::b1024, {}, queue_pair_state::ready_to_send, 0},
};
INSTANTIATE_TEST_SUITE_P(disturbed, uc_capture, testing::ValuesIn(given_to_the_kernel), name_of);

} // namespace
} // namespace rocio::test
