#pragma once

#include "verbs/device_core.hpp"
#include "verbs/work_request_chain.hpp"

#include <rocio/device/device_queue_pair.hpp>

#include <atomic>
#include <memory>

namespace rocio::verbs {

class verbs_queue_pair final : public device_queue_pair {
  public:
    static error_info make(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                           std::unique_ptr<device_queue_pair>& out);
    ~verbs_queue_pair() override;

    qpn number() const noexcept override { return qpn{handle_->qp_num & qpn::max}; }
    /// As far as it was brought here, or error once a failed completion or an event told so: asking the
    /// device is a system call.
    queue_pair_state state() const noexcept override { return state_; }

    error_info to_init(const init_attributes& attributes) override;
    error_info to_ready_to_receive(const connect_attributes& attributes) override;
    error_info to_ready_to_send(const connect_attributes& attributes) override;
    error_info to_error() override;

    post_outcome post_send(std::span<const send_request> requests) noexcept override;
    post_outcome post_receive(std::span<const receive_request> requests) noexcept override;
    device_queue_pair_capacity capacity() const noexcept override { return capacity_; }

    void note_failure() noexcept { state_ = queue_pair_state::error; }
    ibv_qp* handle() const noexcept { return handle_.get(); }

  private:
    verbs_queue_pair(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                     queue_pair_handle handle, const ibv_qp_cap& given, std::uint32_t max_message);

    error_info need_state(queue_pair_state needed, const char* step) const;
    int modify(queue_pair_change change) noexcept;
    errc check(const send_request& request) const noexcept;
    static errc check(const receive_request&) noexcept { return errc::success; }
    template <class Request, class Chain, class Call>
    post_outcome post_one(const Request& request, Chain& chain, Call call) noexcept;
    template <class Request, class Chain, class Call>
    post_outcome post(std::span<const Request> requests, Chain& chain, Call call) noexcept;

    std::shared_ptr<device_core> core_; // outlives the handle
    queue_pair_type type_;
    queue_pair_handle handle_;
    device_queue_pair_capacity capacity_;
    std::uint32_t max_message_;
    std::uint8_t port_;
    std::uint32_t gid_index_ = 0;
    std::atomic<queue_pair_state> state_{queue_pair_state::reset};
    send_chain sends_, one_send_{1};
    receive_chain receives_, one_receive_{1};
};

} // namespace rocio::verbs
