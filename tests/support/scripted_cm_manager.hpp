#pragma once

#include "scripted_connection_manager.hpp"
#include "scripted_state.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace rocio::test {

// Reasons of a REJ message, IBA 12.6.7.2.
inline constexpr std::uint32_t reject_timed_out = 4;
inline constexpr std::uint32_t reject_invalid_service_id = 8;
inline constexpr std::uint32_t reject_consumer = 28;

inline cm_event rejection(std::uint32_t reason, std::span<const std::byte> data = {}) {
    cm_event out{.kind = cm_event_kind::rejected};
    out.reject_reason = reason;
    out.data = padded(data, cm_private_data::most_at_reject);
    return out;
}

/// One event channel.
class scripted_cm::manager final : public connection_manager {
  public:
    manager(std::shared_ptr<scripted_cm> cm, const gid& at) : address(at), cm_(std::move(cm)) {
        const std::lock_guard lock(cm_->mutex_);
        cm_->managers_.push_back(this);
    }
    ~manager() override;

    int event_fd() const noexcept override { return fd_.fd(); }
    bool next_event(cm_event& out) override;
    error_info create(cm_id& out) override;
    error_info listen(const cm_endpoint& where, int backlog, cm_id& out) override;
    error_info resolve_address(cm_id id, const cm_endpoint& from, const cm_endpoint& to,
                               std::chrono::milliseconds limit) override;
    error_info resolve_route(cm_id id, std::chrono::milliseconds limit) override;
    error_info connect(cm_id id, const cm_offer& offer) override;
    error_info establish(cm_id id) override;
    error_info accept(cm_id id, const cm_offer& offer) override;
    error_info reject(cm_id id, std::span<const std::byte> data) override;
    error_info disconnect(cm_id id) override;
    error_info numbers(cm_id id, cm_numbers& out) override;
    cm_endpoint local_endpoint(cm_id id) const override;
    cm_endpoint peer_endpoint(cm_id id) const override;
    std::size_t size() const noexcept override;
    void destroy(cm_id id) noexcept override;

    // With the mutex of the whole held.
    void push(const cm_event& event) {
        events.push_back(event);
        fd_.raise();
    }

    const gid address;
    std::deque<cm_event> events;

  private:
    /// Nobody else may be inside this manager meanwhile.
    class inside {
      public:
        explicit inside(manager& m, bool takes_its_time = false) : manager_(m) {
            if (m.busy_.exchange(true, std::memory_order_relaxed)) overlapped_ = true;
            for (int n = 0; takes_its_time && n < 3; ++n) std::this_thread::yield();
        }
        ~inside() {
            if (overlapped_) {
                const std::lock_guard lock(manager_.cm_->mutex_);
                manager_.cm_->violations_.emplace_back("two threads inside one connection manager");
            }
            manager_.busy_.store(false, std::memory_order_relaxed);
        }
        inside(const inside&) = delete;
        inside& operator=(const inside&) = delete;

      private:
        manager& manager_;
        bool overlapped_ = false;
    };

    void call_hook(cm_call call) const {
        std::unique_lock lock(cm_->mutex_);
        const auto hook = cm_->hooks_[static_cast<std::size_t>(call)];
        lock.unlock();
        if (hook) hook();
    }
    bool is_slow() const {
        const std::lock_guard lock(cm_->mutex_);
        return cm_->slow_;
    }
    void check_size(std::size_t size, std::size_t most, const char* call) const {
        if (size > most)
            cm_->violations_.push_back(std::to_string(size) + " bytes of private data at " + call);
    }

    std::shared_ptr<scripted_cm> cm_;
    script::event_counter fd_{true};
    std::atomic<bool> busy_{false};
};

} // namespace rocio::test
