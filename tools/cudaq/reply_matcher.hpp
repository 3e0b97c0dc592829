#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

namespace rocio::tools {

/// A window that was sent and is to be answered.
struct sent_window {
    std::uint32_t window = 0;
    std::uint64_t pass = 0;
    std::optional<std::uint32_t> request_id{}; ///< Nothing where the window is no request.
    std::uint64_t timestamp = 0;               ///< As it went out with the request; 0: none.
};

/// Says which window a reply belongs to, so that one that comes late counts for none but its own. Replies
/// carry the request's id and, from handlers that echo it, its timestamp, which tells two sendings of one
/// request apart.
class reply_matcher {
  public:
    /// Unanswered windows that are remembered; older ones are forgotten.
    static constexpr std::size_t memory = 1024;

    enum class verdict : std::uint8_t {
        current, ///< Answers the window that was sent last.
        late,    ///< Answers an earlier one.
        stray,   ///< Answers nothing that is unanswered.
    };
    struct match {
        verdict what = verdict::stray;
        sent_window which{}; ///< Of a reply that is no stray one.
    };

    /// The request in a window's bytes; `pass` and `window` are the caller's.
    static sent_window describe(std::span<const std::byte> bytes, std::uint32_t window,
                                std::uint64_t pass) noexcept;

    /// A window goes out; the one before counts as unanswered unless it was answered.
    void sent(const sent_window& what);
    /// The last window is not waited for any longer.
    void give_up();
    bool waits() const noexcept { return current_.has_value(); }
    /// Where the reply belongs; each window is answered once.
    match take(std::span<const std::byte> reply);

  private:
    match take_current();
    match take_unanswered(std::uint32_t id, std::optional<std::uint64_t> timestamp);

    std::optional<sent_window> current_{};
    std::deque<sent_window> unanswered_{};
};

} // namespace rocio::tools
