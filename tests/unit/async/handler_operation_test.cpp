#include <rocio/async/cancellation.hpp>
#include <rocio/async/operation.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace rocio::async {
namespace {

class text_operation : public operation<std::string> {
  protected:
    using operation::operation;
    ~text_operation() = default;
};

class handler_operation_test : public ::testing::Test {
  protected:
    asio::io_context context, elsewhere;
    operation_memory memory;

    template <class Handler>
    text_operation* make(Handler handler) {
        using executor = asio::io_context::executor_type;
        return handler_operation<text_operation, Handler, executor>::make(
            std::move(handler), context.get_executor(), context, memory);
    }
};

TEST_F(handler_operation_test, calls_its_handler_directly_on_its_own_context) {
    std::string got;
    error_code code;
    auto* op = make([&, owned = std::make_unique<int>(1)](error_code ec, std::string s) {
        code = ec;
        got = std::move(s);
    });
    op->set(errc::queue_full, "result");
    op->complete();
    EXPECT_EQ(got, "result");
    EXPECT_EQ(code, errc::queue_full);
}

TEST_F(handler_operation_test, frees_its_memory_before_the_handler_runs) {
    const void* address = nullptr;
    const void* next_address = nullptr;
    auto handler = [&](error_code, std::string) {
        auto* next = make([&](error_code, std::string) {});
        next_address = next;
        next->destroy();
    };
    struct same_size { // as large as the handler below, so that it gets the same block
        decltype(handler)* f;
        void operator()(error_code ec, std::string s) const { (*f)(ec, std::move(s)); }
    };
    auto* op = make(same_size{&handler});
    address = op;
    op->complete();
    EXPECT_EQ(address, next_address);
}

TEST_F(handler_operation_test, destroys_its_handler_without_calling_it) {
    auto witness = std::make_shared<int>();
    std::weak_ptr<int> watch = witness;
    auto* op = make([w = std::move(witness)](error_code, std::string) { ADD_FAILURE(); });
    EXPECT_FALSE(watch.expired());
    op->destroy();
    EXPECT_TRUE(watch.expired());
}

TEST_F(handler_operation_test, goes_through_the_handlers_executor) {
    bool called = false;
    auto* op = make(asio::bind_executor(elsewhere.get_executor(),
                                        [&](error_code, std::string s) { called = s == "over there"; }));
    op->set({}, "over there");
    op->complete();
    EXPECT_FALSE(called);
    elsewhere.run();
    EXPECT_TRUE(called);
}

TEST_F(handler_operation_test, keeps_the_handlers_context_busy_until_it_is_called) {
    auto* op = make(asio::bind_executor(elsewhere.get_executor(), [](error_code, std::string) {}));
    EXPECT_EQ(elsewhere.poll(), 0U);
    EXPECT_FALSE(elsewhere.stopped());
    op->complete();
    elsewhere.run();
    EXPECT_TRUE(elsewhere.stopped());
}

TEST_F(handler_operation_test, lets_the_handlers_context_go_when_it_is_destroyed) {
    auto* op = make(asio::bind_executor(elsewhere.get_executor(), [](error_code, std::string) {}));
    op->destroy();
    elsewhere.run();
    EXPECT_TRUE(elsewhere.stopped());
}

class completing_operation : public operation<int> {
  public:
    void before_upcall() noexcept { std::get<1>(result_) *= 2; }

  protected:
    using operation::operation;
    ~completing_operation() = default;
};

TEST_F(handler_operation_test, completes_its_results_just_before_the_call) {
    int got = 0;
    auto handler = [&](error_code, int n) { got = n; };
    using made = handler_operation<completing_operation, decltype(handler), asio::io_context::executor_type>;
    auto* op = made::make(std::move(handler), context.get_executor(), context, memory);
    op->set({}, 21);
    op->complete();
    EXPECT_EQ(got, 42);
}

struct cancellable {
    std::vector<const void*> keys;
    std::vector<asio::cancellation_type> types;
    void cancel(const void* key, asio::cancellation_type type) {
        keys.push_back(key);
        types.push_back(type);
    }
};

TEST_F(handler_operation_test, is_named_to_its_cancellation_by_a_key_of_its_own) {
    asio::cancellation_signal one, two;
    auto target = std::make_shared<cancellable>();
    auto* first = make([](error_code, std::string) {});
    auto* second = make([](error_code, std::string) {});
    connect_slot(one.slot(), target, *first);
    connect_slot(two.slot(), target, *second);
    EXPECT_NE(first->cancellation_key, second->cancellation_key);
    two.emit(asio::cancellation_type::total);
    one.emit(asio::cancellation_type::none);
    ASSERT_EQ(target->keys.size(), 1U);
    EXPECT_EQ(target->keys[0], second->cancellation_key);
    EXPECT_EQ(target->types[0], asio::cancellation_type::total);
    target.reset();
    one.emit(asio::cancellation_type::all); // nobody is left to tell
    first->destroy();
    second->destroy();
}

TEST_F(handler_operation_test, needs_no_slot) {
    auto target = std::make_shared<cancellable>();
    auto* op = make([](error_code, std::string) {});
    connect_slot(asio::cancellation_slot(), target, *op);
    EXPECT_EQ(op->cancellation_key, nullptr);
    op->destroy();
}

} // namespace
} // namespace rocio::async
