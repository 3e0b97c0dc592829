#pragma once

#include <rocio/types/log_sink.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rocio {

/// How often a rate_limited_sink lets one line through.
struct rate_limit {
    std::uint32_t lines = 3;                                    ///< Of one text in a period; at least 1.
    std::chrono::nanoseconds period = std::chrono::seconds{10}; ///< From the first of them; above 0.
    std::size_t remembered = 64; ///< Different lines it tells apart at a time; at least 1.
    /// Whether texts that differ in decimal numbers alone (a duration, a peer's port) are one text; the first
    /// one then stands for all.
    bool any_number = false;
}; ///< From the first of them; above 0.

/// A log_sink in front of another one: a line (level, room and text) passes `lines` times in a period. What
/// is held back after that is told as "TEXT … (repeated K times)" when the period is over, or before the next
/// line that differs and passes, whichever is first; the latter at most once in a period, so that two lines
/// that take turns do not get around the limit.
///
/// It has no timer: a period that is over is noticed at the next write() of any line, by flush(), and in the
/// destructor. Memory is bounded: of each remembered line it keeps 1,024 bytes, and a line beyond
/// `remembered` takes the place of the one that came first, which tells its repetitions then. Texts of one
/// length that agree in those bytes are taken for the same.
///
/// Thread-safe; the other sink is called without a lock. A line passes as it is where there is no memory to
/// remember it.
class rate_limited_sink final : public log_sink {
  public:
    using clock = std::chrono::steady_clock;
    using clock_function = std::function<clock::time_point()>;

    /// Writes to `out`, which must not be null. Values below their minimum are raised to it.
    explicit rate_limited_sink(std::shared_ptr<log_sink> out, rate_limit limit = {});
    /// With a clock of the caller's, which must not throw; it may be called from any thread that writes, one
    /// call at a time.
    rate_limited_sink(std::shared_ptr<log_sink> out, rate_limit limit, clock_function now);
    /// Tells what is held back.
    ~rate_limited_sink() override;

    void write(log_level level, std::string_view room, std::string_view text) noexcept override;
    /// Tells what is held back, of every line, at once.
    void flush() noexcept;

    rate_limited_sink(const rate_limited_sink&) = delete;
    rate_limited_sink& operator=(const rate_limited_sink&) = delete;

  private:
    struct entry {
        log_level level{};
        std::string room{};
        std::string text{}; ///< Its first bytes.
        std::size_t length = 0;
        clock::time_point begin{};
        std::uint32_t passed = 0;
        std::uint64_t held_back = 0;
        bool told_early = false;

        bool is(log_level l, std::string_view r, std::string_view t, bool any_number) const noexcept;
    };
    struct summary {
        log_level level{};
        std::string room{};
        std::string text{};
    };
    using summaries = std::vector<summary>;
    using entries = std::list<entry>;

    bool passes(log_level level, std::string_view room, std::string_view text, summaries& before);
    void forget_ended(clock::time_point now, summaries& told);
    void make_room(summaries& told);
    void tell_of_others(const entry& than, summaries& told);
    void tell(const summaries& all) noexcept;
    static void take(entry& e, summaries& told);

    const std::shared_ptr<log_sink> out_;
    const rate_limit limit_;
    const clock_function now_;
    std::mutex mutex_;
    entries lines_; ///< In the order of their begin.
};

} // namespace rocio
