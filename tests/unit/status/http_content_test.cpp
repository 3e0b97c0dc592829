#include "status/http_content.hpp"
#include "status/http_fields.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include <zlib.h>

namespace {

using namespace rocio::detail;

std::string unpacked(std::string packed) {
    ::z_stream stream{};
    EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK); // gzip's frame alone, with its checksum
    std::string text(1 << 20, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(stream.total_out);
    ::inflateEnd(&stream);
    return text;
}

TEST(http_content, packed_is_the_text_in_gzips_format) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "counter " + std::to_string(i * 7919) + "\n";
    for (const int level : {http_content::fast, http_content::small}) {
        const http_content content(text, level);
        EXPECT_LT(content.packed().size(), text.size() / 2);
        EXPECT_EQ(unpacked(content.packed()), text);
    }
    EXPECT_EQ(unpacked(http_content("").packed()), "");
}

TEST(http_content, has_the_same_tag_as_long_as_it_is_the_same) {
    EXPECT_EQ(http_content("abc").tag(), http_content("abc").tag());
    EXPECT_NE(http_content("abc").tag(), http_content("abd").tag());
    EXPECT_NE(http_content("abc").tag(), http_content("abca").tag());
}

TEST(http_content, is_packed_for_who_wants_gzip_at_least_as_much_as_nothing) {
    for (const auto* field :
         {"gzip", "GZIP", "x-gzip", "br, gzip", "gzip;q=0.1", "gzip ; q=0.5", "deflate, gzip;q=1.0, *;q=0.5",
          "*", "*;q=0.3", "gzip;q=0.001", "identity;q=0.5, gzip;q=0.5", "gzip, identity;q=0"}) {
        EXPECT_TRUE(prefers_gzip(field)) << field;
    }
    for (const auto* field :
         {"", "br", "identity", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "gzipp",
          "identity, gzip;q=0.5", "gzip;q=x", "gzip;q=", "gzip;q=2", "gzip;q=0.0001"}) {
        EXPECT_FALSE(prefers_gzip(field)) << field;
    }
}

TEST(http_content, is_known_to_who_names_its_tag) {
    for (const auto* field : {"\"a\"", "*", "\"b\", \"a\"", "W/\"a\"", "\"b\",W/\"a\""})
        EXPECT_TRUE(names_tag(field, "\"a\"")) << field;
    for (const auto* field : {"", "\"b\"", "a", "\"a", "\"aa\"", "w/\"a\""})
        EXPECT_FALSE(names_tag(field, "\"a\"")) << field;
}

TEST(http_fields, of_a_list_come_without_blanks_and_empty_items) {
    EXPECT_THAT(split(" a ,b,, c d\t,", ','), testing::ElementsAre("a", "b", "c d"));
    EXPECT_THAT(split("", ','), testing::IsEmpty());
    EXPECT_EQ(lower("Az-09\xC4"), "az-09\xC4");
    EXPECT_EQ(trimmed(" \t"), "");
}

} // namespace
