// A kernel device against the soft device of a socket in another network namespace, in one process, with PSNs
// that wrap: ROCIO_TEST_DEVICE names the kernel's device, ROCIO_TEST_NAMESPACE the other's namespace,
// ROCIO_TEST_SOFT its address.

#include "seam_end.hpp"
#include "test_bytes.hpp"

#include <rocio/soft/soft_device.hpp>
#include <rocio/verbs/verbs_device.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace rocio::test {
namespace {

constexpr psn before_the_wrap{0xFFFFF5};

std::string setting(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) throw std::runtime_error(std::string("set ") + name);
    return value;
}

/// This thread in another network namespace, until the end of its life.
class visit {
  public:
    explicit visit(const std::string& name)
        : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)),
          there_(::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC)) {
        if (home_ < 0 || there_ < 0 || ::setns(there_, CLONE_NEWNET) != 0)
            throw std::runtime_error("cannot enter the network namespace " + name);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        ::setns(home_, CLONE_NEWNET);
        ::close(home_);
        ::close(there_);
    }

  private:
    int home_, there_;
};

std::shared_ptr<device> open_kernel() {
    std::shared_ptr<verbs_device> out;
    throw_if(verbs_device::open(setting("ROCIO_TEST_DEVICE"), out));
    return out;
}

std::shared_ptr<device> open_soft() {
    const visit there(setting("ROCIO_TEST_NAMESPACE"));
    soft_device_config config;
    config.address = setting("ROCIO_TEST_SOFT");
    std::shared_ptr<soft_device> out;
    throw_if(soft_device::open(config, out));
    return out;
}

struct interop_case {
    queue_pair_type type;
    bool soft_acts;
    mtu path_mtu;
};

void PrintTo(const interop_case& c, std::ostream* out) {
    *out << (c.type == queue_pair_type::rc ? "RC " : "UC ")
         << (c.soft_acts ? "soft to kernel " : "kernel to soft ") << bytes(c.path_mtu);
}

class KernelInterop : public ::testing::TestWithParam<interop_case> {
  protected:
    KernelInterop() {
        const bool soft_first = GetParam().soft_acts;
        const auto kernel_device = open_kernel();
        const auto user_device = open_soft();
        seam_end_options options;
        options.type = GetParam().type;
        options.memory = 256 * 1024;
        a_ = std::make_unique<seam_end>(soft_first ? user_device : kernel_device, options);
        b_ = std::make_unique<seam_end>(soft_first ? kernel_device : user_device, options);
        auto to_b = a_->connection_to(*b_), to_a = b_->connection_to(*a_);
        for (auto* attributes : {&to_b, &to_a}) {
            attributes->local.send_psn = attributes->peer.send_psn = before_the_wrap;
            attributes->local.path_mtu = attributes->peer.path_mtu = GetParam().path_mtu;
        }
        a_->connect(to_b);
        b_->connect(to_a);
    }

    /// The next completion of `end`, with both devices turning.
    work_completion next_of(seam_end& end) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (std::chrono::steady_clock::now() < deadline) {
            for (auto* e : {a_.get(), b_.get()}) e->dev().progress(std::chrono::steady_clock::now());
            work_completion found;
            errc error = errc::success;
            if (end.cq().poll({&found, 1}, error) == 1) return found;
        }
        ADD_FAILURE() << "no completion within twenty seconds";
        return {};
    }
    void act(opcode op, std::uint32_t size, std::uint32_t number) {
        send_request r;
        r.id = {1, 1, number};
        r.op = op;
        r.immediate = number;
        r.buffer = a_->buffer(0, size);
        r.remote_address = b_->remote_address(far);
        r.remote_key = b_->region().remote_key();
        ASSERT_EQ(a_->send(r).accepted, 1U);
    }
    void expect_sent(std::uint32_t number) {
        const auto done = next_of(*a_);
        EXPECT_EQ(done.status, errc::success);
        EXPECT_EQ(done.id.slot, number);
    }
    std::uint32_t size_of(std::uint32_t number) const {
        const auto m = bytes(GetParam().path_mtu);
        const std::uint32_t sizes[] = {0, 1, m, m + 1, 3 * m + 5, m - 1, 7};
        return sizes[number % std::size(sizes)];
    }

    static constexpr std::size_t far = 128 * 1024;
    std::unique_ptr<seam_end> a_, b_;
};

TEST_P(KernelInterop, MessagesArriveWholeAcrossTheWrap) {
    for (std::uint32_t n = 0; n < 42; ++n) {
        SCOPED_TRACE(n);
        fill_message(a_->bytes(0, size_of(n)), n);
        ASSERT_EQ(b_->receive({{2, 2, n}, b_->buffer(0, 32 * 1024)}).accepted, 1U);
        act(opcode::send_with_immediate, size_of(n), n);
        const auto got = next_of(*b_);
        ASSERT_EQ(got.status, errc::success);
        EXPECT_EQ(got.immediate, n);
        EXPECT_EQ(got.byte_len, size_of(n));
        EXPECT_EQ(first_difference(b_->bytes(0, size_of(n)), n), size_of(n));
        expect_sent(n);
    }
}

TEST_P(KernelInterop, WritesLandAcrossTheWrap) {
    for (std::uint32_t n = 0; n < 42; ++n) {
        SCOPED_TRACE(n);
        fill_message(a_->bytes(0, size_of(n)), n);
        ASSERT_EQ(b_->receive({{2, 2, n}, b_->buffer(0, 0)}).accepted, 1U);
        act(opcode::rdma_write_with_immediate, size_of(n), n);
        const auto got = next_of(*b_);
        ASSERT_EQ(got.status, errc::success);
        EXPECT_EQ(got.op, completion_opcode::receive_rdma_write_with_immediate);
        EXPECT_EQ(got.byte_len, size_of(n));
        EXPECT_EQ(first_difference(b_->bytes(far, size_of(n)), n), size_of(n));
        expect_sent(n);
    }
}

TEST_P(KernelInterop, ReadsBringTheBytesAcrossTheWrap) {
    if (GetParam().type == queue_pair_type::uc) {
        send_request r;
        r.op = opcode::rdma_read;
        r.buffer = a_->buffer(0, 1);
        EXPECT_EQ(a_->send(r).reason, errc::not_supported);
        return;
    }
    for (std::uint32_t n = 0; n < 42; ++n) {
        SCOPED_TRACE(n);
        fill_message(b_->bytes(far, size_of(n)), n);
        act(opcode::rdma_read, size_of(n), n);
        expect_sent(n);
        EXPECT_EQ(first_difference(a_->bytes(0, size_of(n)), n), size_of(n));
    }
}

std::vector<interop_case> every_case() {
    std::vector<interop_case> out;
    for (const auto type : {queue_pair_type::rc, queue_pair_type::uc})
        for (const bool soft : {true, false})
            for (const mtu m : {mtu::b256, mtu::b1024, mtu::b4096}) out.push_back({type, soft, m});
    return out;
}

INSTANTIATE_TEST_SUITE_P(all, KernelInterop, ::testing::ValuesIn(every_case()));

} // namespace
} // namespace rocio::test
