#pragma once

#include "connect/control_strand.hpp"

#include <rocio/device/device.hpp>

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <memory>
#include <unordered_map>

namespace rocio::detail {

/// Who gets the events of an id. Called on the channel's strand.
class cm_event_target {
  public:
    virtual void on_event(const cm_event& event) = 0;

  protected:
    ~cm_event_target() = default;
};

/// An event channel of rdma_cm in the io_context. Everything runs on its strand, so that no id is destroyed
/// while an event is being fetched. An event finds its owner through a table: one that comes late, for
/// something that is gone, finds nobody.
class cm_channel : public std::enable_shared_from_this<cm_channel> {
  public:
    /// Throws rocio::exception.
    cm_channel(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev);

    const control_strand& strand() const noexcept { return strand_; }
    const std::shared_ptr<device>& dev() const noexcept { return device_; }
    connection_manager& manager() noexcept { return *manager_; }

    void attach(cm_id id, const std::weak_ptr<cm_event_target>& target) { targets_[id] = target; }
    /// The id and what it was doing end here.
    void destroy(cm_id id) noexcept;

    /// Events are fetched while one of these lives; what came before is delivered at once, so that nobody
    /// acts on what is no longer so. On the strand.
    class attendance {
      public:
        explicit attendance(const std::shared_ptr<cm_channel>& channel);
        ~attendance();
        attendance(const attendance&) = delete;
        attendance& operator=(const attendance&) = delete;

      private:
        std::shared_ptr<cm_channel> channel_;
    };

  private:
    static task<void> fetch(std::shared_ptr<cm_channel> self);
    void take_events();
    void deliver(const cm_event& event);

    control_strand strand_;
    std::shared_ptr<device> device_;
    std::unique_ptr<connection_manager> manager_;
    asio::posix::basic_stream_descriptor<control_strand> descriptor_; ///< A copy: closing it is Asio's.
    std::unordered_map<cm_id, std::weak_ptr<cm_event_target>> targets_;
    std::size_t attending_ = 0;
    bool fetching_ = false;
};

/// Nobody else uses the channel any more, so its ids may be destroyed on any thread.
inline bool is_last_owner(const std::shared_ptr<cm_channel>& channel) noexcept {
    if (channel.use_count() != 1) return false;
    // Counting up and down again puts what the others did before what comes now; use_count() alone does not.
    const auto ordered = channel; // NOLINT(performance-unnecessary-copy-initialization)
    return true;
}

} // namespace rocio::detail
