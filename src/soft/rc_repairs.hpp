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

/// What RC queue pairs did to make losses good and to hold senders up, by the names that the status shows.
class rc_repairs {
  public:
    static constexpr std::array<std::string_view, 10> names{
        "retransmits",        "timeouts",
        "duplicates",         "out_of_sequence",
        "rnr_naks_sent",      "rnr_naks_received",
        "sequence_naks_sent", "sequence_naks_received",
        "other_naks_sent",    "other_naks_received",
    };
    using values = std::array<std::uint64_t, names.size()>;

    /// What is new in the counters of one queue pair; false: nothing, as nearly always.
    bool since_last(const transport::queue_pair_counters& c, values& difference) noexcept {
        const values now{
            c.retransmitted_packets, c.timeouts,           c.duplicates_received, c.out_of_sequence_received,
            c.rnr_naks_sent,         c.rnr_naks_received,  c.sequence_naks_sent,  c.sequence_naks_received,
            c.other_naks_sent,       c.other_naks_received};
        if (now == last_) return false;
        for (std::size_t i = 0; i < now.size(); ++i) difference[i] = now[i] - last_[i];
        last_ = now;
        return true;
    }

  private:
    values last_{};
};

/// The sum over all queue pairs of a device; outlives them.
class rc_repair_counters {
  public:
    void add(const rc_repairs::values& v) noexcept {
        for (std::size_t i = 0; i < v.size(); ++i) counts_[i].add(v[i]);
    }
    /// "retransmits" …
    void append_counters(std::vector<device_snapshot::counter>& out) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            out.push_back({std::string(rc_repairs::names[i]), counts_[i].value()});
    }

  private:
    std::array<relaxed_counter, rc_repairs::names.size()> counts_{};
};

} // namespace rocio::soft
