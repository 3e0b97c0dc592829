#include "http_content.hpp"

#include "http_fields.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include <zlib.h>

namespace rocio::detail {

namespace {

constexpr int gzip_window = 15 + 16; // the largest window, in gzip's frame
constexpr int memory_level = 8;      // zlib's own default

/// One deflation, which needs one call because the output has room for the worst case.
class deflation {
  public:
    explicit deflation(int level) {
        if (::deflateInit2(&stream_, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) !=
            Z_OK)
            throw std::bad_alloc();
    }
    deflation(const deflation&) = delete;
    deflation& operator=(const deflation&) = delete;
    ~deflation() { ::deflateEnd(&stream_); }

    std::string operator()(std::string text) {
        std::string packed(::deflateBound(&stream_, static_cast<uLong>(text.size())), '\0');
        stream_.next_in = reinterpret_cast<Bytef*>(text.data());
        stream_.avail_in = static_cast<uInt>(text.size());
        stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
        stream_.avail_out = static_cast<uInt>(packed.size());
        if (::deflate(&stream_, Z_FINISH) != Z_STREAM_END) throw std::bad_alloc();
        packed.resize(stream_.total_out);
        return packed;
    }

  private:
    ::z_stream stream_{};
};

std::string tag_of(std::string_view text) {
    std::array<char, 64> tag{};
    const int n = std::snprintf(tag.data(), tag.size(), "\"%zx-%zx\"", std::hash<std::string_view>{}(text),
                                text.size());
    return {tag.data(), static_cast<std::size_t>(n)};
}

/// 0.5 of ";q=0.5" as 500; 1000 where there is none; 0 where it is no number.
int quality_of(std::string_view parameters) {
    for (const auto parameter : split(parameters, ';')) {
        if (parameter.size() < 2 || lower(parameter.substr(0, 2)) != "q=") continue;
        const auto digits = parameter.substr(2);
        if (digits.empty() || digits.size() > 5 || (digits[0] != '0' && digits[0] != '1')) return 0;
        if (digits.size() > 1 && digits[1] != '.') return 0;
        int value = 1000 * (digits[0] - '0');
        int weight = 100;
        for (const char digit : digits.substr(std::min<std::size_t>(2, digits.size()))) {
            if (digit < '0' || digit > '9') return 0;
            value += weight * (digit - '0');
            weight /= 10;
        }
        return std::min(value, 1000);
    }
    return 1000;
}

} // namespace

http_content::http_content(std::string text, int gzip_level)
    : text_(std::move(text)), gzip_level_(gzip_level) {}

const std::string& http_content::packed() const {
    std::call_once(packed_once_, [this] { packed_ = deflation(gzip_level_)(text_); });
    return packed_;
}

const std::string& http_content::tag() const {
    std::call_once(tag_once_, [this] { tag_ = tag_of(text_); });
    return tag_;
}

bool prefers_gzip(std::string_view accept_encoding) {
    std::optional<int> gzip;
    std::optional<int> identity;
    std::optional<int> any;
    for (const auto item : split(accept_encoding, ',')) {
        const auto end = std::min(item.find(';'), item.size());
        const auto coding = lower(trimmed(item.substr(0, end)));
        const int quality = quality_of(item.substr(end));
        if (coding == "gzip" || coding == "x-gzip") gzip = quality;
        if (coding == "identity") identity = quality;
        if (coding == "*") any = quality;
    }
    const int wish = gzip.value_or(any.value_or(0));
    return wish > 0 && wish >= identity.value_or(0);
}

bool names_tag(std::string_view if_none_match, std::string_view tag) {
    for (auto candidate : split(if_none_match, ',')) {
        if (candidate == "*") return true;
        if (candidate.starts_with("W/")) candidate.remove_prefix(2); // weak comparison
        if (candidate == tag) return true;
    }
    return false;
}

} // namespace rocio::detail
