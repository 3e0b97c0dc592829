#include <rocio/open/open_device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace rocio {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

error_info open_error(std::string_view name, const open_options& options = {}) {
    std::shared_ptr<device> out;
    error_info error = open_device(name, out, options);
    EXPECT_EQ(out, nullptr);
    return error;
}

TEST(OpenDevice, RefusesAnEmptyName) {
    const error_info error = open_error("");
    EXPECT_EQ(error.code, errc::invalid_device_name);
    EXPECT_THAT(error.text, HasSubstr("soft:127.0.0.2"));
}

class VerbsName : public ::testing::TestWithParam<const char*> {};

#if ROCIO_HAS_VERBS
TEST_P(VerbsName, OfADeviceThatIsNotThereSaysWhatIsMissing) {
    const error_info error = open_error(GetParam());
    EXPECT_THAT(error.code, AnyOf(error_code(errc::no_devices), error_code(errc::device_not_found)));
    EXPECT_THAT(error.text, AllOf(HasSubstr(GetParam()), HasSubstr("soft:127.0.0.2")));
    EXPECT_THAT(error.text, AnyOf(HasSubstr("No RDMA devices found"), HasSubstr("not found")));
}

TEST_P(VerbsName, TakesNoneOfASoftDevicesOptions) {
    EXPECT_EQ(open_error(GetParam(), {.faults = fault_plan{.drop = 0.5}}).code, errc::not_supported);
    const error_info error = open_error(GetParam(), {.receive_buffer = 4096});
    EXPECT_EQ(error.code, errc::not_supported);
    EXPECT_THAT(error.text, HasSubstr("receive_buffer"));
}

TEST(ListDevices, ListsSystemDevicesOrSaysWhyThereAreNone) {
    const auto all = list_devices();
    const bool any = std::any_of(all.begin(), all.end(), [](const auto& d) { return d.kind == "verbs"; });
    EXPECT_EQ(why_no_verbs_devices().empty(), any) << why_no_verbs_devices();
}
#else
TEST_P(VerbsName, SaysThatLibibverbsIsNeeded) {
    const error_info error = open_error(GetParam());
    EXPECT_EQ(error.code, errc::verbs_not_built);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("libibverbs"), HasSubstr("Linux build"), HasSubstr("ROCIO_VERBS=ON"),
                      HasSubstr(GetParam()), HasSubstr("soft:127.0.0.2")));
    EXPECT_THAT(error.text, AnyOf(HasSubstr("No RDMA devices found"), HasSubstr("not found")));
}

TEST(ListDevices, SaysThatSystemDevicesAreNotInThisBuild) {
    EXPECT_THAT(why_no_verbs_devices(), HasSubstr("ROCIO_VERBS=ON"));
}
#endif

INSTANTIATE_TEST_SUITE_P(OpenDevice, VerbsName,
                         ::testing::Values("mlx5_97", "rxe98", "no-such.device", "SOFT"));

TEST(OpenDevice, SaysThatANameNoDeviceCanHaveIsNotFound) {
    for (const std::string& name : {std::string("two words"), std::string("eth0/1"), std::string(64, 'x')}) {
        const error_info error = open_error(name);
        EXPECT_EQ(error.code, errc::device_not_found) << name;
        EXPECT_THAT(error.text, HasSubstr("not found"));
    }
}

TEST(OpenDevice, PassesOnWhatIsWrongWithASoftName) {
    EXPECT_EQ(open_error("soft:").code, errc::invalid_device_name);
    EXPECT_EQ(open_error("soft:[ff02::1]").code, errc::invalid_argument);
    EXPECT_EQ(open_error("soft:[2001:db8::77]").code, errc::address_not_available);
    EXPECT_EQ(open_error("soft:127.0.0.2", {.faults = fault_plan{.drop = 7}}).code, errc::invalid_argument);
}

TEST(OpenDevice, TheThrowingFormThrowsTheSameSentence) {
    const error_info error = open_error("mlx5_97");
    try {
        open_device("mlx5_97");
        FAIL() << "nothing was thrown";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), error.code);
        EXPECT_EQ(e.what(), error.text);
    }
}

TEST(ListDevices, NamesTheLoopbackAddressWithItsInterface) {
    const auto all = list_devices();
    const auto lo =
        std::find_if(all.begin(), all.end(), [](const auto& d) { return d.name == "soft:127.0.0.1"; });
    ASSERT_NE(lo, all.end());
    EXPECT_EQ(lo->kind, "soft");
    EXPECT_EQ(lo->address, gid::from_v4({127, 0, 0, 1}));
    EXPECT_EQ(lo->netdev, "lo");
    EXPECT_GE(lo->netdev_mtu, 4'176U);
    EXPECT_EQ(lo->active_mtu, mtu::b4096);
    EXPECT_EQ(lo->state, port_state::active);
}

} // namespace
} // namespace rocio
