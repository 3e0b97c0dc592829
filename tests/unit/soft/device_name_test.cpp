#include <rocio/soft/soft_device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio {
namespace {

using ::testing::HasSubstr;

struct name_case {
    const char* name;
    const char* address;
    std::uint16_t port;
};

class GoodName : public ::testing::TestWithParam<name_case> {};

TEST_P(GoodName, GivesAddressAndPort) {
    soft_device_config config;
    ASSERT_FALSE(soft_device::parse_name(GetParam().name, config));
    EXPECT_EQ(config.address, GetParam().address);
    EXPECT_EQ(config.udp_port, GetParam().port);
}

INSTANTIATE_TEST_SUITE_P(SoftDevice, GoodName,
                         ::testing::Values(name_case{"soft:127.0.0.2", "127.0.0.2", 4791},
                                           name_case{"soft:10.0.0.2:4791", "10.0.0.2", 4791},
                                           name_case{"soft:10.0.0.2:0", "10.0.0.2", 0},
                                           name_case{"soft:10.0.0.2:65535", "10.0.0.2", 65535},
                                           name_case{"soft:[::1]", "::1", 4791},
                                           name_case{"soft:[fd00::2]:5000", "fd00::2", 5000}));

class BadName : public ::testing::TestWithParam<const char*> {};

TEST_P(BadName, IsRefusedWithTheNameAndAnExample) {
    soft_device_config config;
    config.address = "unchanged";
    const error_info error = soft_device::parse_name(GetParam(), config);
    EXPECT_EQ(error.code, errc::invalid_device_name);
    EXPECT_THAT(error.text, HasSubstr("\"" + std::string(GetParam()) + "\""));
    EXPECT_THAT(error.text, HasSubstr("soft:127.0.0.2"));
    EXPECT_EQ(config.address, "unchanged");
}

INSTANTIATE_TEST_SUITE_P(SoftDevice, BadName,
                         ::testing::Values("", "soft", "soft:", "soft:localhost", "soft:127.0.0",
                                           "soft:127.0.0.2:", "soft:127.0.0.2:70327", "soft:127.0.0.2:-1",
                                           "soft:127.0.0.2:47a", "soft:127.0.0.2:4791:1", "soft:[127.0.0.2]",
                                           "soft:::1", "soft:[::1", "soft:[::1]4791",
                                           "soft:[::1]:", "soft:[]", "SOFT:127.0.0.2", "mlx5_0"));

} // namespace
} // namespace rocio
