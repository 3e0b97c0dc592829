#include <rocio/io/busy_poll_thread.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sched.h>

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

namespace {

error_info pin(std::thread& thread, unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    const int e =
        cpu < CPU_SETSIZE ? ::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) : EINVAL;
    if (e == 0) return {};
    return {errc::invalid_argument, "cannot pin the thread to CPU " + std::to_string(cpu) + ": " +
                                        std::strerror(e) + " (this machine has CPUs 0 to " +
                                        std::to_string(std::thread::hardware_concurrency() - 1) + ")"};
}

error_info prioritise(std::thread& thread, int priority) {
    sched_param parameters{};
    parameters.sched_priority = priority;
    const int e = ::pthread_setschedparam(thread.native_handle(), SCHED_FIFO, &parameters);
    if (e == 0) return {};
    return {errc::invalid_argument, "cannot give the thread real-time priority " + std::to_string(priority) +
                                        ": " + std::strerror(e) +
                                        " (1 to 99; needs CAP_SYS_NICE or RLIMIT_RTPRIO)"};
}

} // namespace

busy_poll_thread::busy_poll_thread(const busy_poll_thread_config& config)
    : impl_(std::make_unique<implementation>(config.policy)) {
    auto& i = *impl_;
    completion_engine::of(i.context).set_name(config.name);
    i.thread = std::thread([&i] {
        try {
            i.context.run();
        } catch (...) {
            i.failure = std::current_exception();
        }
    });
    ::pthread_setname_np(i.thread.native_handle(), config.name.substr(0, 15).c_str());
    error_info e;
    if (config.cpu) e = pin(i.thread, *config.cpu);
    if (!e && config.realtime_priority) e = prioritise(i.thread, *config.realtime_priority);
    if (!e) return;
    stop();
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
