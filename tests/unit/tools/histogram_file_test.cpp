#include "bench/histogram_file.hpp"

#include <rocio/types/error.hpp>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rocio::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<histogram_part> two_parts = {{"plain <UDP>", "half a round trip", {4, 5, 6}},
                                               {"rocio & others", "half a round trip", {6, 7, 8}}};

boost::property_tree::ptree parsed(const std::string& text) {
    boost::property_tree::ptree tree;
    std::istringstream in(text);
    boost::property_tree::read_xml(in, tree);
    return tree;
}

std::string page(const std::vector<histogram_part>& parts) {
    std::ostringstream out;
    write_histogram_page(out, "a < b & c", parts);
    return out.str();
}

std::string written(const std::string& ending, const std::vector<histogram_part>& parts) {
    const auto file = testing::TempDir() + "histogram" + ending;
    write_histogram_file(file, "title", parts);
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(file);
    return text;
}

TEST(HistogramFile, ThePageIsWellFormedAndHasAPictureAndARowOfEachPart) {
    const auto text = page(two_parts);
    EXPECT_THAT(text, testing::StartsWith("<!DOCTYPE html>\n"));
    const auto tree = parsed(text.substr(text.find('\n') + 1));
    const auto& body = tree.get_child("html.body");
    EXPECT_EQ(body.count("svg"), 2U);
    EXPECT_EQ(body.get<std::string>("h1"), "a < b & c");
    const auto& rows = body.get_child("table.tbody");
    ASSERT_EQ(rows.count("tr"), 2U);
    EXPECT_EQ(rows.begin()->second.get<std::string>("th"), "plain <UDP>");
}

TEST(HistogramFile, ThePageNeedsNothingElse) {
    const auto text = page(two_parts);
    for (const char* from_outside : {"<script", "<link", "src=", "href=", "@import", "url("})
        EXPECT_THAT(text, Not(HasSubstr(from_outside)));
}

TEST(HistogramFile, ThePageIsWellFormedWithoutAnySample) {
    const auto text = page({{"nothing", "round trip", {}}});
    EXPECT_NO_THROW(parsed(text.substr(text.find('\n') + 1)));
    EXPECT_THAT(text, HasSubstr("no round trip was timed"));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(HistogramFile, APictureShowsTheLastPartInItsUnit) {
    const auto text = written(".svg", two_parts);
    EXPECT_NO_THROW(parsed(text));
    EXPECT_THAT(text, HasSubstr("rocio &amp; others"));
    EXPECT_THAT(text, Not(HasSubstr("plain")));
    EXPECT_THAT(text, HasSubstr("half a round trip (ns)"));
    EXPECT_THAT(text, HasSubstr("median 7000"));
}

TEST(HistogramFile, TheEndingChoosesThePage) {
    EXPECT_THAT(written(".html", two_parts), HasSubstr("</html>"));
}

TEST(HistogramFile, RefusesAnotherEndingAndNamesAFileItCannotWrite) {
    EXPECT_FALSE(is_histogram_file("latency.png"));
    EXPECT_THROW(write_histogram_file("latency.png", "", two_parts), exception);
    try {
        write_histogram_file("/nowhere/latency.svg", "", two_parts);
        ADD_FAILURE() << "written";
    } catch (const exception& e) {
        EXPECT_THAT(e.what(), HasSubstr("/nowhere/latency.svg"));
    }
}

} // namespace
} // namespace rocio::tools
