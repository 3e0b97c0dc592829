#pragma once

#include <rocio/c/roce_wrapper.h>
#include <rocio/io/polling_policy.hpp>
#include <rocio/ring/ring_transceiver.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rocio::capi {

/// What cpu_roce_create_transceiver() was told, checked.
struct transceiver_settings {
    std::string device;
    std::uint8_t port = 1;
    std::uint32_t peer_queue_pair = 0;
    std::string peer_ip;
    std::uint64_t peer_base = 0;
    std::uint32_t peer_rkey = 0;
    std::optional<gid> local_address{};
    ring_config ring{};
    polling_policy polling = polling_policy::spin();
    std::optional<unsigned> cpu{};
};

/// Behind the handle of the C interface: a ring with a context of its own, which the caller's monitor thread
/// runs.
class roce_transceiver {
  public:
    explicit roce_transceiver(transceiver_settings settings);
    ~roce_transceiver();

    const transceiver_settings& settings() const noexcept { return settings_; }
    bool setup();
    bool connect(std::uint32_t peer_queue_pair, const std::string& peer_ip, std::uint32_t rkey);
    void close();
    void monitor();
    bool set_local_ip(const std::string& text);
    bool set_option(const std::string& name, const std::string& value);
    void set_dispatch(cpu_roce_unified_dispatch_fn_t function, void* context);
    bool rx_poll(std::uint32_t& slot);
    bool tx_publish(std::uint32_t slot);
    void notify();

    /// Nothing before setup and after close. It keeps the ring's context alive too.
    std::shared_ptr<ring_transceiver> ring() const;
    std::string last_error() const;
    bool fail(const std::string& why);

  private:
    struct running {
        boost::asio::io_context context{1};
        std::unique_ptr<ring_transceiver> ring;
    };
    bool unified() const noexcept { return settings_.ring.mode == ring_mode::unified; }
    bool apply_environment();
    void dispatch_loop(running& it);
    void release_all();

    transceiver_settings settings_;
    cpu_roce_unified_dispatch_fn_t function_ = nullptr;
    void* function_context_ = nullptr;
    mutable std::mutex mutex_; ///< Guards what follows.
    std::shared_ptr<running> running_;
    bool connected_ = false;
    bool monitored_ = false;
    std::string last_error_;
    std::atomic<bool> closing_{false};
};

} // namespace rocio::capi
