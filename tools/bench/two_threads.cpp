#include "bench/two_threads.hpp"

#include "commands/stream_support.hpp"

#include <exception>
#include <mutex>
#include <thread>

namespace rocio::tools {

measurement on_two_threads(const bench_cpus& cpus, const std::function<measurement()>& first,
                           const std::function<measurement()>& second,
                           const std::function<void()>& on_failure) {
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&](unsigned cpu, const std::function<measurement()>& end, measurement& result) {
        try {
            pin_this_thread(cpu);
            result = end();
        } catch (...) {
            {
                const std::lock_guard held(mutex);
                if (!failure) failure = std::current_exception();
            }
            on_failure();
        }
    };
    measurement ours, theirs;
    std::thread other([&] { run(cpus.second, second, theirs); });
    std::thread one([&] { run(cpus.first, first, ours); });
    one.join();
    other.join();
    if (failure) std::rethrow_exception(failure);
    ours.use.cpu_seconds += theirs.use.cpu_seconds;
    return ours;
}

} // namespace rocio::tools
