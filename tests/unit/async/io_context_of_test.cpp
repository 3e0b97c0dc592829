#include <rocio/async/io_context_of.hpp>

#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace rocio::async {
namespace {

using direct = asio::io_context::executor_type;

class executor_of_a_context : public ::testing::Test {
  protected:
    asio::io_context context, other;
    direct plain = context.get_executor();
    asio::any_io_executor erased = plain;
};

TEST_F(executor_of_a_context, leads_to_its_context) {
    const auto tracked = asio::require(plain, asio::execution::outstanding_work.tracked);
    EXPECT_EQ(io_context_of(plain), &context);
    EXPECT_EQ(io_context_of(tracked), &context);
    EXPECT_EQ(io_context_of(erased), &context);
    EXPECT_EQ(io_context_of(asio::any_io_executor(tracked)), &context);
    EXPECT_EQ(io_context_of(asio::make_strand(plain)), &context);
    EXPECT_EQ(io_context_of(asio::make_strand(erased)), &context);
    EXPECT_EQ(io_context_of(asio::any_io_executor(asio::make_strand(plain))), &context);
    EXPECT_EQ(io_context_of(asio::any_io_executor(asio::make_strand(tracked))), &context);
    EXPECT_EQ(io_context_of(asio::any_io_executor(asio::make_strand(erased))), &context);
    EXPECT_EQ(io_context_of(asio::require(plain, asio::execution::blocking.never)), &context);
}

TEST_F(executor_of_a_context, with_a_default_token_leads_to_its_context) {
    using with_default = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    using typed_with_default = asio::use_awaitable_t<direct>::executor_with_default<direct>;
    EXPECT_EQ(io_context_of(with_default(erased)), &context);
    EXPECT_EQ(io_context_of(typed_with_default(plain)), &context);
    EXPECT_TRUE(is_executor_of(with_default(erased), context));
    EXPECT_TRUE(is_executor_of(typed_with_default(plain), context));
}

TEST_F(executor_of_a_context, is_told_from_others) {
    EXPECT_TRUE(is_executor_of(plain, context));
    EXPECT_TRUE(is_executor_of(erased, context));
    EXPECT_FALSE(is_executor_of(plain, other));
    EXPECT_FALSE(is_executor_of(erased, other));
    EXPECT_FALSE(is_executor_of(asio::make_strand(plain), context)) << "a strand must be entered";
    EXPECT_FALSE(is_executor_of(asio::any_io_executor(asio::make_strand(plain)), context));
    EXPECT_FALSE(is_executor_of(asio::system_executor(), context));
    EXPECT_FALSE(is_executor_of(asio::require(plain, asio::execution::blocking.never), context))
        << "it asks for never being called directly";
}

TEST(executor_of_another_context, leads_nowhere) {
    asio::thread_pool pool(1);
    EXPECT_EQ(io_context_of(pool.get_executor()), nullptr);
    EXPECT_EQ(io_context_of(asio::any_io_executor(pool.get_executor())), nullptr);
    EXPECT_EQ(io_context_of(asio::system_executor()), nullptr);
    EXPECT_EQ(io_context_of(asio::any_io_executor(asio::system_executor())), nullptr);
    EXPECT_EQ(io_context_of(asio::make_strand(pool)), nullptr);
    EXPECT_EQ(io_context_of(asio::any_io_executor()), nullptr);
}

} // namespace
} // namespace rocio::async
