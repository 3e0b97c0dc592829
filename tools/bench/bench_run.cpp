#include "bench/bench_run.hpp"

#include "bench/bench_progress.hpp"
#include "bench/bench_result.hpp"

#include <algorithm>

namespace rocio::tools {

namespace {

constexpr std::uint32_t largest_of_sweep = 1U << 23;
constexpr std::uint64_t fewest = 20, most = 10'000'000;

/// One side over all rounds of one size.
struct contestant {
    const bench_side* side;
    std::uint64_t count;
    std::vector<bench_figures> rounds{};
    std::vector<double> latencies{};
};

class contest {
  public:
    contest(const bench_series& series, const bench_effort& effort, bench_progress& progress,
            std::uint32_t size)
        : series_(series), effort_(effort), progress_(progress), size_(size) {
        for (const auto& b : series.baselines) contestants_.push_back({&b, 0});
        contestants_.push_back({&series.ours, 0});
        for (auto& c : contestants_) c.count = count_of(*c.side);
    }

    bench_row run() {
        for (unsigned round = 0; round < effort_.rounds; ++round) {
            if (round % 2 == 0)
                for (auto& c : contestants_) measure(c, round);
            else
                for (auto c = contestants_.rbegin(); c != contestants_.rend(); ++c) measure(*c, round);
        }
        return row();
    }

  private:
    measurement measure_once(const bench_side& side, std::uint64_t count, const std::string& when) {
        progress_.begin("bench " + series_.mode + ", " + std::string(name_of(series_.what)) + ", " +
                            std::to_string(size_) + " B, " + when + ", " + side.name,
                        count + count / 10);
        return side.run(size_, count, progress_.counter());
    }
    std::uint64_t count_of(const bench_side& side) {
        if (effort_.count) return *effort_.count;
        if (!effort_.time) return usual_count(series_.what, size_);
        if (series_.rate > 0) return count_for(*effort_.time, series_.rate);
        const auto some = std::max<std::uint64_t>(fewest, usual_count(series_.what, size_) / 20);
        return count_for(*effort_.time, measure_once(side, some, "how fast it is").rate());
    }
    void measure(contestant& c, unsigned round) {
        const auto m = measure_once(
            *c.side, c.count, "round " + std::to_string(round + 1) + " of " + std::to_string(effort_.rounds));
        c.rounds.push_back(figures_of(m));
        c.latencies.insert(c.latencies.end(), m.latencies.begin(), m.latencies.end());
    }
    bench_row row() {
        auto& ours = contestants_.back();
        bench_row r{series_.mode, series_.what, size_, middle_of(ours.rounds), {}, {}};
        for (std::size_t i = 0; i + 1 < contestants_.size(); ++i) {
            auto& other = contestants_[i];
            std::vector<double> ratios;
            for (std::size_t n = 0; n < ours.rounds.size(); ++n)
                ratios.push_back(ratio_of(series_.what, ours.rounds[n], other.rounds[n]));
            r.baselines.push_back({other.side->name, middle_of(other.rounds), median(std::move(ratios)),
                                   std::move(other.latencies)});
        }
        r.latencies = std::move(ours.latencies);
        return r;
    }

    const bench_series& series_;
    const bench_effort& effort_;
    bench_progress& progress_;
    const std::uint32_t size_;
    std::vector<contestant> contestants_{};
};

} // namespace

std::vector<std::uint32_t> sweep_sizes(std::uint64_t largest) {
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = 2; size <= largest && size <= largest_of_sweep; size *= 2)
        sizes.push_back(size);
    return sizes;
}

std::uint64_t usual_count(measured what, std::uint32_t size) noexcept {
    const std::uint64_t small = what == measured::latency ? 20'000 : 100'000;
    return std::max(fewest, small * 4096 / std::max<std::uint64_t>(4096, size));
}

std::uint64_t count_for(std::chrono::nanoseconds time, double rate) noexcept {
    const auto count = std::chrono::duration<double>(time).count() * rate;
    return static_cast<std::uint64_t>(
        std::clamp(count, static_cast<double>(fewest), static_cast<double>(most)));
}

void run_series(const bench_series& series, const bench_effort& effort, bench_progress& progress,
                const std::function<void(const bench_row&)>& each) {
    for (const auto size : series.sizes) each(contest(series, effort, progress, size).run());
}

} // namespace rocio::tools
