#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rocio::detail {

class event_feed;

/// Of a request what an answer depends on, whatever library has read it. Absent fields are empty.
struct http_question {
    std::string method = "GET";
    std::string target{};
    std::string host{};
    std::string authorization{};
    std::string accept_encoding{};
    std::string if_none_match{};
};

/// What goes back, whatever library carries it.
struct http_answer {
    unsigned status = 200;
    std::string body{};
    std::vector<std::pair<std::string, std::string>>
        fields{}; ///< With Content-Type, without those of framing.
    /// Not null: the body is endless, and comes from here.
    std::shared_ptr<event_feed> events{};
};

} // namespace rocio::detail
