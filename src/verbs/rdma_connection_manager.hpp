#pragma once

#include "verbs/device_core.hpp"

#include <rocio/device/connection_manager.hpp>

#include <memory>
#include <string_view>
#include <unordered_map>

#include <rdma/rdma_cma.h>

namespace rocio::verbs {

using event_channel_handle = std::unique_ptr<rdma_event_channel, destroy<&rdma_destroy_event_channel>>;
using cm_id_handle = std::unique_ptr<rdma_cm_id, destroy<&rdma_destroy_id>>;

/// rdma_cm behind the seam. The queue pairs are not rdma_cm's: it is given their numbers, and they move
/// through their states by themselves, so that they are like any other and min_rnr_timer is set.
class rdma_connection_manager final : public connection_manager {
  public:
    static error_info make(std::shared_ptr<device_core> core, std::unique_ptr<connection_manager>& out);
    ~rdma_connection_manager() override = default;

    int event_fd() const noexcept override { return channel_->fd; }
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
    std::size_t size() const noexcept override { return ids_.size(); }
    void destroy(cm_id id) noexcept override;

  private:
    struct connection {
        cm_id_handle id;
        /// What the peer asks for; what we allow is the lesser of it and the device's.
        std::uint8_t reads_in = 0, reads_out = 0;
    };

    explicit rdma_connection_manager(std::shared_ptr<device_core> core) : core_(std::move(core)) {}
    cm_id keep(rdma_cm_id* id);
    rdma_cm_id* find(cm_id id) const noexcept;
    bool take(const rdma_cm_event& event, cm_event& out);
    bool take_request(const rdma_cm_event& event, cm_event& out);
    bool is_ours(const rdma_cm_id& id) const noexcept;
    rdma_conn_param parameters(const connection& c, const cm_offer& offer) const noexcept;
    error_info failed(std::string_view call) const;
    error_info unknown() const;

    std::shared_ptr<device_core> core_;
    event_channel_handle channel_; ///< Outlives the ids.
    std::unordered_map<cm_id, connection> ids_;
    std::uint64_t last_ = 0;
};

} // namespace rocio::verbs
