#include "bench/both_ends.hpp"

#include "bench/two_threads.hpp"

#include <future>

namespace rocio::tools {

namespace {

using endpoint = boost::asio::ip::tcp::endpoint;

/// Where the listening end waits, or that it never will.
class meeting_place {
  public:
    void tell(const endpoint& where) {
        if (!told_.exchange(true)) place_.set_value(where);
    }
    void never() {
        if (!told_.exchange(true))
            place_.set_exception(std::make_exception_ptr(exception({errc::peer_lost, "nobody listens"})));
    }
    endpoint wait() { return place_.get_future().get(); }

  private:
    std::atomic<bool> told_{false};
    std::promise<endpoint> place_{};
};

} // namespace

measurement run_both_ends(const pair_bench_config& common, const std::array<std::string, 2>& devices,
                          const bench_cpus& cpus, end_runner first, end_runner second) {
    meeting_place place;
    std::atomic<bool> abandoned{false};
    auto listening = common;
    listening.device = devices[1];
    listening.listen = endpoint(boost::asio::ip::address_v4::loopback(), 0);
    listening.listening = [&place](const endpoint& where) { place.tell(where); };
    listening.abandoned = &abandoned;
    listening.progress = nullptr;
    auto dialling = common;
    dialling.device = devices[0];
    return on_two_threads(
        cpus,
        [&] {
            dialling.peer = place.wait();
            return first(dialling);
        },
        [&] { return second(listening); },
        [&] {
            abandoned = true;
            place.never();
        });
}

} // namespace rocio::tools
