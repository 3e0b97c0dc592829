#include <rocio/types/error.hpp>

#include <boost/system/errc.hpp>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

namespace {

using namespace rocio;

/// Every enumerator with its place in the conditions, written out: F connection_failed, T timed_out,
/// C bad_configuration, R refused; ! is_fatal.
struct row {
    errc value;
    std::string_view classes;
};
constexpr row rows[] = {
    {errc::success, ""},
    {errc::local_length_error, "F!"},
    {errc::local_operation_error, "F!"},
    {errc::local_protection_error, "F!"},
    {errc::work_request_flushed, "F!"},
    {errc::bad_response, "F!"},
    {errc::remote_invalid_request, "F!"},
    {errc::remote_access_error, "F!"},
    {errc::remote_operation_error, "F!"},
    {errc::retry_exceeded, "FT!"},
    {errc::rnr_retry_exceeded, "FT!"},
    {errc::invalid_state, ""},
    {errc::queue_full, ""},
    {errc::message_too_long, "C"},
    {errc::inline_too_long, "C"},
    {errc::not_in_region, "C"},
    {errc::invalid_argument, "C"},
    {errc::limit_exceeded, "C"},
    {errc::registration_failed, "C"},
    {errc::region_too_large, "C"},
    {errc::not_supported, "C"},
    {errc::no_devices, "C"},
    {errc::device_not_found, "C"},
    {errc::invalid_device_name, "C"},
    {errc::address_in_use, "C"},
    {errc::address_in_use_by_kernel, "C"},
    {errc::address_not_available, "C"},
    {errc::device_bound, "C"},
    {errc::device_fatal, "F!"},
    {errc::port_down, ""},
    {errc::verbs_not_built, "C"},
    {errc::no_usable_gid, "C"},
    {errc::invalid_gid_index, "C"},
    {errc::path_mtu_too_large, "C"},
    {errc::unsupported_context, "C"},
    {errc::handshake_timed_out, "T!"},
    {errc::handshake_malformed, "!"},
    {errc::version_mismatch, "R!"},
    {errc::geometry_mismatch, "R!"},
    {errc::path_mtu_mismatch, "R!"},
    {errc::invalid_peer_parameters, "R!"},
    {errc::refused_by_peer, "R!"},
    {errc::peer_lost, "F!"},
    {errc::peer_closed, "F!"},
    {errc::not_connected, ""},
    {errc::already_connected, ""},
    {errc::stopped, "!"},
    {errc::unified_mode, ""},
};

std::string classes_of(const error_code& code) {
    std::string text;
    if (code == condition::connection_failed) text += 'F';
    if (code == condition::timed_out) text += 'T';
    if (code == condition::bad_configuration) text += 'C';
    if (code == condition::refused) text += 'R';
    if (is_fatal(code)) text += '!';
    return text;
}

TEST(errc, the_rows_above_are_all_enumerators_in_order) {
    for (std::size_t i = 0; i < std::size(rows); ++i) EXPECT_EQ(static_cast<std::size_t>(rows[i].value), i);
    EXPECT_EQ(rows[std::size(rows) - 1].value, errc::unified_mode);
}

TEST(errc, every_enumerator_has_a_message_of_its_own) {
    std::set<std::string> messages;
    for (const auto& r : rows) {
        const auto message = error_code(r.value).message();
        EXPECT_GE(message.size(), 7U) << message;
        EXPECT_EQ(message.find("unknown"), std::string::npos) << message;
        messages.insert(message);
    }
    EXPECT_EQ(messages.size(), std::size(rows));
}

TEST(errc, values_outside_the_enumeration_have_a_message_with_their_number) {
    for (const int value : {-1, static_cast<int>(std::size(rows)), 9999}) {
        EXPECT_EQ(error_code(value, error_category()).message(),
                  "unknown rocio error " + std::to_string(value));
        EXPECT_FALSE(is_fatal(error_code(value, error_category())));
    }
}

TEST(errc, every_enumerator_belongs_to_its_conditions) {
    for (const auto& r : rows) EXPECT_EQ(classes_of(r.value), r.classes) << error_code(r.value).message();
}

TEST(errc, success_is_no_error) {
    EXPECT_FALSE(error_code(errc::success));
    EXPECT_FALSE(is_fatal(errc::success));
    EXPECT_TRUE(error_code(errc::queue_full));
}

TEST(errc, converts_and_compares_as_an_error_code) {
    const error_code code = errc::queue_full;
    EXPECT_EQ(code, errc::queue_full);
    EXPECT_NE(code, errc::stopped);
    EXPECT_EQ(code.category(), error_category());
    EXPECT_STREQ(error_category().name(), "rocio");
    EXPECT_NE(code, error_code(static_cast<int>(errc::queue_full), boost::system::generic_category()));
}

TEST(condition, has_a_category_and_messages_of_its_own) {
    EXPECT_STREQ(condition_category().name(), "rocio.condition");
    std::set<std::string> messages;
    for (const auto c : {condition::connection_failed, condition::timed_out, condition::bad_configuration,
                         condition::refused}) {
        messages.insert(make_error_condition(c).message());
    }
    EXPECT_EQ(messages.size(), 4U);
    EXPECT_EQ(error_condition(77, condition_category()).message(), "unknown rocio condition 77");
}

TEST(condition, a_condition_outside_the_enumeration_matches_nothing) {
    for (const auto& r : rows) EXPECT_NE(error_code(r.value), error_condition(77, condition_category()));
}

/// The rendezvous reports what its TCP connection reports.
TEST(condition, the_systems_codes_belong_too) {
    using boost::system::errc::errc_t;
    const auto classes = [](errc_t e) { return classes_of(error_code(e, boost::system::system_category())); };
    EXPECT_EQ(classes(errc_t::connection_reset), "F!");
    EXPECT_EQ(classes(errc_t::connection_aborted), "F!");
    EXPECT_EQ(classes(errc_t::broken_pipe), "F!");
    EXPECT_EQ(classes(errc_t::timed_out), "T!");
    EXPECT_EQ(classes(errc_t::connection_refused), "R!");
    EXPECT_EQ(classes(errc_t::operation_canceled), "");
    EXPECT_EQ(classes(errc_t::invalid_argument), "");
}

TEST(error_info, without_text_gives_the_codes_message) {
    const error_info info{errc::queue_full, {}};
    EXPECT_TRUE(static_cast<bool>(info));
    EXPECT_EQ(info.message(), error_code(errc::queue_full).message());
}

TEST(error_info, with_text_gives_the_text) {
    EXPECT_EQ((error_info{errc::queue_full, "send queue holds 128"}).message(), "send queue holds 128");
    EXPECT_FALSE(static_cast<bool>(error_info{}));
}

TEST(exception, what_is_the_sentence_and_code_is_kept) {
    try {
        throw_if({errc::path_mtu_too_large, "path MTU 4096 asked, eth0 carries 1024"});
        FAIL() << "nothing thrown";
    } catch (const boost::system::system_error& e) {
        EXPECT_STREQ(e.what(), "path MTU 4096 asked, eth0 carries 1024");
        EXPECT_EQ(e.code(), errc::path_mtu_too_large);
    }
}

TEST(exception, survives_copying) {
    const exception original{{errc::stopped, "stopped by the user"}};
    const exception copy = original;
    EXPECT_STREQ(copy.what(), "stopped by the user");
    EXPECT_EQ(copy.code(), errc::stopped);
}

TEST(exception, nothing_is_thrown_without_an_error) {
    EXPECT_NO_THROW(throw_if(error_info{}));
    EXPECT_NO_THROW(throw_if({errc::success, "all is well"}));
}

} // namespace
