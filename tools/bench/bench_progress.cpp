#include "bench/bench_progress.hpp"

#include "lib/human.hpp"
#include "lib/live_line.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

namespace rocio::tools {

bench_progress::bench_progress() {
    if (::isatty(STDERR_FILENO) == 0) return;
    line_ = std::make_unique<live_line>(context_.get_executor(), [this] { return text(); });
    thread_ = std::thread([this] { context_.run(); });
}

bench_progress::~bench_progress() {
    if (!thread_.joinable()) return;
    boost::asio::post(context_, [this] { line_->stop(); });
    thread_.join();
}

void bench_progress::begin(std::string what, std::uint64_t total) {
    const std::lock_guard held(mutex_);
    counter_ = 0;
    what_ = std::move(what);
    total_ = total;
}

std::string bench_progress::text() {
    const std::lock_guard held(mutex_);
    if (total_ == 0) return what_;
    return what_ + ": " + human_count(static_cast<double>(counter_.load())) + " of " +
           human_count(static_cast<double>(total_)) + " messages";
}

} // namespace rocio::tools
