#include <rocio/rpc/detail/handover_desk.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <utility>

namespace rocio::rpc::detail {

namespace asio = boost::asio;

namespace {

asio::any_io_executor tracked(const asio::any_io_executor& executor) {
    return executor ? asio::prefer(executor, asio::execution::outstanding_work.tracked) : executor;
}

/// A handler's call on its way. Keeps the home context running until the answer was taken home.
class handover_job {
  public:
    handover_job(std::shared_ptr<handover_desk> desk, std::uint32_t slot, asio::any_io_executor home_work)
        : desk_(std::move(desk)), slot_(slot), home_work_(std::move(home_work)) {}
    handover_job(handover_job&&) noexcept = default;
    handover_job& operator=(handover_job&&) = delete;
    ~handover_job() {
        if (desk_) desk_->drop(slot_);
    }

    void operator()() { std::exchange(desk_, nullptr)->run(slot_); }

  private:
    std::shared_ptr<handover_desk> desk_;
    std::uint32_t slot_;
    asio::any_io_executor home_work_;
};

} // namespace

handover_desk::handover_desk(asio::any_io_executor home, std::function<void()> on_answers,
                             function_table functions, const dispatcher_config& config, const geometry& ring)
    : core_(std::move(functions), config),
      home_(std::move(home)),
      on_answers_(std::move(on_answers)),
      requests_(ring.slots) {
    finished_.reserve(ring.slots);
    if (!core_.functions().hands_over()) return;
    for (auto& request : requests_) {
        request.rx.resize(ring.rx_size);
        request.tx.resize(ring.tx_size);
    }
}

void handover_desk::hand_over(std::uint32_t slot, const inspected_request& request,
                              std::span<const std::byte> rx,
                              std::chrono::steady_clock::time_point arrived) noexcept {
    auto& handed = requests_[slot];
    handed.request = request;
    handed.arrived = arrived;
    std::ranges::copy(rx.first(request_header::size + request.header.arg_len), handed.rx.begin());
    try {
        asio::post(request.function->executor(), handover_job(shared_from_this(), slot, tracked(home_)));
    } catch (...) { // NOLINT(bugprone-empty-catch): the job that was not posted dropped the request
    }
}

void handover_desk::run(std::uint32_t slot) {
    if (closed_) return drop(slot);
    auto& handed = requests_[slot];
    const auto rx = std::span(handed.rx).first(request_header::size + handed.request.header.arg_len);
    handed.result = core_.execute(handed.request, rx, handed.tx);
    {
        std::lock_guard lock(mutex_);
        finished_.push_back(slot);
        if (std::exchange(called_home_, true)) return;
    }
    call_home();
}

void handover_desk::drop(std::uint32_t slot) noexcept {
    auto& handed = requests_[slot];
    handed.result = core_.fail(handed.request, handed.tx);
    // No call home: an executor may throw its work away when everything else is gone already. The next take()
    // finds the answer.
    std::lock_guard lock(mutex_);
    finished_.push_back(slot);
}

void handover_desk::call_home() {
    if (!home_) return;
    asio::post(home_, [self = shared_from_this()] {
        if (self->on_answers_) self->on_answers_();
    });
}

void handover_desk::take(std::vector<std::uint32_t>& finished) {
    std::lock_guard lock(mutex_);
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
    called_home_ = false;
}

void handover_desk::close() noexcept {
    closed_ = true;
    on_answers_ = nullptr;
}

} // namespace rocio::rpc::detail
