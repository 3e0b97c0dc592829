#include "cudaq/latency_report.hpp"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

namespace rocio::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ptp_round_trip took(std::uint32_t shot, std::uint32_t ns) {
    return {shot, {100, 500}, {100, 500 + ns}};
}

std::string svg_of(const std::vector<double>& ns, const std::string& title = "Round trip") {
    std::ostringstream out;
    write_latency_svg(out, ns, title);
    return out.str();
}

/// Every `name` element of the picture; fails if it is no well-formed XML.
std::vector<boost::property_tree::ptree> elements(const std::string& svg, const std::string& name) {
    boost::property_tree::ptree tree;
    std::istringstream in(svg);
    boost::property_tree::read_xml(in, tree);
    std::vector<boost::property_tree::ptree> found;
    const auto collect = [&](const auto& self, const boost::property_tree::ptree& node) -> void {
        for (const auto& [key, child] : node) {
            if (key == name) found.push_back(child);
            self(self, child);
        }
    };
    collect(collect, tree.get_child("svg"));
    return found;
}

double attribute(const boost::property_tree::ptree& element, const std::string& name) {
    return element.get<double>("<xmlattr>." + name);
}

std::vector<std::string> texts(const std::string& svg) {
    std::vector<std::string> result;
    for (const auto& t : elements(svg, "text")) result.push_back(t.data());
    return result;
}

TEST(LatencyText, HasTheOriginalsLinesAndQuantiles) {
    std::vector<ptp_round_trip> trips;
    for (std::uint32_t i = 1; i <= 1000; ++i) trips.push_back(took(i, 3000 + i));
    EXPECT_EQ(latency_text(trips), "\n=== PTP Round-Trip Latency ===\n"
                                   "  Samples:  1000\n"
                                   "  Min:      3001 ns\n"
                                   "  Max:      4000 ns\n"
                                   "  Avg:      3500.5 ns\n"
                                   "  Median:   3500 ns\n"
                                   "  99 %:     3990 ns\n"
                                   "  99.9 %:   3999 ns\n");
}

TEST(LatencyText, SaysThatNothingWasTimed) {
    EXPECT_EQ(latency_text({}), "\n  PTP latency: no valid timestamps found\n");
}

TEST(LatencyCsv, HasTheOriginalsColumns) {
    std::ostringstream out;
    write_latency_csv(out, std::vector{took(7, 3589), ptp_round_trip{8, {1, 999'999'999}, {2, 9}}});
    EXPECT_EQ(out.str(), "shot,send_sec,send_nsec,recv_sec,recv_nsec,delta_ns\n"
                         "7,100,500,100,4089,3589\n"
                         "8,1,999999999,2,9,10\n");
}

TEST(LatencySvg, IsAWellFormedPictureWithLabelledAxes) {
    const auto svg = svg_of({3100, 3200, 3250, 3300, 3900});
    EXPECT_THAT(svg, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
    const auto all = texts(svg);
    EXPECT_THAT(all, testing::Contains("Round trip"));
    EXPECT_THAT(all, testing::Contains("round trip (ns)"));
    EXPECT_THAT(all, testing::Contains("messages"));
    EXPECT_THAT(all, testing::Contains("median 3250"));
    EXPECT_THAT(all, testing::Contains("5 messages, least 3100, longest 3900 ns"));
}

TEST(LatencySvg, ItsBarsCountEverySample) {
    std::vector<double> ns(1000);
    std::iota(ns.begin(), ns.end(), 3000.0);
    double bars = 0, tallest = 0;
    const auto rects = elements(svg_of(ns), "rect");
    for (const auto& r : rects) {
        if (r.get<std::string>("<xmlattr>.width") == "100%") continue;
        ++bars;
        tallest = std::max(tallest, attribute(r, "height"));
        EXPECT_GE(attribute(r, "x"), 70);
        EXPECT_LE(attribute(r, "x") + attribute(r, "width"), 780);
        EXPECT_LE(attribute(r, "y") + attribute(r, "height"), 400.01);
        EXPECT_GE(attribute(r, "y"), 91.9);
    }
    EXPECT_GE(bars, 20);
    EXPECT_LE(bars, 48);
    EXPECT_GT(tallest, 100);
}

TEST(LatencySvg, HeightsAreInProportion) {
    std::vector<double> ns(30, 3100.0);
    ns.insert(ns.end(), 10, 3900.0);
    std::vector<double> heights;
    for (const auto& r : elements(svg_of(ns), "rect"))
        if (r.get<std::string>("<xmlattr>.width") != "100%") heights.push_back(attribute(r, "height"));
    ASSERT_EQ(heights.size(), 2U);
    EXPECT_NEAR(heights[0] / heights[1], 3.0, 0.01);
}

TEST(LatencySvg, AStragglerIsSaidAndDoesNotFlattenTheRest) {
    std::vector<double> ns;
    for (int i = 0; i < 1000; ++i) ns.push_back(3000 + i % 100);
    ns.push_back(900'000);
    const auto svg = svg_of(ns);
    EXPECT_THAT(texts(svg), testing::Contains(HasSubstr("; 1 beyond the right edge")));
    EXPECT_GE(elements(svg, "rect").size(), 10U);
}

TEST(LatencySvg, ChoosesTheUnit) {
    EXPECT_THAT(texts(svg_of({30e3, 40e3})), testing::Contains("round trip (µs)"));
    EXPECT_THAT(texts(svg_of({30e6, 40e6})), testing::Contains("round trip (ms)"));
}

TEST(LatencySvg, DrawsOneSampleEqualSamplesAndNegativeOnes) {
    for (const auto& ns :
         {std::vector{5.0}, std::vector(7, 3000.0), std::vector{-20.0, 10.0}, std::vector{0.0}}) {
        const auto svg = svg_of(ns);
        EXPECT_THAT(svg, Not(HasSubstr("nan")));
        EXPECT_THAT(svg, Not(HasSubstr("inf")));
        EXPECT_GE(elements(svg, "rect").size(), 2U);
    }
}

TEST(LatencySvg, SaysThatNothingWasTimedAndEscapesTheTitle) {
    EXPECT_THAT(texts(svg_of({}, "a < b & c")), ElementsAre("a < b & c", "no round trip was timed"));
}

} // namespace
} // namespace rocio::tools
