#include "cm_fixture.hpp"

#include <rocio/open/open_device.hpp>

namespace rocio::test {
namespace {

TEST(CmConfig, DefaultsAreValid) {
    EXPECT_FALSE(validate(cm_config{}));
    EXPECT_FALSE(validate(cm_acceptor_config{}));
}

struct cm_deadline {
    const char* name;
    std::chrono::milliseconds cm_config::*field;
    std::chrono::milliseconds least;
};

class CmDeadline : public ::testing::TestWithParam<cm_deadline> {};

TEST_P(CmDeadline, HasBoundsThatTheErrorNames) {
    const auto with = [](std::chrono::milliseconds value) {
        cm_config config;
        config.*GetParam().field = value;
        return validate(config);
    };
    EXPECT_FALSE(with(GetParam().least));
    EXPECT_FALSE(with(1h));
    for (const auto bad : {GetParam().least - 1ms, -5000ms, std::chrono::milliseconds(1h) + 1ms}) {
        const auto error = with(bad);
        EXPECT_EQ(error.code, errc::invalid_argument);
        EXPECT_THAT(error.text, HasSubstr(GetParam().name));
        EXPECT_THAT(error.text, HasSubstr(std::to_string(bad.count())));
        EXPECT_THAT(error.text, HasSubstr("..3600000"));
    }
}

INSTANTIATE_TEST_SUITE_P(Fields, CmDeadline,
                         ::testing::Values(cm_deadline{"resolve_deadline", &cm_config::resolve_deadline, 1ms},
                                           cm_deadline{"connect_deadline", &cm_config::connect_deadline, 1ms},
                                           cm_deadline{"ready_deadline", &cm_config::ready_deadline, 1ms},
                                           cm_deadline{"total_deadline", &cm_config::total_deadline, 1ms},
                                           cm_deadline{"release_deadline", &cm_config::release_deadline, 1ms},
                                           cm_deadline{"time_wait_deadline", &cm_config::time_wait_deadline,
                                                       0ms}),
                         [](const auto& p) { return std::string(p.param.name); });

cm_config with_data(std::size_t size) {
    cm_config config;
    config.private_data.emplace(size);
    return config;
}

TEST(CmConfig, PrivateDataHaveTheRoomOfAnAnswer) {
    EXPECT_FALSE(validate(with_data(0)));
    EXPECT_FALSE(validate(with_data(196)));
    const auto e = validate(with_data(197));
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("private_data is 197 bytes, allowed are 0..196"));
}

TEST(CmConfig, AnAcceptorChecksItsOwnFieldsAndTheHandshakes) {
    cm_acceptor_config config;
    config.max_waiting = 0;
    EXPECT_THAT(validate(config).text, HasSubstr("max_waiting"));
    config = {};
    config.patience = 0ms;
    EXPECT_THAT(validate(config).text, HasSubstr("patience"));
    config = {};
    config.handshake.ready_deadline = 0ms;
    EXPECT_THAT(validate(config).text, HasSubstr("ready_deadline"));
    EXPECT_EQ(validate(config).code, errc::invalid_argument);
}

// ---- What the constructors say

class CmConstruction : public CmFixture {
  protected:
    template <class Make>
    error_info failure(Make make) {
        try {
            make();
            return {};
        } catch (const exception& e) {
            return {e.code(), e.what()};
        }
    }
};

TEST_F(CmConstruction, PrivateDataOfARequestHaveRoomFor56Bytes) {
    EXPECT_FALSE(failure([&] { cm_connector(*context, dev, nine(), with_data(56)); }));
    const auto e = failure([&] { cm_connector(*context, dev, nine(), with_data(57)); });
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("private_data is 57 bytes, allowed are 0..56 when connecting"));
    cm_acceptor_config listening;
    listening.handshake = with_data(196);
    EXPECT_FALSE(failure([&] { cm_acceptor(*context, dev, listening); }));
}

TEST_F(CmConstruction, ChecksTheConfigurationBeforeAnythingIsMade) {
    cm_config bad;
    bad.total_deadline = 0ms;
    EXPECT_EQ(failure([&] { cm_connector(*context, dev, nine(), bad); }).code, errc::invalid_argument);
    cm_acceptor_config listening;
    listening.handshake = bad;
    EXPECT_EQ(failure([&] { cm_acceptor(*context, dev, listening); }).code, errc::invalid_argument);
    EXPECT_THAT(cm->log(), IsEmpty());
}

TEST_F(CmConstruction, NeedsADevice) {
    EXPECT_EQ(failure([&] { cm_connector(*context, nullptr, nine()); }).code, errc::invalid_argument);
    EXPECT_EQ(failure([&] { cm_acceptor(*context, nullptr); }).code, errc::invalid_argument);
}

TEST_F(CmConstruction, TheSoftDeviceNamesWhatItHasInstead) {
    const std::shared_ptr<device> soft = open_device("soft:127.77.1.1");
    for (const auto& e : {failure([&] { cm_connector(*context, soft, nine()); }),
                          failure([&] { cm_acceptor(*context, soft); })}) {
        EXPECT_EQ(e.code, errc::not_supported);
        EXPECT_THAT(e.text, HasSubstr("soft:127.77.1.1"));
        EXPECT_THAT(e.text, HasSubstr("has no connection manager (rdma_cm): connect by the TCP rendezvous"));
    }
}

TEST_F(CmConstruction, AMissingModuleIsToldAsTheDeviceTellsIt) {
    cm->fail(cm_call::create_manager, system_error(ENODEV, "modprobe rdma_ucm"));
    const auto e = failure([&] { cm_connector(*context, dev, nine()); });
    EXPECT_EQ(e.code, boost::system::errc::no_such_device);
    EXPECT_EQ(e.text, "modprobe rdma_ucm");
}

TEST_F(CmConstruction, AnAddressInUseIsToldAndLeavesNothing) {
    cm_acceptor first(*context, dev);
    cm_acceptor_config same;
    same.endpoint = first.local_endpoint();
    const auto e = failure([&] { cm_acceptor(*context, dev, same); });
    EXPECT_EQ(e.code, boost::system::errc::address_in_use);
    EXPECT_EQ(cm->live_ids(), 1U);
    EXPECT_EQ(cm->live_managers(), 1U);
}

TEST_F(CmConstruction, AnUnusedObjectLeavesNothing) {
    { cm_connector unused(*context, dev, nine()); }
    expect_no_ids();
    { cm_acceptor unused(*context, dev); }
    expect_no_ids();
    EXPECT_EQ(context->poll(), 0U) << "nothing was left to the context";
}

TEST_F(CmConstruction, ListensWhereItSays) {
    cm_acceptor_config config;
    config.endpoint = parse_endpoint("10.0.0.1:4711");
    config.max_waiting = 5000;
    cm_acceptor acceptor(*context, dev, config);
    EXPECT_EQ(acceptor.local_endpoint(), config.endpoint);
    EXPECT_EQ(cm->last("listen").from.address, *gid::parse("10.0.0.1"));
    EXPECT_EQ(cm->last("listen").from.port, 4711);
    EXPECT_EQ(cm->last("listen").backlog, 1024);
    cm_acceptor any(*context, dev);
    EXPECT_NE(any.local_endpoint().port(), 0);
    EXPECT_TRUE(any.local_endpoint().address().is_unspecified());
}

TEST_F(CmConstruction, AScopeOfALinkLocalAddressIsKept) {
    cm_acceptor_config config;
    config.endpoint = {asio::ip::make_address("fe80::1%7"), 4711};
    cm_acceptor acceptor(*context, dev, config);
    EXPECT_EQ(cm->last("listen").from.scope, 7U);
    EXPECT_EQ(acceptor.local_endpoint(), config.endpoint);
}

} // namespace
} // namespace rocio::test
