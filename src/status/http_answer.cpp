#include "http_answer.hpp"

#include <rocio/status/json_values.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace rocio::detail {

namespace {

namespace json = boost::json;

/// A shorter body costs a packet in any case.
constexpr std::size_t least_packed = 1024;

class fitting {
  public:
    fitting(http_found found, const http_question& question, const status_routes_config& config)
        : found_(std::move(found)), question_(question), config_(config) {
        answer_.status = found_.status;
        answer_.fields = std::move(found_.fields);
    }

    http_answer operator()() {
        add_general_fields();
        add_origin_fields();
        if (found_.content) add_content();
        return std::move(answer_);
    }

  private:
    void add(std::string name, std::string value) {
        answer_.fields.emplace_back(std::move(name), std::move(value));
    }

    void add_general_fields() {
        add("Server", "rocio/" ROCIO_VERSION);
        add("Cache-Control", found_.may_be_kept ? "no-cache" : "no-store");
        add("X-Content-Type-Options", "nosniff");
    }

    void add_origin_fields() {
        const auto& allowed = config_.allow_origin;
        if (allowed.empty()) return;
        add("Access-Control-Allow-Origin", allowed);
        add("Access-Control-Expose-Headers", "ETag");
    }

    void add_content() {
        const auto& content = *found_.content;
        const bool packable = content.text().size() > least_packed;
        const bool packed = packable && prefers_gzip(question_.accept_encoding);
        add("Vary", "Accept-Encoding");
        if (found_.may_be_kept) {
            const auto tag = tag_of(content, packed);
            add("ETag", tag);
            if (names_tag(question_.if_none_match, tag)) {
                answer_.status = 304;
                return;
            }
        }
        add("Content-Type", std::string(found_.content_type));
        if (packed) add("Content-Encoding", "gzip");
        answer_.body = packed ? content.packed() : content.text();
    }

    /// A strong tag names bytes, and gzip's are others.
    static std::string tag_of(const http_content& content, bool packed) {
        auto tag = content.tag();
        if (packed) tag.insert(tag.size() - 1, "-gzip");
        return tag;
    }

    http_found found_;
    const http_question& question_;
    const status_routes_config& config_;
    http_answer answer_;
};

} // namespace

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

http_found found_content(std::shared_ptr<const http_content> content, std::string_view content_type) {
    return {.content = std::move(content), .content_type = content_type};
}

http_found found_text(std::string text, std::string_view content_type) {
    return found_content(std::make_shared<const http_content>(std::move(text)), content_type);
}

http_found error_found(unsigned status, std::string_view text) {
    auto found = found_text(json::serialize(json::object{{"error", json_text(text)}, {"status", status}}));
    found.status = status;
    return found;
}

http_answer fit(http_found found, const http_question& question, const status_routes_config& config) {
    return fitting(std::move(found), question, config)();
}

} // namespace rocio::detail
