#pragma once

#include "bench/pair_bench.hpp"

#include <rocio/io/connectable.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <infiniband/verbs.h>

namespace rocio::tools {

/// Sends and receives complete on one queue, as with rocio's own queue pair.
inline bool is_receive(const ibv_wc& found) noexcept {
    return (found.opcode & IBV_WC_RECV) != 0;
}

/// A queue pair of libibverbs and nothing else: context, protection domain, one completion queue for both
/// directions, memory for a message each way. Connected by rocio's rendezvous, because somebody has to carry
/// the numbers; what happens between connect and close is plain libibverbs.
///
/// Thread safety: the members of connectable are called by the context's thread, the rest by the one that
/// measures.
class plain_queue_pair final : public connectable {
  public:
    /// `config` must outlive it. Throws rocio::exception.
    plain_queue_pair(const pair_bench_config& config, boost::asio::any_io_executor executor);
    ~plain_queue_pair() override;

    std::byte* in() noexcept { return memory_.data(); }
    std::byte* out() noexcept { return memory_.data() + out_offset(); }

    void post_receive();
    /// Inline if it is short enough; signalled.
    void post_send();
    void post_write();
    /// Takes 1 to `most` completions; polls, or sleeps on completion events, until there is one. Throws for
    /// one that is not good.
    int take(ibv_wc* found, int most);
    /// The other side is gone.
    bool is_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    [[noreturn]] void throw_failure(ibv_wc failed);
    void throw_cause();

    void wait_lost();
    void say_goodbye();

    boost::asio::any_io_executor control_executor() override { return executor_; }
    error_info prepare(local_parameters& out) override;
    error_info establish(const peer_parameters& peer) override;
    void connected(std::unique_ptr<liveness> watch) override;
    void disconnected(const error_info& cause) override;

  private:
    template <auto destroy>
    struct deleter {
        template <class T>
        void operator()(T* object) const noexcept {
            destroy(object);
        }
    };
    template <class T, auto destroy>
    using handle = std::unique_ptr<T, deleter<destroy>>;

    std::size_t out_offset() const noexcept { return (config_.size + 63) / 64 * 64; }
    void open();
    error_info create_queue_pair();
    error_info to_init();
    error_info post(ibv_wr_opcode what);

    const pair_bench_config& config_;
    const boost::asio::any_io_executor executor_;
    const bool sleeps_;
    std::vector<std::byte> memory_;
    std::uint32_t gid_index_ = 0;
    local_parameters local_{};
    remote_region peer_region_{};
    handle<ibv_context, ibv_close_device> context_{};
    handle<ibv_pd, ibv_dealloc_pd> domain_{};
    handle<ibv_comp_channel, ibv_destroy_comp_channel> channel_{};
    handle<ibv_cq, ibv_destroy_cq> completions_{};
    handle<ibv_mr, ibv_dereg_mr> region_{};
    handle<ibv_qp, ibv_destroy_qp> pair_{};

    std::atomic<bool> lost_{false};
    std::mutex mutex_{};
    std::condition_variable lost_changed_{};
    error_info cause_{};
    std::unique_ptr<liveness> watch_{};
};

} // namespace rocio::tools
