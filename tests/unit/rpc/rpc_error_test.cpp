#include <rocio/rpc/rpc_error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rocio::rpc {
namespace {

using ::testing::HasSubstr;

TEST(rpc_error_test, carries_the_status_of_the_wire_as_its_value) {
    const error_code ec(7, status_category());
    EXPECT_EQ(ec.value(), 7);
    EXPECT_THAT(ec.message(), HasSubstr("status 7"));
    EXPECT_EQ(error_code(-1, status_category()), status::unknown_function);
}

TEST(rpc_error_test, has_the_numbers_that_peers_see) {
    EXPECT_EQ(static_cast<int>(status::ok), 0);
    EXPECT_EQ(static_cast<int>(status::unknown_function), -1);
    EXPECT_EQ(static_cast<int>(status::bad_argument_length), -2);
    EXPECT_EQ(static_cast<int>(status::result_too_large), -3);
    EXPECT_EQ(static_cast<int>(status::handler_failed), -4);
}

TEST(rpc_error_test, names_its_categories) {
    EXPECT_STREQ(status_category().name(), "rocio.rpc.status");
    EXPECT_STREQ(error_category().name(), "rocio.rpc");
    EXPECT_NE(status_category(), error_category());
    EXPECT_NE(error_category(), rocio::error_category());
}

TEST(rpc_error_test, has_a_sentence_of_its_own_for_every_code) {
    std::set<std::string> sentences;
    for (const auto s : {status::ok, status::unknown_function, status::bad_argument_length,
                         status::result_too_large, status::handler_failed}) {
        sentences.insert(make_error_code(s).message());
    }
    EXPECT_EQ(sentences.size(), 5U);
    for (const auto e : {errc::deadline_exceeded, errc::bad_response, errc::request_too_long}) {
        sentences.insert(make_error_code(e).message());
    }
    EXPECT_EQ(sentences.size(), 8U);
    EXPECT_EQ(make_error_code(errc::success).message(), "success");
}

TEST(rpc_error_test, names_what_it_does_not_know_by_its_number) {
    EXPECT_THAT(error_code(-77, status_category()).message(), HasSubstr("-77"));
    EXPECT_THAT(error_code(99, error_category()).message(), HasSubstr("99"));
}

TEST(rpc_error_test, says_that_trying_again_does_not_help_where_it_does_not) {
    EXPECT_EQ(make_error_code(status::unknown_function), condition::bad_configuration);
    EXPECT_EQ(make_error_code(status::bad_argument_length), condition::bad_configuration);
    EXPECT_EQ(make_error_code(status::result_too_large), condition::bad_configuration);
    EXPECT_EQ(make_error_code(errc::request_too_long), condition::bad_configuration);
    EXPECT_NE(make_error_code(status::handler_failed), condition::bad_configuration);
    EXPECT_NE(error_code(3, status_category()), condition::bad_configuration);
    EXPECT_NE(make_error_code(errc::deadline_exceeded), condition::bad_configuration);
    EXPECT_NE(make_error_code(errc::bad_response), condition::bad_configuration);
}

TEST(rpc_error_test, never_asks_for_a_new_connection) {
    for (const auto e : {errc::deadline_exceeded, errc::bad_response, errc::request_too_long}) {
        EXPECT_FALSE(is_fatal(e)) << make_error_code(e).message();
    }
    for (int s = -5; s <= 5; ++s) EXPECT_FALSE(is_fatal(error_code(s, status_category()))) << s;
}

TEST(rpc_error_test, keeps_equal_numbers_of_different_categories_apart) {
    EXPECT_NE(make_error_code(errc::deadline_exceeded), error_code(1, status_category()));
    EXPECT_NE(make_error_code(errc::deadline_exceeded), make_error_code(rocio::errc::local_length_error));
    EXPECT_EQ(make_error_code(errc::bad_response),
              make_error_code(errc::bad_response).default_error_condition());
}

TEST(rpc_error_test, lets_a_handler_throw_its_status) {
    try {
        throw status_error(12);
    } catch (const std::exception& e) {
        EXPECT_EQ(dynamic_cast<const status_error&>(e).value(), 12);
        EXPECT_THAT(e.what(), HasSubstr("status"));
    }
}

} // namespace
} // namespace rocio::rpc
