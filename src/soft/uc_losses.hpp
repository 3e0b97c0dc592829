#pragma once

#include <rocio/device/device_snapshot.hpp>
#include <rocio/transport/queue_pair.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::soft {

/// What UC queue pairs lost without telling anybody, by the names that the status shows.
class uc_losses {
  public:
    static constexpr std::array<std::string_view, 7> names{
        "psn_gaps",
        "psns_missed",
        "interrupted_messages",
        "dropped_out_of_message",
        "dropped_without_receive",
        "dropped_without_access",
        "dropped_bad_length",
    };
    using values = std::array<std::uint64_t, names.size()>;

    /// What is new in the counters of one queue pair.
    values since_last(const transport::queue_pair_counters& c) noexcept {
        const values now{c.psn_gaps,
                         c.psns_missed,
                         c.interrupted_messages,
                         c.dropped_out_of_message,
                         c.dropped_without_receive,
                         c.dropped_without_access,
                         c.dropped_bad_length};
        values difference{};
        for (std::size_t i = 0; i < now.size(); ++i) difference[i] = now[i] - last_[i];
        last_ = now;
        return difference;
    }

  private:
    values last_{};
};

/// The sum over all queue pairs of a device; outlives them.
class uc_loss_counters {
  public:
    void add(const uc_losses::values& v) noexcept {
        for (std::size_t i = 0; i < v.size(); ++i) counts_[i].add(v[i]);
    }
    /// "uc.psn_gaps" …
    void append_counters(std::vector<device_snapshot::counter>& out) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            out.push_back({"uc." + std::string(uc_losses::names[i]), counts_[i].value()});
    }

  private:
    std::array<relaxed_counter, uc_losses::names.size()> counts_{};
};

} // namespace rocio::soft
