#include "bench/bench_table.hpp"

#include <iomanip>
#include <sstream>

namespace rocio::tools {

namespace {

constexpr double mebi = 1 << 20;
constexpr int narrow = 10, wide = 14;

double figure_of(measured what, std::uint32_t size, const bench_figures& f) {
    return what == measured::latency ? f.latency.median : f.rate * size / mebi;
}

} // namespace

std::string table_header(measured what, const bench_row& row) {
    std::ostringstream out;
    out << std::setw(9) << "#bytes" << std::setw(12) << "#iterations";
    if (what == measured::latency)
        for (const char* title : {"t_min[us]", "t_max[us]", "t_typical", "t_avg", "t_stdev", "99%", "99.9%"})
            out << std::setw(narrow) << title;
    else
        for (const char* title : {"BW peak", "BW average", "MsgRate[M/s]"}) out << std::setw(wide) << title;
    for (const char* title : {"CPU us/msg", "cores", "alloc/msg"}) out << std::setw(11) << title;
    for (const auto& b : row.baselines) out << std::setw(wide) << b.name;
    for (std::size_t i = 0; i < row.baselines.size(); ++i) out << std::setw(8) << "ratio";
    out << '\n';
    return out.str();
}

std::string table_line(const bench_row& row) {
    std::ostringstream out;
    const auto& f = row.ours;
    out << std::fixed << std::setprecision(2) << std::setw(9) << row.size << std::setw(12) << f.messages;
    if (row.what == measured::latency) {
        for (const double v : {f.latency.minimum, f.latency.maximum, f.latency.median, f.latency.average,
                               f.latency.deviation, f.latency.p99, f.latency.p999})
            out << std::setw(narrow) << v;
    } else {
        out << std::setw(wide) << f.peak_rate * row.size / mebi << std::setw(wide) << f.rate * row.size / mebi
            << std::setw(wide) << std::setprecision(4) << f.rate * 1e-6 << std::setprecision(2);
    }
    out << std::setw(11) << f.cpu_us_per_message << std::setw(11) << f.cores_busy << std::setw(11)
        << std::setprecision(3) << f.allocations_per_message << std::setprecision(2);
    for (const auto& b : row.baselines) out << std::setw(wide) << figure_of(row.what, row.size, b.figures);
    for (const auto& b : row.baselines) out << std::setw(8) << b.ratio;
    out << '\n';
    return out.str();
}

} // namespace rocio::tools
