#include "lib/frame_check.hpp"

namespace rocio::tools {

namespace {

template <class Unchecked>
std::variant<Unchecked, prbs_checker, counter_check> make(const frame_check_config& config) {
    if (config.kind == verify_kind::prbs) return prbs_checker(prbs_format{config.prbs_word_bytes});
    if (config.kind == verify_kind::counter) return counter_check(config.counter_period);
    return Unchecked{};
}

} // namespace

std::string_view to_string(verify_kind kind) noexcept {
    if (kind == verify_kind::prbs) return "prbs";
    return kind == verify_kind::counter ? "counter" : "none";
}

std::optional<verify_kind> parse_verify_kind(std::string_view text) noexcept {
    for (const auto kind : {verify_kind::prbs, verify_kind::counter, verify_kind::none}) {
        if (text == to_string(kind)) return kind;
    }
    return std::nullopt;
}

frame_check::frame_check(const frame_check_config& config) : check_(make<no_check>(config)) {}

void frame_check::check(std::span<const std::byte> payload, std::uint32_t counter) {
    if (auto* prbs = std::get_if<prbs_checker>(&check_)) {
        prbs->check(payload);
    } else if (auto* counters = std::get_if<counter_check>(&check_)) {
        counters->check(counter);
    }
}

frame_check_result frame_check::result() const {
    if (const auto* prbs = std::get_if<prbs_checker>(&check_)) {
        const auto& r = prbs->result();
        return {r.lost, r.duplicated, r.corrupt};
    }
    if (const auto* counters = std::get_if<counter_check>(&check_))
        return {counters->lost(), counters->duplicated(), counters->unexpected()};
    return {};
}

} // namespace rocio::tools
