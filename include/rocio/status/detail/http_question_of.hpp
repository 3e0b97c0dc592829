#pragma once

#include <rocio/status/detail/http_exchange.hpp>

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <string>

namespace rocio::detail {

/// All fields of one name as one list (RFC 9110, 5.3).
template <class Fields>
std::string list_of(const Fields& fields, boost::beast::http::field name) {
    std::string list;
    const auto range = fields.equal_range(name);
    for (auto it = range.first; it != range.second; ++it) {
        if (!list.empty()) list += ", ";
        list.append(it->value().data(), it->value().size());
    }
    return list;
}

template <class Fields>
http_question question_of(const boost::beast::http::header<true, Fields>& request) {
    using boost::beast::http::field;
    const auto text = [](auto view) { return std::string(view.data(), view.size()); };
    http_question question;
    question.method = text(request.method_string());
    question.target = text(request.target());
    question.host = list_of(request, field::host);
    question.authorization = list_of(request, field::authorization);
    question.accept_encoding = list_of(request, field::accept_encoding);
    question.if_none_match = list_of(request, field::if_none_match);
    return question;
}

/// `head`: of an answer to HEAD, whose length stands for a body that is not sent.
inline boost::beast::http::response<boost::beast::http::string_body>
response_of(http_answer answer, bool head, unsigned version, bool keep_alive) {
    boost::beast::http::response<boost::beast::http::string_body> response;
    response.version(version);
    response.result(answer.status);
    for (const auto& [name, value] : answer.fields) response.set(name, value);
    response.keep_alive(keep_alive);
    if (answer.events) {
        response.chunked(version >= 11);
        return response;
    }
    const bool has_length = answer.status != 304 && answer.status != 204;
    if (has_length && !(head && answer.body.empty())) response.content_length(answer.body.size());
    if (!head) response.body() = std::move(answer.body);
    return response;
}

} // namespace rocio::detail
