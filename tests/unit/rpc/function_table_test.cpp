#include <rocio/rpc/function_table.hpp>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace rocio::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return a + b;
}

/// The sentence of the refusal, or "" if there was none.
template <class Add>
std::string refusal_of(Add add) {
    try {
        add();
        return {};
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), rocio::errc::invalid_argument);
        return e.what();
    }
}

const auto raw = [](std::span<const std::byte>, std::span<std::byte>) { return raw_reply{}; };

TEST(function_table_test, finds_a_function_by_the_hash_of_its_name) {
    function_table table;
    EXPECT_EQ(table.find("addThem"), nullptr);
    table.add<std::int64_t(std::int64_t, std::int64_t)>("addThem", sum);
    ASSERT_NE(table.find("addThem"), nullptr);
    EXPECT_EQ(table.find("addThem")->name(), "addThem");
    EXPECT_EQ(table.find(function_id(0x5a6c901eU)), table.find("addThem"));
    EXPECT_EQ(table.find("addthem"), nullptr);
}

TEST(function_table_test, derives_the_schema_of_a_typed_function) {
    function_table table;
    table.add<std::int64_t(std::int64_t, std::int64_t)>("addThem", sum);
    EXPECT_EQ(table.schema("addThem"), (schema_of<std::int64_t(std::int64_t, std::int64_t)>()));
    EXPECT_FALSE(table.schema("noop"));
}

TEST(function_table_test, keeps_a_raw_handlers_schema_if_there_is_one) {
    const auto schema = schema_of<void(std::int32_t)>();
    function_table table;
    table.add_raw("with", raw, schema).add_raw("without", raw);
    EXPECT_EQ(table.schema("with"), schema);
    EXPECT_FALSE(table.schema("without"));
}

TEST(function_table_test, takes_callables_of_every_kind) {
    function_table table;
    struct object {
        std::unique_ptr<int> owned = std::make_unique<int>(1); // move-only
        std::int32_t operator()(std::int32_t x) { return x + *owned; }
    };
    table.add<void()>("lambda", [] {})
        .add<std::int32_t(std::int32_t)>("object", object{})
        .add<std::int64_t(std::int64_t, std::int64_t)>("pointer", &sum)
        .add<void(const std::vector<float>&)>("const reference", [](const std::vector<float>&) {})
        .add<double(double)>("narrower", [](double x) { return static_cast<float>(x); })
        .add_raw("raw", raw)
        .add_raw("raw with header", [](const request_header&, std::span<const std::byte>,
                                       std::span<std::byte>) { return raw_reply{}; })
        .add_slot_handler("slots", [](std::span<const std::byte>, std::span<std::byte>) {});
    EXPECT_EQ(table.size(), 8U);
    for (const auto& f : table.snapshot()) EXPECT_NE(table.find(function_id(f.id)), nullptr) << f.name;
}

TEST(function_table_test, takes_slot_handlers_by_their_number_alone) {
    const auto handler = [](std::span<const std::byte>, std::span<std::byte>) {};
    function_table table;
    table.add_slot_handler(function_id(0x1001), "0x1001", handler);
    ASSERT_NE(table.find(function_id(0x1001)), nullptr);
    EXPECT_EQ(table.find(function_id(0x1001))->name(), "0x1001");
    EXPECT_EQ(table.find("0x1001"), nullptr) << "the name is no function's name";
    EXPECT_THAT(refusal_of([&] { table.add_slot_handler(function_id(0x1001), "again", handler); }),
                AllOf(HasSubstr("\"again\""), HasSubstr("\"0x1001\"")));
    EXPECT_THAT(refusal_of([&] { table.add_slot_handler(function_id(2), "", handler); }), HasSubstr("empty"));
    table.add_slot_handler(function_id("noop"), "0xa6ab766d", handler);
    EXPECT_THAT(refusal_of([&] { table.add<void()>("noop", [] {}); }), HasSubstr("\"0xa6ab766d\""));
    EXPECT_EQ(table.size(), 2U);
}

TEST(function_table_test, finds_all_of_many) {
    function_table table;
    for (int i = 0; i < 1000; ++i) table.add<void()>("function " + std::to_string(i), [] {});
    for (int i = 0; i < 1000; ++i) {
        const auto name = "function " + std::to_string(i);
        const auto* entry = table.find(std::string_view(name));
        ASSERT_NE(entry, nullptr) << name;
        EXPECT_EQ(entry->name(), name);
    }
    EXPECT_EQ(table.find("function 1000"), nullptr);
}

TEST(function_table_test, refuses_a_second_function_of_the_same_name) {
    function_table table;
    table.add<void()>("noop", [] {});
    EXPECT_THAT(refusal_of([&] { table.add_raw("noop", raw); }),
                HasSubstr("\"noop\": the table has it already"));
    EXPECT_EQ(table.size(), 1U);
}

TEST(function_table_test, refuses_a_name_whose_id_is_taken_and_says_by_whom) {
    // Two words with one FNV-1a: the collision is published with the hash.
    ASSERT_EQ(fnv1a("costarring"), fnv1a("liquid"));
    function_table table;
    table.add<void()>("costarring", [] {});
    EXPECT_THAT(refusal_of([&] { table.add<void()>("liquid", [] {}); }),
                AllOf(HasSubstr("\"liquid\""), HasSubstr("\"costarring\""), HasSubstr("rename")));
    EXPECT_EQ(table.find("liquid")->name(), "costarring");
}

TEST(function_table_test, refuses_an_empty_name) {
    function_table table;
    EXPECT_THAT(refusal_of([&] { table.add<void()>("", [] {}); }), HasSubstr("empty"));
}

TEST(function_table_test, refuses_a_schema_that_cannot_be) {
    auto schema = schema_of<void(std::int32_t)>();
    schema.args[0].size_bytes = 5;
    function_table table;
    EXPECT_THAT(refusal_of([&] { table.add_raw("odd", raw, schema); }),
                AllOf(HasSubstr("\"odd\""), HasSubstr("args[0].size_bytes is 5")));
    EXPECT_EQ(table.find("odd"), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(function_table_test, checks_a_signature_against_an_agreed_schema) {
    using signature = std::int64_t(std::int64_t, std::int64_t);
    function_table table;
    table.add<signature>("addThem", schema_of<signature>(), sum);
    EXPECT_EQ(table.size(), 1U);

    auto other = schema_of<signature>();
    other.args[1] = {type_id::int32, 4, 1};
    EXPECT_THAT(
        refusal_of([&] { table.add<signature>("addThose", other, sum); }),
        AllOf(HasSubstr("\"addThose\""), HasSubstr("args[1].type_id is INT64 (18), wanted is INT32 (17)")));
    EXPECT_EQ(table.find("addThose"), nullptr);
}

TEST(function_table_test, knows_whether_a_handler_runs_elsewhere) {
    boost::asio::io_context context;
    function_table table;
    table.add<void()>("here", [] {});
    EXPECT_FALSE(table.hands_over());
    table.add<void()>("there", [] {}, {context.get_executor()});
    EXPECT_TRUE(table.hands_over());
    EXPECT_FALSE(table.find("here")->executor());
    EXPECT_TRUE(table.find("there")->executor());
}

TEST(function_table_test, shows_its_functions_in_the_order_of_adding) {
    function_table table;
    table.add<void()>("b", [] {}).add<void()>("a", [] {});
    std::vector<std::string> names;
    for (const auto& f : table.snapshot()) {
        names.push_back(f.name);
        EXPECT_EQ(f.id, fnv1a(f.name));
        EXPECT_EQ(f.calls, 0U);
    }
    EXPECT_THAT(names, ElementsAre("b", "a"));
}

TEST(function_table_test, keeps_its_functions_when_it_is_moved) {
    function_table table;
    table.add<void()>("noop", [] {});
    const auto* entry = table.find("noop");
    function_table moved(std::move(table));
    EXPECT_EQ(moved.find("noop"), entry);
    function_table assigned;
    assigned = std::move(moved);
    EXPECT_EQ(assigned.find("noop"), entry);
}

TEST(function_table_test, destroys_its_callables) {
    auto witness = std::make_shared<int>();
    std::weak_ptr<int> watch = witness;
    {
        function_table table;
        table.add<void()>("noop", [w = std::move(witness)] {});
        EXPECT_FALSE(watch.expired());
    }
    EXPECT_TRUE(watch.expired());
}

} // namespace
} // namespace rocio::rpc
