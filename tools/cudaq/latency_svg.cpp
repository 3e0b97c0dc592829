#include "cudaq/latency_report.hpp"
#include "lib/xml_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string_view>

namespace rocio::tools {

namespace {

constexpr double width = 800, height = 460;
constexpr double left = 70, right = 780, top = 92, bottom = 400;
constexpr std::size_t most_bars = 48;
constexpr double straggler = 1; ///< So many times the distance from the least to the 99 % is left out.

struct unit {
    double nanoseconds;
    std::string_view name;
};

unit unit_for(double longest) {
    if (longest < 20e3) return {1, "ns"};
    if (longest < 20e6) return {1e3, "µs"};
    return {1e6, "ms"};
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
double round_step(double least) {
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

struct axis {
    double first = 0, last = 1, step = 1;
    double from = 0, to = 1; ///< Where on the picture.

    double at(double value) const { return from + (value - first) / (last - first) * (to - from); }
};

/// At least `narrowest` wide.
axis axis_over(double least, double most, double narrowest, double steps, double from, double to) {
    const double step = round_step(std::max(most - least, narrowest) / steps);
    axis a{std::floor(least / step) * step, std::ceil(most / step) * step, step, from, to};
    if (a.last <= a.first) a.last = a.first + step;
    return a;
}

std::string number(double value) {
    std::ostringstream text;
    text.precision(6);
    text << value;
    return text.str();
}

void text_at(std::ostream& out, double x, double y, std::string_view anchor, std::string_view text,
             std::string_view more = {}) {
    out << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\" text-anchor=\"" << anchor << "\""
        << more << ">" << xml_text(text) << "</text>\n";
}

void line(std::ostream& out, double x1, double y1, double x2, double y2, std::string_view style) {
    out << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1) << "\" x2=\"" << number(x2) << "\" y2=\""
        << number(y2) << "\" " << style << "/>\n";
}

struct histogram {
    axis x, y;
    std::vector<std::size_t> bars;
    std::size_t left_out = 0;
};

/// Of at least one sample, in the picture's unit.
histogram count(const std::vector<double>& samples, const latency_summary& s) {
    histogram h;
    const double most = std::min(s.maximum, s.p99 + straggler * (s.p99 - s.minimum));
    h.x = axis_over(s.minimum, most, std::max(most / 100, 1e-3), 8, left, right);
    const double steps = std::round((h.x.last - h.x.first) / h.x.step);
    h.bars.resize(static_cast<std::size_t>(steps * std::max(1.0, std::floor(most_bars / steps))));
    const double span = h.x.last - h.x.first;
    for (const double value : samples) {
        if (value > h.x.last) {
            ++h.left_out;
            continue;
        }
        const auto bar =
            static_cast<std::size_t>((value - h.x.first) / span * static_cast<double>(h.bars.size()));
        ++h.bars[std::min(bar, h.bars.size() - 1)];
    }
    h.y =
        axis_over(0, static_cast<double>(*std::max_element(h.bars.begin(), h.bars.end())), 5, 5, bottom, top);
    return h;
}

void draw_axes(std::ostream& out, const histogram& h, const std::string& what) {
    constexpr std::string_view grid = "stroke=\"#e4e4e4\"", frame = "stroke=\"#444\"";
    for (double v = h.y.first; v <= h.y.last + h.y.step / 2; v += h.y.step) {
        line(out, left, h.y.at(v), right, h.y.at(v), grid);
        text_at(out, left - 8, h.y.at(v) + 4, "end", number(v));
    }
    for (double v = h.x.first; v <= h.x.last + h.x.step / 2; v += h.x.step) {
        line(out, h.x.at(v), bottom, h.x.at(v), bottom + 5, frame);
        text_at(out, h.x.at(v), bottom + 20, "middle", number(std::round(v / h.x.step) * h.x.step));
    }
    line(out, left, bottom, right, bottom, frame);
    line(out, left, top, left, bottom, frame);
    text_at(out, (left + right) / 2, bottom + 44, "middle", what);
    text_at(out, 20, (top + bottom) / 2, "middle", "messages",
            " transform=\"rotate(-90 20 " + number((top + bottom) / 2) + ")\"");
}

void draw_bars(std::ostream& out, const histogram& h) {
    const double bar = (right - left) / static_cast<double>(h.bars.size());
    out << "<g fill=\"#2b6cb0\">\n";
    for (std::size_t i = 0; i < h.bars.size(); ++i) {
        if (h.bars[i] == 0) continue;
        const double y = h.y.at(static_cast<double>(h.bars[i]));
        out << "<rect x=\"" << number(left + static_cast<double>(i) * bar + 0.5) << "\" y=\"" << number(y)
            << "\" width=\"" << number(std::max(bar - 1, 1.0)) << "\" height=\"" << number(bottom - y)
            << "\"/>\n";
    }
    out << "</g>\n";
}

void draw_mark(std::ostream& out, const histogram& h, double value, std::string_view name, double y,
               std::string_view colour) {
    if (value > h.x.last) return;
    const double x = h.x.at(value);
    const std::string stroke = "stroke=\"" + std::string(colour) + "\" stroke-dasharray=\"5 3\"";
    line(out, x, y, x, bottom, stroke);
    const bool near_the_end = x > right - 140;
    text_at(out, near_the_end ? x - 5 : x + 5, y + 10, near_the_end ? "end" : "start",
            std::string(name) + " " + number(value), " fill=\"" + std::string(colour) + "\"");
}

void draw(std::ostream& out, std::vector<double> samples, const unit& in, const std::string& what) {
    for (double& value : samples) value /= in.nanoseconds;
    const auto s = summarise(samples);
    const auto h = count(samples, s);
    std::string about = std::to_string(samples.size()) + " messages, least " + number(s.minimum) +
                        ", longest " + number(s.maximum) + " " + std::string(in.name);
    if (h.left_out > 0) about += "; " + std::to_string(h.left_out) + " beyond the right edge";
    text_at(out, left, 48, "start", about, " fill=\"#555\"");
    draw_axes(out, h, what + " (" + std::string(in.name) + ")");
    draw_bars(out, h);
    draw_mark(out, h, s.median, "median", top - 32, "#c05621");
    draw_mark(out, h, s.p99, "99 %", top - 16, "#9b2c2c");
}

} // namespace

void write_latency_svg(std::ostream& out, std::span<const double> nanoseconds, const std::string& title,
                       const std::string& what) {
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << height
        << "\" width=\"" << width << "\" height=\"" << height
        << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    text_at(out, left, 28, "start", title, " font-size=\"17\" font-weight=\"bold\"");
    if (nanoseconds.empty())
        text_at(out, width / 2, height / 2, "middle", "no " + what + " was timed");
    else
        draw(out, {nanoseconds.begin(), nanoseconds.end()},
             unit_for(summarise({nanoseconds.begin(), nanoseconds.end()}).p99), what);
    out << "</svg>\n";
}

} // namespace rocio::tools
