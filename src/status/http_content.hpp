#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace rocio::detail {

/// The body of an answer, and what is made of it once, however many ask. Immutable; thread-safe.
class http_content {
  public:
    static constexpr int fast = 1; ///< For what is sent a few times.
    static constexpr int small = 9;

    explicit http_content(std::string text, int gzip_level = fast);

    const std::string& text() const noexcept { return text_; }
    /// In gzip's format (RFC 1952). Throws std::bad_alloc.
    const std::string& packed() const;
    /// A strong entity tag, in quotes.
    const std::string& tag() const;

  private:
    const std::string text_;
    const int gzip_level_;
    mutable std::once_flag packed_once_;
    mutable std::string packed_{};
    mutable std::once_flag tag_once_;
    mutable std::string tag_{};
};

/// Whether a client with this Accept-Encoding would rather have gzip than nothing (RFC 9110, 12.5.3).
bool prefers_gzip(std::string_view accept_encoding);

/// Whether an If-None-Match names `tag`, or anything (RFC 9110, 13.1.2).
bool names_tag(std::string_view if_none_match, std::string_view tag);

} // namespace rocio::detail
