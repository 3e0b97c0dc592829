#include "rate_meter.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace rocio::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto spacing = 400ms; // between samples kept; a tick of 500 ms may come a little early
constexpr auto short_span = 1s;
constexpr auto long_span = 10s;
/// A sample older than the span by more than this says nothing about the span.
constexpr auto tolerance = 1500ms;

/// One counter and where its rates go.
struct counted {
    std::string key;
    double value = 0;
    std::optional<double>* last_1s = nullptr;
    std::optional<double>* last_10s = nullptr;
};

class collector {
  public:
    void within(std::string_view kind, std::size_t index, std::string_view name) {
        // The index too: nothing forbids two streams of one name.
        prefix_ = std::string(kind) + '\n' + std::to_string(index) + '\n' + std::string(name) + '\n';
    }
    void add(std::string_view what, double value, std::optional<double>& last_1s,
             std::optional<double>& last_10s) {
        all_.push_back({prefix_ + std::string(what), value, &last_1s, &last_10s});
    }
    void add(std::string_view what, std::uint64_t messages, std::uint64_t bytes, traffic_rates& rates) {
        const std::string name(what);
        add(name + " messages", static_cast<double>(messages), rates.messages_1s, rates.messages_10s);
        add(name + " bytes", static_cast<double>(bytes), rates.bytes_1s, rates.bytes_10s);
    }
    std::vector<counted> take() { return std::move(all_); }

  private:
    std::string prefix_;
    std::vector<counted> all_;
};

void collect_stream(collector& all, receive_server_snapshot& s) {
    all.add("stream", s.rx_frame_count, s.rx_byte_count, s.rates);
    for (auto& c : s.channels) all.add("channel " + std::to_string(c.number), c.frames, c.bytes, c.rates);
}

std::vector<counted> collect(status_snapshot& status) {
    collector all;
    for (std::size_t i = 0; i < status.engines.size(); ++i) {
        auto& e = status.engines[i];
        all.within("engine", i, e.name);
        if (e.cpu_time > 0ns)
            all.add("cpu", std::chrono::duration<double>(e.cpu_time).count(), e.cpu_share_1s,
                    e.cpu_share_10s);
    }
    for (std::size_t i = 0; i < status.streams.size(); ++i) {
        all.within("stream", i, status.streams[i].name);
        collect_stream(all, status.streams[i]);
    }
    for (std::size_t i = 0; i < status.rings.size(); ++i) {
        auto& r = status.rings[i];
        all.within("ring", i, r.name);
        all.add("received", static_cast<double>(r.received), r.receive_rates.messages_1s,
                r.receive_rates.messages_10s);
        all.add("sent", r.sent, r.bytes_sent, r.send_rates);
    }
    for (std::size_t i = 0; i < status.sensors.size(); ++i) {
        auto& s = status.sensors[i];
        all.within("sensor", i, s.name);
        all.add("frames", s.frames, s.bytes, s.rates);
    }
    return all.take();
}

} // namespace

const rate_meter::sample* rate_meter::sample_before(time_point when) const {
    const sample* found = nullptr;
    for (const auto& s : samples_) {
        if (s.at > when) break;
        found = &s;
    }
    return found;
}

void rate_meter::fill(status_snapshot& status, time_point now) {
    const auto counters = collect(status);
    const auto fill_from = [&](auto span, std::optional<double>* counted::*rate) {
        const auto* old = sample_before(now - span);
        if (old == nullptr || now - old->at > span + tolerance) return;
        const auto seconds = std::chrono::duration<double>(now - old->at).count();
        for (const auto& c : counters) {
            const auto before = old->values.find(c.key);
            if (before == old->values.end() || before->second > c.value) continue;
            *(c.*rate) = (c.value - before->second) / seconds;
        }
    };
    fill_from(short_span, &counted::last_1s);
    fill_from(long_span, &counted::last_10s);

    if (!samples_.empty() && now - samples_.back().at < spacing) return;
    if (samples_.size() == most_samples) samples_.pop_front();
    auto& kept = samples_.emplace_back();
    kept.at = now;
    for (const auto& c : counters) kept.values.emplace(c.key, c.value);
}

} // namespace rocio::detail
