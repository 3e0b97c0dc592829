#include "capi/roce_transceiver.hpp"

#include <rocio/io/completion_engine.hpp>
#include <rocio/open/open_device.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <sched.h>

namespace rocio::capi {

namespace {

struct option_name {
    const char* name;
    const char* environment;
};
constexpr option_name options[] = {
    {"rearm", "ROCIO_CPU_ROCE_REARM"}, {"polling", "ROCIO_CPU_ROCE_POLLING"}, {"cpu", "ROCIO_CPU_ROCE_CPU"}};

std::optional<gid> ipv4(const std::string& text) {
    const auto address = gid::parse(text);
    return address && address->is_v4_mapped() && text.find(':') == std::string::npos ? address : std::nullopt;
}

void pin_this_thread(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        std::fprintf(stderr, "cpu_roce: cannot pin the monitor to CPU %u: error %d\n", cpu, errno);
}

} // namespace

roce_transceiver::roce_transceiver(transceiver_settings settings) : settings_(std::move(settings)) {}

roce_transceiver::~roce_transceiver() {
    close();
}

bool roce_transceiver::fail(const std::string& why) {
    std::fprintf(stderr, "cpu_roce: %s\n", why.c_str());
    const std::lock_guard held(mutex_);
    last_error_ = why;
    return false;
}

std::string roce_transceiver::last_error() const {
    const std::lock_guard held(mutex_);
    return last_error_;
}

std::shared_ptr<ring_transceiver> roce_transceiver::ring() const {
    const std::lock_guard held(mutex_);
    if (!running_) return nullptr;
    return {running_, running_->ring.get()};
}

bool roce_transceiver::set_local_ip(const std::string& text) {
    if (text.empty()) {
        settings_.local_address.reset();
        return true;
    }
    const auto address = ipv4(text);
    if (!address) return fail("local IP '" + text + "' is no IPv4 address; the former one stays");
    settings_.local_address = address;
    return true;
}

bool roce_transceiver::set_option(const std::string& name, const std::string& value) {
    const auto refuse = [&](const char* allowed) {
        return fail("option " + name + " is '" + value + "', allowed are " + allowed);
    };
    if (name == "rearm") {
        if (value != "publish" && value != "release") return refuse("publish, release");
        settings_.ring.rearm = value == "publish" ? ring_rearm::on_publish : ring_rearm::on_release;
        return true;
    }
    if (name == "polling") {
        if (value == "spin")
            settings_.polling = polling_policy::spin();
        else if (value == "hybrid")
            settings_.polling = polling_policy::hybrid();
        else if (value == "park")
            settings_.polling = polling_policy::park();
        else
            return refuse("spin, hybrid, park");
        return true;
    }
    if (name != "cpu") return fail("there is no option '" + name + "': rearm, polling, cpu");
    if (value.empty()) {
        settings_.cpu.reset();
        return true;
    }
    unsigned cpu = 0;
    const auto end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, cpu);
    if (parsed.ec != std::errc() || parsed.ptr != end || cpu >= CPU_SETSIZE)
        return refuse("the numbers of CPUs");
    settings_.cpu = cpu;
    return true;
}

bool roce_transceiver::apply_environment() {
    return std::ranges::all_of(options, [this](const option_name& option) {
        const char* value = std::getenv(option.environment);
        return value == nullptr || set_option(option.name, value);
    });
}

void roce_transceiver::set_dispatch(cpu_roce_unified_dispatch_fn_t function, void* context) {
    if (!unified()) return;
    function_ = function;
    function_context_ = context;
}

bool roce_transceiver::setup() {
    {
        const std::lock_guard held(mutex_);
        if (running_) return true;
    }
    if (!apply_environment()) return false;
    auto config = settings_.ring;
    config.port = settings_.port;
    config.local_address = settings_.local_address;
    if (auto e = open_device(settings_.device, config.device)) return fail(e.message());
    auto made = std::make_shared<running>();
    completion_engine::of(made->context).set_policy(settings_.polling);
    made->ring = std::make_unique<ring_transceiver>(made->context, config);
    error_info e;
    made->ring->setup(e);
    if (e) return fail(e.message());
    const std::lock_guard held(mutex_);
    running_ = std::move(made);
    closing_ = false;
    return true;
}

bool roce_transceiver::connect(std::uint32_t peer_queue_pair, const std::string& peer_ip,
                               std::uint32_t rkey) {
    {
        const std::lock_guard held(mutex_);
        if (connected_) return true;
    }
    const auto ring = this->ring();
    if (!ring) return fail("connect before setup");
    peer_parameters peer;
    const auto address = ipv4(peer_ip);
    error_info e;
    if (!address) {
        e = {errc::invalid_peer_parameters, "peer IP '" + peer_ip + "' is no IPv4 address"};
    } else {
        peer.address = *address;
        peer.queue_pair = qpn(peer_queue_pair & 0xFFFFFF);
        peer.region.address = settings_.peer_base;
        peer.region.key = rocio::rkey{rkey};
        peer.path_mtu = ring->local().path_mtu;
        ring->connect(peer, e);
    }
    if (e) {
        release_all();
        return fail(e.message());
    }
    const std::lock_guard held(mutex_);
    connected_ = true;
    return true;
}

void roce_transceiver::release_all() {
    std::shared_ptr<running> gone;
    const std::lock_guard held(mutex_);
    gone.swap(running_);
    connected_ = false;
}

void roce_transceiver::close() {
    std::shared_ptr<running> it;
    bool monitored = false;
    {
        const std::lock_guard held(mutex_);
        closing_ = true;
        it = running_;
        monitored = monitored_;
    }
    if (!it) return;
    it->ring->stop();
    it->context.stop();
    // A monitor that runs gives it up itself, when it is out of the context.
    if (!monitored) release_all();
}

void roce_transceiver::dispatch_loop(running& it) {
    while (!closing_) {
        std::uint32_t slot = 0;
        if (!it.ring->rx_poll(slot)) {
            if (!it.ring->is_connected()) return;
            continue;
        }
        const auto rx = it.ring->rx_slot(slot);
        const auto tx = it.ring->tx_slot(slot);
        const auto length =
            std::min(function_(function_context_, rx.data(), tx.data(), rx.size()), tx.size());
        if (length != 0) (void)it.ring->tx_publish(slot, length);
    }
}

void roce_transceiver::monitor() {
    std::shared_ptr<running> it;
    {
        const std::lock_guard held(mutex_);
        if (!connected_ || closing_) {
            std::fprintf(stderr, "cpu_roce: blocking_monitor without a connection\n");
            return;
        }
        if (monitored_ || (unified() && function_ == nullptr)) return;
        monitored_ = true;
        it = running_;
    }
    if (settings_.cpu) pin_this_thread(*settings_.cpu);
    if (unified())
        dispatch_loop(*it);
    else {
        // A connection that breaks leaves the context without work: the monitor stays until close, as callers
        // expect.
        const auto work = boost::asio::make_work_guard(it->context);
        it->context.run();
    }
    if (const auto e = it->ring->last_error(); e && e.code != errc::stopped) (void)fail(e.message());
    const std::lock_guard held(mutex_);
    monitored_ = false;
    if (closing_) {
        running_.reset();
        connected_ = false;
    }
}

bool roce_transceiver::rx_poll(std::uint32_t& slot) {
    const auto ring = this->ring();
    return ring && ring->rx_poll(slot);
}

bool roce_transceiver::tx_publish(std::uint32_t slot) {
    const auto ring = this->ring();
    return ring && ring->tx_publish(slot);
}

void roce_transceiver::notify() {
    if (const auto ring = this->ring()) ring->notify();
}

} // namespace rocio::capi
