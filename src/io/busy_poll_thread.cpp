#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/io/thread_placement.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include <pthread.h>

namespace rocio {

busy_poll_context::busy_poll_context(polling_policy policy) : boost::asio::io_context(1) {
    set_policy(policy);
}

void busy_poll_context::set_policy(polling_policy policy) {
    completion_engine::of(*this).set_policy(policy);
}

struct busy_poll_thread::implementation {
    explicit implementation(polling_policy policy) : context(policy), work(context.get_executor()) {}

    busy_poll_context context;
    std::optional<boost::asio::executor_work_guard<busy_poll_context::executor_type>> work;
    std::exception_ptr failure;
    std::thread thread;
};

busy_poll_thread::busy_poll_thread(const busy_poll_thread_config& config)
    : impl_(std::make_unique<implementation>(config.policy)) {
    auto& i = *impl_;
    completion_engine::of(i.context).set_name(config.name);
    std::promise<error_info> placed;
    auto refusal = placed.get_future();
    i.thread = std::thread([&i, placement = thread_placement{config.cpu, config.realtime_priority},
                            placed = std::move(placed)]() mutable {
        const auto e = place_this_thread(placement);
        placed.set_value(e);
        if (e) return;
        try {
            i.context.run();
        } catch (...) {
            i.failure = std::current_exception();
        }
    });
    ::pthread_setname_np(i.thread.native_handle(), config.name.substr(0, 15).c_str());
    const auto e = refusal.get();
    if (!e) return;
    i.thread.join();
    throw_if(e);
}

busy_poll_thread::~busy_poll_thread() {
    stop();
    if (impl_->thread.joinable()) impl_->thread.join();
}

busy_poll_context& busy_poll_thread::context() noexcept {
    return impl_->context;
}

busy_poll_context::executor_type busy_poll_thread::get_executor() noexcept {
    return impl_->context.get_executor();
}

void busy_poll_thread::stop() noexcept {
    impl_->context.stop();
}

void busy_poll_thread::join() {
    impl_->work.reset();
    if (impl_->thread.joinable()) impl_->thread.join();
    if (impl_->failure) std::rethrow_exception(std::exchange(impl_->failure, nullptr));
}

} // namespace rocio
