#pragma once

#include "lib/counter_check.hpp"
#include "lib/prbs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace rocio::tools {

/// By what received frames are judged: each bit of a PRBS payload, the sender's counter in imm[31:8], or not
/// at all.
enum class verify_kind : std::uint8_t { prbs, counter, none };

std::string_view to_string(verify_kind kind) noexcept;
std::optional<verify_kind> parse_verify_kind(std::string_view text) noexcept;

struct frame_check_config {
    verify_kind kind = verify_kind::prbs;
    std::size_t prbs_word_bytes = 4;                           ///< As prbs_format.
    std::uint32_t counter_period = counter_check::full_period; ///< As counter_check.
};

/// `lost` and `duplicated` are nothing where nothing in the stream allows to know them.
struct frame_check_result {
    std::optional<std::uint64_t> lost{};
    std::optional<std::uint64_t> duplicated{};
    std::uint64_t corrupt = 0;
};

/// Judges the frames of one session, in their order. Not thread-safe.
class frame_check {
  public:
    /// Throws std::invalid_argument for a word size or a period that the check does not take.
    explicit frame_check(const frame_check_config& config = {});

    void check(std::span<const std::byte> payload, std::uint32_t counter);
    frame_check_result result() const;

  private:
    struct no_check {};
    std::variant<no_check, prbs_checker, counter_check> check_;
};

} // namespace rocio::tools
