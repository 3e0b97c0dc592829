#include "roce_capture.hpp"
#include "soft_end.hpp"

#include <rocio/soft/simulated_network.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace rocio {
namespace {

using test::captured_packet;
using test::soft_end;

wire::packet_view view_of(std::span<const std::byte> bytes) {
    wire::packet_view view;
    EXPECT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
    return view;
}

/// A capture of one connection over which rdma_rxe of A sends messages to rdma_rxe of B.
struct kernel_connection {
    std::vector<captured_packet> requests, responses;
    mtu path_mtu = mtu::b1024;

    /// The messages, put together from the request packets.
    struct message {
        std::vector<std::byte> bytes{};
        std::size_t packets = 0;
        bool solicited = false;
        std::optional<std::uint32_t> immediate{};
    };
    std::vector<message> messages() const {
        std::vector<message> out;
        bool open = false;
        for (const auto& r : requests) {
            const auto v = view_of(r.bytes);
            if (!open) out.emplace_back();
            message& m = out.back();
            m.bytes.insert(m.bytes.end(), v.payload().begin(), v.payload().end());
            m.solicited = v.bth().solicited;
            if (v.op().has_immediate()) m.immediate = v.immediate().value;
            ++m.packets;
            open = !v.op().ends();
        }
        return out;
    }
};

/// Up to the first request that is not a SEND.
kernel_connection load(const std::string& file, mtu path_mtu) {
    kernel_connection c;
    c.path_mtu = path_mtu;
    unsigned number = 0;
    for (const auto& frame : test::read_pcap(std::string(ROCIO_TEST_DATA) + "/vectors/" + file)) {
        ++number;
        auto packet = test::roce_in(frame);
        if (!packet) continue;
        packet->file = file;
        packet->frame_number = number;
        const wire::opcode op = view_of(packet->bytes).op();
        if (op.is_request() && op.what() != wire::operation::send) break;
        (op.is_request() ? c.requests : c.responses).push_back(*std::move(packet));
    }
    return c;
}

struct capture_case {
    const char* file;
    mtu path_mtu;
};
std::ostream& operator<<(std::ostream& out, const capture_case& c) {
    return out << c.file;
}

class KernelCapture : public ::testing::TestWithParam<capture_case> {
  protected:
    void SetUp() override {
        kernel = load(GetParam().file, GetParam().path_mtu);
        ASSERT_FALSE(kernel.requests.empty());
        ASSERT_FALSE(kernel.responses.empty());
        const auto first_request = view_of(kernel.requests.front().bytes).bth();
        flow = kernel.requests.front().flow;
        a_number = view_of(kernel.responses.front().bytes).bth().destination;
        b_number = first_request.destination;
        first_psn = first_request.sequence;
        network.observe([this](const gid& from, const soft::destination&, std::span<const std::byte> bytes) {
            if (from == own) sent.emplace_back(bytes.begin(), bytes.end());
        });
    }

    /// A soft device in place of one of the kernels, connected to the other one.
    soft_end stand_in(const gid& address, qpn number, const gid& peer_address, qpn peer_number) {
        own = address;
        soft_end end(soft_device::over(network.attach(address), number), {.slot_bytes = 8'192});
        EXPECT_EQ(end.qp().number(), number);
        connect_attributes a;
        a.peer.address = peer_address;
        a.peer.queue_pair = peer_number;
        a.peer.send_psn = a.local.send_psn = first_psn;
        a.local.path_mtu = kernel.path_mtu;
        end.connect(a);
        return end;
    }
    void arrive(const captured_packet& p) {
        network.inject({p.flow.source, p.flow.source_port, false, p.bytes}, own);
    }

    kernel_connection kernel;
    wire::icrc_flow flow;
    qpn a_number, b_number;
    psn first_psn;
    gid own;
    soft::simulated_network network;
    std::vector<std::vector<std::byte>> sent;
    device::time_point now = device::time_point{} + std::chrono::hours(1);
};

TEST_P(KernelCapture, TheDeviceReceivesAndAcknowledgesAsTheKernelDid) {
    soft_end b = stand_in(flow.destination, b_number, flow.source, a_number);
    b.post_receives(0, 64);
    for (const auto& request : kernel.requests) {
        arrive(request);
        b.turn(now);
        b.turn(now);
    }
    const auto messages = kernel.messages();
    ASSERT_EQ(b.received().size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const work_completion& c = b.received()[i];
        EXPECT_EQ(c.status, errc::success);
        ASSERT_EQ(c.byte_len, messages[i].bytes.size());
        EXPECT_EQ(c.has_immediate, messages[i].immediate.has_value());
        EXPECT_EQ(c.immediate, messages[i].immediate.value_or(0));
        EXPECT_TRUE(std::ranges::equal(b.slot(c.id.slot).first(c.byte_len), messages[i].bytes))
            << "message " << i;
    }

    ASSERT_EQ(sent.size(), kernel.responses.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto ours = view_of(sent[i]), theirs = view_of(kernel.responses[i].bytes);
        EXPECT_EQ(ours.bth(), theirs.bth()) << kernel.responses[i].name();
        EXPECT_EQ(ours.aeth(), theirs.aeth()) << kernel.responses[i].name();
    }
    EXPECT_EQ(b.counter("packets_in"), kernel.requests.size());
    EXPECT_EQ(b.counter("drops.bad_icrc"), 0U) << "the kernel's IP ids are solved for";
}

TEST_P(KernelCapture, TheDeviceSendsTheKernelsPackets) {
    soft_end a = stand_in(flow.source, a_number, flow.destination, b_number);
    std::size_t responses = 0, checked = 0;
    std::uint32_t slot = 128;
    for (const auto& m : kernel.messages()) {
        std::ranges::copy(m.bytes, a.slot(slot).begin());
        send_request s;
        s.id.slot = slot;
        s.op = m.immediate ? opcode::send_with_immediate : opcode::send;
        s.immediate = m.immediate.value_or(0);
        s.solicited = m.solicited;
        s.buffer = a.buffer(slot++, static_cast<std::uint32_t>(m.bytes.size()));
        ASSERT_EQ(a.qp().post_send({&s, 1}).accepted, 1U);
        a.turn(now);

        ASSERT_EQ(sent.size(), checked + m.packets);
        for (; checked < sent.size(); ++checked) {
            // All but the ICRC, which covers the kernel's IP id and source port.
            const auto& theirs = kernel.requests[checked];
            ASSERT_EQ(sent[checked].size(), theirs.bytes.size()) << theirs.name();
            EXPECT_TRUE(std::equal(sent[checked].begin(), sent[checked].end() - wire::icrc_size,
                                   theirs.bytes.begin()))
                << theirs.name() << "\nours   " << wire::to_text(view_of(sent[checked])) << "\ntheirs "
                << wire::to_text(view_of(theirs.bytes));
            EXPECT_TRUE(wire::icrc_engine({own, flow.destination, 4791, 4791}).check_exact(sent[checked]));
        }
        ASSERT_LT(responses, kernel.responses.size());
        arrive(kernel.responses[responses++]);
        a.turn(now);
    }
    EXPECT_EQ(responses, kernel.responses.size());
    ASSERT_EQ(a.sent().size(), kernel.messages().size());
    for (const auto& c : a.sent()) EXPECT_EQ(c.status, errc::success);
    EXPECT_EQ(a.device().next_deadline() == device::time_point::max() || !a.device().progress(now), true);
}

INSTANTIATE_TEST_SUITE_P(Rxe, KernelCapture,
                         ::testing::Values(capture_case{"rc_send_mtu256.pcap", mtu::b256},
                                           capture_case{"rc_send_mtu1024.pcap", mtu::b1024},
                                           capture_case{"rc_send_mtu4096.pcap", mtu::b4096},
                                           capture_case{"rc_send_imm_mtu256.pcap", mtu::b256},
                                           capture_case{"rc_send_imm_mtu1024.pcap", mtu::b1024},
                                           capture_case{"rc_send_imm_mtu4096.pcap", mtu::b4096},
                                           capture_case{"rc_psn_wrap_send.pcap", mtu::b1024},
                                           capture_case{"rc_send_solicited.pcap", mtu::b1024},
                                           capture_case{"v6_rc_send_mtu1024.pcap", mtu::b1024},
                                           capture_case{"v6_rc_psn_wrap_send.pcap", mtu::b1024},
                                           capture_case{"v6_rc_send_solicited.pcap", mtu::b1024}));

} // namespace
} // namespace rocio
