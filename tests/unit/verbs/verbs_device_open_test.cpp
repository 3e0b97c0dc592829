#include <rocio/verbs/native.hpp>
#include <rocio/verbs/verbs_device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace rocio {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// What these machines have differs; what an answer must say does not.

TEST(VerbsDeviceOpen, ANameThatNoMachineHasIsRefusedWithTheWayOut) {
    std::shared_ptr<verbs_device> out;
    const error_info bad = verbs_device::open("no_such_device_7", out);
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(bad.code, verbs_device::names().empty() ? errc::no_devices : errc::device_not_found);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("no_such_device_7"),
                                AnyOf(HasSubstr("No RDMA devices found"), HasSubstr("not found"))));
}

TEST(VerbsDeviceOpen, AnEmptyNameIsAnArgumentError) {
    std::shared_ptr<verbs_device> out;
    EXPECT_EQ(verbs_device::open("", out).code, errc::invalid_argument);
}

TEST(VerbsDeviceOpen, WhyNoneIsTheOtherSideOfNames) {
    const error_info why = verbs_device::why_none();
    EXPECT_EQ(static_cast<bool>(why), verbs_device::names().empty());
    EXPECT_THAT(why.message(), AnyOf(HasSubstr("No RDMA devices found"), error_code().message()));
}

/// A device of another kind, with objects of another kind.
struct other_device final : device {
    std::string name() const override { return "other"; }
    std::string kind() const override { return "other"; }
    device_limits limits() const override { return {}; }
    device_snapshot snapshot() const override { return {}; }
};
struct other_queue final : device_completion_queue {
    std::uint32_t depth() const noexcept override { return 1; }
    std::size_t poll(std::span<work_completion>, errc&) noexcept override { return 0; }
    errc arm() noexcept override { return errc::success; }
};
struct other_region final : device_memory_region {
    std::span<std::byte> bytes() const noexcept override { return {}; }
    lkey local_key() const noexcept override { return {}; }
    rkey remote_key() const noexcept override { return {}; }
    std::uint64_t iova() const noexcept override { return 0; }
};

TEST(Native, ObjectsOfOtherDevicesHaveNoVerbsHandle) {
    EXPECT_EQ(verbs::native_context(other_device{}), nullptr);
    EXPECT_EQ(verbs::native_protection_domain(other_device{}), nullptr);
    EXPECT_EQ(verbs::native_handle(other_queue{}), nullptr);
    EXPECT_EQ(verbs::native_handle(other_region{}), nullptr);
}

} // namespace
} // namespace rocio
