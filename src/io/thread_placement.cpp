#include <rocio/io/machine_limits.hpp>
#include <rocio/io/thread_placement.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <sched.h>
#include <unistd.h>

namespace rocio {

namespace {

error_info pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    // 0 stands for the calling thread, not for the process; the next call is alike.
    if (cpu < CPU_SETSIZE && ::sched_setaffinity(0, sizeof set, &set) == 0) return {};
    const int e = cpu < CPU_SETSIZE ? errno : EINVAL;
    return {errc::invalid_argument,
            "cannot pin the thread to CPU " + std::to_string(cpu) + ": " + std::strerror(e) +
                " (this machine has CPUs 0 to " + std::to_string(::sysconf(_SC_NPROCESSORS_CONF) - 1) +
                "; Cpus_allowed_list in /proc/self/status are those this process may use)"};
}

std::string why_no_priority(int priority, int error) {
    if (error != EPERM) return std::string(std::strerror(error));
    const auto limits = read_machine_limits();
    // Where the limit would allow it, it is the control group's real-time budget (cgroup v1).
    if (limits.may_set_priority || !limits.priority || priority <= *limits.priority)
        return "refused, though RLIMIT_RTPRIO allows it: see cpu.rt_runtime_us of the control group";
    return "RLIMIT_RTPRIO is " + std::to_string(*limits.priority) +
           ": raise it (ulimit -r, LimitRTPRIO= in a systemd unit, rtprio in /etc/security/limits.conf), or "
           "give the program CAP_SYS_NICE";
}

error_info prioritise(int priority) {
    const auto asked = "cannot give the thread real-time priority " + std::to_string(priority) + ": ";
    if (priority < 1 || priority > 99) return {errc::invalid_argument, asked + "allowed is 1 to 99"};
    sched_param parameters{};
    parameters.sched_priority = priority;
    if (::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0) return {};
    return {errc::invalid_argument, asked + why_no_priority(priority, errno)};
}

} // namespace

error_info place_this_thread(const thread_placement& placement) {
    if (placement.cpu) {
        if (auto e = pin(*placement.cpu)) return e;
    }
    if (placement.realtime_priority) return prioritise(*placement.realtime_priority);
    return {};
}

} // namespace rocio
