#pragma once

#include "scripted_device.hpp"

#include <rocio/device/connection_manager.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

/// Calls of a connection_manager that a script answers or makes fail.
enum class cm_call : std::uint8_t {
    create_manager,
    create,
    listen,
    resolve_address,
    resolve_route,
    connect,
    establish,
    accept,
    reject,
    disconnect,
    numbers,
};
inline constexpr std::size_t cm_calls = 11;

/// A call as the connection manager got it.
struct cm_record {
    std::string what{}; ///< "connect", "destroy", …; "connect failed" when the script made it fail.
    cm_id id = cm_id::none;
    cm_endpoint from{}, to{};
    cm_offer offer{}; ///< Without its data.
    std::vector<std::byte> data{};
    int backlog = 0;
};

/// `bytes` with zeros up to `size`, as a message of the InfiniBand connection manager carries them.
cm_private_data padded(std::span<const std::byte> bytes, std::size_t size);

/// Plays rdma_cm for the devices of one test. Connections between listeners and connections of the devices
/// it serves run by themselves, with messages padded as the real ones; what comes from elsewhere, or goes
/// wrong, is for the script to say. Each manager it makes has an eventfd of its own.
///
/// Rules of the seam that are broken are written down: two threads inside one manager, an id destroyed twice
/// or used after its end, private data beyond their limit.
///
/// Everything a script calls may be called from any thread.
class scripted_cm : public std::enable_shared_from_this<scripted_cm> {
  public:
    static std::shared_ptr<scripted_cm> make() { return std::make_shared<scripted_cm>(); }

    /// The device gives managers of this rdma_cm from now on; it is reached at `address`.
    void serve(scripted_device& dev, const gid& address);

    // The script.
    /// From now on this call is followed by these events, for its own id where they name none, instead of
    /// what would come of it; none: silence.
    void answer(cm_call call, std::vector<cm_event> events);
    void answer(cm_call call, cm_event_kind kind) { answer(call, {cm_event{.kind = kind}}); }
    void be_silent_after(cm_call call) { answer(call, std::vector<cm_event>{}); }
    /// The k-th call from now (1: the next) fails.
    void fail(cm_call call, const error_info& error, std::size_t k = 1);
    /// Called before the call is looked at, without any lock.
    void before(cm_call call, std::function<void()> hook);
    /// What numbers() gives for connections whose other end is the script.
    void impose(const cm_numbers& n);
    /// disconnect() is followed by time_wait_exit too.
    void set_time_wait(bool on);
    void set_path_mtu(mtu m);
    /// next_event() and destroy() take their time, so that others could come in between.
    void be_slow(bool on);
    /// An event out of the blue, for a living id or for one that is gone.
    void raise(const cm_event& event);
    void raise(cm_id id, cm_event_kind kind) { raise(cm_event{.kind = kind, .id = id}); }
    /// Somebody elsewhere asks the newest listener for a connection.
    cm_id request(std::span<const std::byte> data = {}, std::size_t size = cm_private_data::most_at_connect);

    // What happened.
    std::vector<cm_record> calls() const;
    std::vector<std::string> log() const; ///< The names alone.
    std::size_t count(const std::string& what) const;
    cm_record last(const std::string& what) const;
    /// The id made last, by create() or for a request.
    cm_id newest() const;
    std::size_t live_ids() const;
    std::size_t live_managers() const;
    std::size_t untaken_events() const;
    /// Rules of the seam that were broken; empty is right.
    std::vector<std::string> violations() const;

  private:
    class manager;

    struct end {
        manager* owner = nullptr;
        bool listens = false, asks = false, connected = false, was_connected = false;
        bool gone = false; ///< Its other end has given up.
        cm_endpoint local{}, peer{};
        cm_id other = cm_id::none; ///< The other end, when it is ours too.
        qpn queue_pair{}, peer_queue_pair{};
        psn first{}; ///< The PSN we chose for the other.
        std::size_t waiting = 0, backlog = 0;
    };
    struct failure {
        std::size_t after = 0;
        error_info error{};
    };

    // With the mutex held.
    error_info enter(cm_call call, cm_record record);
    void push(cm_id to, cm_event event);
    void push_after(cm_call call, cm_id id, const std::function<void()>& otherwise);
    cm_id make_end(manager& owner);
    end* find(cm_id id, const char* what);
    end* other_of(const end& e);
    std::pair<cm_id, end*> listener_at(const cm_endpoint& where);
    void deliver_request(cm_id from, std::span<const std::byte> data);
    void part(end& e);

    mutable std::mutex mutex_;
    std::map<cm_id, end> ends_;
    std::map<cm_id, manager*> owners_; ///< Of every id there ever was; null when the manager is gone.
    std::vector<manager*> managers_;
    std::map<cm_call, std::vector<cm_event>> answers_;
    std::array<failure, cm_calls> failures_{};
    std::array<std::function<void()>, cm_calls> hooks_{};
    std::vector<cm_record> calls_;
    std::vector<std::string> violations_;
    std::optional<cm_numbers> imposed_;
    mtu path_mtu_ = mtu::b1024;
    bool time_wait_ = false, slow_ = false;
    std::uint64_t last_id_ = 0;
    std::uint16_t last_port_ = 40000;
    std::uint32_t last_psn_ = 0x100;
};

} // namespace rocio::test
