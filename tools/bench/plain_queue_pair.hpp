#pragma once

#include "bench/pair_bench.hpp"

#include <rocio/io/connectable.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include <infiniband/verbs.h>

namespace rocio::tools {

class plain_end;

/// An object of libibverbs that is destroyed by `destroy`.
template <auto destroy>
struct verbs_deleter {
    template <class T>
    void operator()(T* object) const noexcept {
        destroy(object);
    }
};
template <class T, auto destroy>
using verbs_handle = std::unique_ptr<T, verbs_deleter<destroy>>;

/// One queue pair of libibverbs with work requests made once. Connected by rocio's rendezvous, because
/// somebody has to carry the numbers; what happens between connect and close is plain libibverbs.
///
/// Thread safety: the members of connectable are called by the context's thread, the rest by the one that
/// measures.
class plain_queue_pair final : public connectable {
  public:
    /// `end` must outlive it.
    plain_queue_pair(plain_end& end, std::uint32_t index, boost::asio::any_io_executor executor);
    ~plain_queue_pair() override;

    /// Posts `n` messages, 1 to the configured batch, in one chain: numbered from `number`, signalled, inline
    /// if they are short enough. Throws rocio::exception.
    void post(std::uint32_t n, std::uint32_t number);
    void post_receive();
    void to_error() noexcept;
    std::uint32_t number() const noexcept { return pair_ ? pair_->qp_num : 0; }
    std::uint32_t index() const noexcept { return index_; }

    boost::asio::any_io_executor control_executor() override { return executor_; }
    error_info prepare(local_parameters& out) override;
    error_info establish(const peer_parameters& peer) override;
    void connected(std::unique_ptr<liveness> watch) override;
    void disconnected(const error_info& cause) override;

  private:
    error_info create();
    error_info to_init();
    void make_requests(const remote_region& target);

    plain_end& end_;
    const std::uint32_t index_;
    const boost::asio::any_io_executor executor_;
    local_parameters local_{};
    verbs_handle<ibv_qp, ibv_destroy_qp> pair_{};
    ibv_sge send_part_{}, receive_part_{};
    std::vector<ibv_send_wr> sends_{};
    ibv_recv_wr receive_{};
};

} // namespace rocio::tools
