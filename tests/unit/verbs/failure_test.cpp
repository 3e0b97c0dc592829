#include "verbs/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace rocio::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Failure, ErrorNumbersBecomeCodesOfRocioWhereThereAreAny) {
    struct row {
        int number;
        error_code expected;
    };
    for (const auto& r : {row{EIO, errc::device_fatal}, row{ENODEV, errc::device_fatal},
                          row{ENXIO, errc::device_fatal}, row{EINVAL, errc::invalid_argument},
                          row{ENOSYS, errc::not_supported}, row{EOPNOTSUPP, errc::not_supported},
                          row{ENOMEM, errc::limit_exceeded}, row{ENOSPC, errc::limit_exceeded}})
        EXPECT_EQ(code_of(r.number), r.expected) << r.number;
    EXPECT_EQ(code_of(EACCES), boost::system::errc::permission_denied);
    EXPECT_EQ(code_of(ETIMEDOUT), condition::timed_out);
}

TEST(Failure, TextNamesStepDeviceNumberAndWhatWasAsked) {
    const error_info bad = failure(EINVAL, "ibv_create_qp", "mlx5_0", "asked RC");
    EXPECT_EQ(bad.code, errc::invalid_argument);
    EXPECT_THAT(bad.text,
                AllOf(HasSubstr("ibv_create_qp on mlx5_0"), HasSubstr("(22)"), HasSubstr("asked RC")));
    EXPECT_THAT(failure(EIO, "x", "y").text, Not(HasSubstr(";")));
}

TEST(Failure, OutsideNamesAttributeAskedAndAllowed) {
    const error_info bad = outside(errc::limit_exceeded, "send_depth", "rxe0", 70000, 1, 64512);
    EXPECT_EQ(bad.code, errc::limit_exceeded);
    EXPECT_EQ(bad.text, "send_depth of rxe0: 70000 asked, 1 to 64512 allowed");
}

TEST(Failure, PostErrorsOfBothStylesOfProvider) {
    EXPECT_EQ(post_error(ENOMEM, 0), errc::queue_full);
    EXPECT_EQ(post_error(-ENOMEM, 0), errc::queue_full);
    EXPECT_EQ(post_error(-1, ENOMEM), errc::queue_full);
    EXPECT_EQ(post_error(EINVAL, ENOMEM), errc::invalid_argument) << "errno is stale then";
    EXPECT_EQ(post_error(-EINVAL, 0), errc::invalid_argument);
    EXPECT_EQ(post_error(-1, EIO), errc::device_fatal);
    EXPECT_EQ(post_error(ENODEV, 0), errc::device_fatal);
    EXPECT_EQ(post_error(EOPNOTSUPP, 0), errc::not_supported);
    EXPECT_EQ(post_error(-1, 0), errc::invalid_argument) << "never success";
}

TEST(Failure, RegistrationNamesTheLimitOfLockedMemory) {
    const error_info bad = registration_failure(ENOMEM, 1 << 20, 65536, "mlx5_0");
    EXPECT_EQ(bad.code, errc::registration_failed);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("1048576 bytes"), HasSubstr("RLIMIT_MEMLOCK allows 65536"),
                                HasSubstr("mlx5_0"), HasSubstr("ulimit -l unlimited"),
                                HasSubstr("LimitMEMLOCK=infinity"), HasSubstr("--ulimit memlock=-1")));
}

TEST(Failure, RegistrationWithoutALimitBlamesSomethingElse) {
    const error_info bad = registration_failure(ENOMEM, 4096, std::nullopt, "rxe0");
    EXPECT_EQ(bad.code, errc::registration_failed);
    EXPECT_THAT(bad.text,
                AllOf(HasSubstr("unlimited"), HasSubstr("out of memory"), Not(HasSubstr("ulimit"))));
}

TEST(Failure, RegistrationOfAHoleSaysMapped) {
    const error_info bad = registration_failure(EFAULT, 4096, 65536, "rxe0");
    EXPECT_EQ(bad.code, errc::invalid_argument);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("mapped"), Not(HasSubstr("MEMLOCK"))));
    EXPECT_EQ(registration_failure(EIO, 1, 1, "rxe0").code, errc::device_fatal);
}

TEST(Failure, RouteFailuresNamePeerAndGidIndex) {
    const auto peer = gid::from_v4({10, 0, 0, 9});
    for (const int number : {ETIMEDOUT, EHOSTUNREACH, ENETUNREACH}) {
        const error_info bad = route_failure(number, peer, 3, "mlx5_0");
        EXPECT_THAT(bad.text, AllOf(HasSubstr("10.0.0.9"), HasSubstr("GID index 3"), HasSubstr("mlx5_0"),
                                    HasSubstr("ip route get 10.0.0.9")));
    }
    EXPECT_EQ(route_failure(ETIMEDOUT, peer, 3, "mlx5_0").code, condition::timed_out);
    EXPECT_THAT(route_failure(EINVAL, peer, 3, "rxe0").text, HasSubstr("family"));
    EXPECT_EQ(route_failure(EIO, peer, 3, "rxe0").code, errc::device_fatal);
}

TEST(Machine, WithoutKernelDevicesItSaysHowToMakeOne) {
    const error_info bad = not_found("rxe0", {});
    EXPECT_EQ(bad.code, errc::no_devices);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("No RDMA devices found"), HasSubstr("\"rxe0\""),
                                HasSubstr("modprobe rdma_rxe"), HasSubstr("rdma link add rxe0 type rxe"),
                                HasSubstr("soft:")));
}

TEST(Machine, WithoutUverbsItNamesTheModule) {
    const machine here{{"mlx5_0"}, false, {}};
    EXPECT_THAT(not_found("mlx5_0", here).text,
                AllOf(HasSubstr("the kernel has mlx5_0"), HasSubstr("modprobe ib_uverbs"),
                      Not(HasSubstr("apt-get"))));
}

TEST(Machine, WithoutAProviderItNamesThePackage) {
    const machine here{{"mlx5_0", "mlx5_1"}, true, {}};
    EXPECT_EQ(not_found("mlx5_0", here).code, errc::no_devices);
    EXPECT_THAT(why_no_devices(here), AllOf(HasSubstr("mlx5_0, mlx5_1"), HasSubstr("ibverbs-providers")));
}

TEST(Machine, AnUnknownNameListsTheOthers) {
    const machine here{{"mlx5_0", "rxe0"}, true, {"mlx5_0"}};
    const error_info bad = not_found("mlx5_7", here);
    EXPECT_EQ(bad.code, errc::device_not_found);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("\"mlx5_7\" not found"), HasSubstr("there are: mlx5_0"),
                                Not(HasSubstr("ibverbs-providers"))));
    EXPECT_THAT(not_found("rxe0", here).text, HasSubstr("ibverbs-providers")) << "the kernel has that one";
}

} // namespace
} // namespace rocio::verbs
