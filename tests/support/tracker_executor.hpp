#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>

#include <atomic>
#include <utility>

namespace rocio::test {

/// How often a tracker_executor ran something, and whether the calling thread is inside it now.
class executor_tracker {
  public:
    std::size_t runs() const noexcept { return runs_; }
    bool running_here() const noexcept { return current == this; }

    class scope {
      public:
        explicit scope(executor_tracker& t) noexcept : outer_(std::exchange(current, &t)) { ++t.runs_; }
        ~scope() { current = outer_; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

      private:
        executor_tracker* outer_;
    };

  private:
    static thread_local inline executor_tracker* current = nullptr;
    std::atomic<std::size_t> runs_{0};
};

/// Passes everything on to another executor and keeps account of it: bound to a handler, it proves that the
/// handler ran on its associated executor.
class tracker_executor {
  public:
    tracker_executor(boost::asio::any_io_executor inner, executor_tracker& tracker)
        : inner_(std::move(inner)), tracker_(&tracker) {}

    template <class Function>
    void execute(Function&& function) const {
        inner_.execute([t = tracker_, f = std::forward<Function>(function)]() mutable {
            executor_tracker::scope inside(*t);
            std::move(f)();
        });
    }

    template <class Property>
    decltype(auto) query(const Property& property)
        const requires boost::asio::can_query_v<const boost::asio::any_io_executor&, Property> {
        return boost::asio::query(inner_, property);
    }
    template <class Property>
    tracker_executor require(const Property& property)
        const requires boost::asio::can_require_v<const boost::asio::any_io_executor&, Property> {
        return {boost::asio::require(inner_, property), *tracker_};
    }
    template <class Property>
    tracker_executor prefer(const Property& property)
        const requires boost::asio::can_prefer_v<const boost::asio::any_io_executor&, Property> {
        return {boost::asio::prefer(inner_, property), *tracker_};
    }

    friend bool operator==(const tracker_executor& a, const tracker_executor& b) noexcept {
        return a.inner_ == b.inner_ && a.tracker_ == b.tracker_;
    }
    friend bool operator!=(const tracker_executor& a, const tracker_executor& b) noexcept {
        return !(a == b);
    }

  private:
    boost::asio::any_io_executor inner_;
    executor_tracker* tracker_;
};

/// True while an initiation_scope lives on this thread: a handler must never see it.
class initiation_scope {
  public:
    initiation_scope() noexcept : outer_(std::exchange(inside, true)) {}
    ~initiation_scope() { inside = outer_; }
    initiation_scope(const initiation_scope&) = delete;
    initiation_scope& operator=(const initiation_scope&) = delete;

    static bool active() noexcept { return inside; }

  private:
    static thread_local inline bool inside = false;
    bool outer_;
};

} // namespace rocio::test
