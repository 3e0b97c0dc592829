#include <rocio/connect/parse_endpoint.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using ::testing::HasSubstr;

TEST(ParseEndpoint, TakesIpv4WithPort) {
    EXPECT_EQ(parse_endpoint("10.0.0.2:4000"), tcp::endpoint(make_address("10.0.0.2"), 4000));
}

TEST(ParseEndpoint, TakesBracketedIpv6WithPort) {
    EXPECT_EQ(parse_endpoint("[fd00::2]:65535"), tcp::endpoint(make_address("fd00::2"), 65535));
}

class ParseEndpointRefuses : public ::testing::TestWithParam<const char*> {};

TEST_P(ParseEndpointRefuses, LeavesTheResultAloneAndSaysWhatIsAllowed) {
    const tcp::endpoint before(make_address("1.2.3.4"), 5);
    auto out = before;
    const auto error = parse_endpoint(GetParam(), out);
    EXPECT_EQ(error.code, errc::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("10.0.0.2:4000"));
    EXPECT_EQ(out, before);
    EXPECT_THROW((void)parse_endpoint(GetParam()), exception);
}

INSTANTIATE_TEST_SUITE_P(Texts, ParseEndpointRefuses,
                         ::testing::Values("", ":", "10.0.0.2", "10.0.0.2:", "10.0.0.2:0", "10.0.0.2:65536",
                                           "10.0.0.2:-1", "10.0.0.2:+1", "10.0.0.2:40 00", "10.0.0.2:4000x",
                                           "localhost:4000", "fpga.example:4000", "10.0.0:4000",
                                           "10.0.0.256:4000", "fd00::2:4000", "[fd00::2]", "[fd00::2:4000",
                                           "[10.0.0.2]:4000", "[]:1"));

} // namespace
} // namespace rocio::test
