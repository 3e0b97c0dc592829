#pragma once

#include "bench/plain_queue_pair.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace rocio::tools {

/// Sends and receives complete on one queue, as with rocio's own queue pair.
inline bool is_receive(const ibv_wc& found) noexcept {
    return (found.opcode & IBV_WC_RECV) != 0;
}

/// One end of a benchmark with libibverbs and nothing else: context, protection domain, one completion queue
/// for everything, memory for a message each way, queue pairs.
///
/// Thread safety: connected() and disconnected() are called by the context's thread, the rest by the one that
/// measures.
class plain_end {
  public:
    static constexpr std::uint8_t port = 1;
    /// In the wr_id of receives, because completions with an error tell no opcode; below it the queue pair's
    /// index.
    static constexpr std::uint64_t of_receives = std::uint64_t{1} << 32;

    /// `config` must outlive it. Throws rocio::exception.
    plain_end(const pair_bench_config& config, const boost::asio::any_io_executor& executor);
    ~plain_end();

    const pair_bench_config& config() const noexcept { return config_; }
    const std::vector<std::shared_ptr<plain_queue_pair>>& pairs() const noexcept { return pairs_; }
    plain_queue_pair& pair(std::size_t n = 0) noexcept { return *pairs_[n]; }
    std::byte* in() noexcept { return memory_.data(); }
    std::byte* out() noexcept { return memory_.data() + out_offset(); }
    ibv_pd* domain() noexcept { return domain_.get(); }
    ibv_cq* completions() noexcept { return completions_.get(); }
    std::uint32_t gid_index() const noexcept { return gid_index_; }
    /// Without the numbers of a queue pair.
    const local_parameters& local() const noexcept { return local_; }
    /// What the other side may write or read.
    remote_region granted() noexcept;
    ibv_sge part(std::byte* at) const noexcept;
    /// Receives that each queue pair has posted.
    std::uint32_t receives_ahead() const noexcept;

    /// Takes at most `most` completions; throws for one that is not good.
    int look(ibv_wc* found, int most);
    /// Takes 1 to `most`: polls, or sleeps on completion events, until there is one.
    int take(ibv_wc* found, int most);

    /// The other side is gone.
    bool is_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    [[noreturn]] void throw_cause();
    /// Waits until the other side says goodbye; `limit` 0: however long that takes.
    void wait_lost(std::chrono::seconds limit);
    void say_goodbye();

    void begin_attempt() noexcept { lost_ = false; }
    void connected(std::unique_ptr<liveness> watch);
    void disconnected(const error_info& cause);

    static error_info failure(const char* what, const std::string& device, int number);
    static error_info failure(const char* what, const std::string& device);

  private:
    std::size_t out_offset() const noexcept { return (config_.size + std::size_t{63}) / 64 * 64; }
    void choose_address();
    void open();
    [[noreturn]] void throw_failure(ibv_wc failed);

    const pair_bench_config& config_;
    const bool sleeps_;
    std::vector<std::byte> memory_;
    std::uint32_t gid_index_ = 0;
    local_parameters local_{};
    verbs_handle<ibv_context, ibv_close_device> context_{};
    verbs_handle<ibv_pd, ibv_dealloc_pd> domain_{};
    verbs_handle<ibv_comp_channel, ibv_destroy_comp_channel> channel_{};
    verbs_handle<ibv_cq, ibv_destroy_cq> completions_{};
    verbs_handle<ibv_mr, ibv_dereg_mr> region_{};
    std::vector<std::shared_ptr<plain_queue_pair>> pairs_{};

    std::atomic<bool> lost_{false};
    std::mutex mutex_{};
    std::condition_variable lost_changed_{};
    error_info cause_{};
    std::vector<std::unique_ptr<liveness>> watches_{};
};

} // namespace rocio::tools
