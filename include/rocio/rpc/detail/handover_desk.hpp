#pragma once

#include <rocio/rpc/dispatcher.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace rocio::rpc::detail {

/// A request that another executor had, with its answer.
struct handed_request {
    inspected_request request;
    std::chrono::steady_clock::time_point arrived;
    outcome result;
    std::vector<std::byte> rx;
    std::vector<std::byte> tx;
};

/// Where requests lie while another executor has them. A handler sees copies of its slots, so it may still
/// run when ring and ring_dispatcher are gone; the desk and the functions live until it is done.
///
/// take() is for the polling strand; the jobs call back from any thread.
class handover_desk : public std::enable_shared_from_this<handover_desk> {
  public:
    struct geometry {
        std::uint32_t slots = 0;
        std::size_t rx_size = 0;
        std::size_t tx_size = 0;
    };

    /// `home`: where `on_answers` is called when answers wait to be taken; empty: nowhere.
    handover_desk(boost::asio::any_io_executor home, std::function<void()> on_answers,
                  function_table functions, const dispatcher_config& config, const geometry& ring);

    dispatcher& core() noexcept { return core_; }

    /// Copies the request and posts its handler. If it cannot be posted that counts as dropped.
    void hand_over(std::uint32_t slot, const inspected_request& request, std::span<const std::byte> rx,
                   std::chrono::steady_clock::time_point arrived) noexcept;
    /// The slots whose answers have come since the last call, appended.
    void take(std::vector<std::uint32_t>& finished);
    handed_request& at(std::uint32_t slot) noexcept { return requests_[slot]; }

    /// On the polling strand: from here on no handler is begun and nobody is called home.
    void close() noexcept;

    /// For the job: run() calls the handler, drop() stands for it when its executor threw it away.
    void run(std::uint32_t slot);
    void drop(std::uint32_t slot) noexcept;

  private:
    void call_home();

    dispatcher core_;
    boost::asio::any_io_executor home_;
    std::function<void()> on_answers_; // on the polling strand only
    std::vector<handed_request> requests_;

    std::mutex mutex_;
    std::vector<std::uint32_t> finished_; // never grows beyond its first capacity
    bool called_home_ = false;
    std::atomic<bool> closed_{false};
};

} // namespace rocio::rpc::detail
