#include "bench/histogram_file.hpp"

#include "bench/latency_summary.hpp"
#include "cudaq/latency_report.hpp"
#include "lib/xml_text.hpp"

#include <rocio/types/error.hpp>

#include <cerrno>
#include <fstream>
#include <iomanip>
#include <ostream>

namespace rocio::tools {

namespace {

std::vector<double> nanoseconds_of(const histogram_part& part) {
    std::vector<double> ns;
    ns.reserve(part.latencies.size());
    for (const double us : part.latencies) ns.push_back(us * 1000);
    return ns;
}

void write_picture(std::ostream& out, const histogram_part& part) {
    write_latency_svg(out, nanoseconds_of(part), part.title, part.what);
}

void write_table_row(std::ostream& out, const histogram_part& part) {
    const auto s = summarise(part.latencies);
    out << "<tr><th scope=\"row\">" << xml_text(part.title) << "</th><td>" << part.latencies.size()
        << "</td>";
    for (const double v : {s.minimum, s.median, s.average, s.deviation, s.p99, s.p999, s.maximum})
        out << "<td>" << v << "</td>";
    out << "</tr>\n";
}

} // namespace

void write_histogram_page(std::ostream& out, const std::string& title,
                          std::span<const histogram_part> parts) {
    out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>"
        << xml_text(title)
        << "</title>\n<style>\n"
           "body { font-family: sans-serif; margin: 2em; color: #222; }\n"
           "svg { max-width: 100%; height: auto; display: block; margin-bottom: 1em; }\n"
           "table { border-collapse: collapse; }\n"
           "th, td { padding: 0.3em 0.8em; border-bottom: 1px solid #ddd; text-align: right; }\n"
           "th[scope=row], th:first-child { text-align: left; }\n"
           "</style>\n</head>\n<body>\n<h1>"
        << xml_text(title)
        << "</h1>\n<table>\n<thead><tr><th>us</th><th>samples</th><th>least</th><th>median</th>"
           "<th>average</th><th>deviation</th><th>99 %</th><th>99.9 %</th><th>longest</th></tr></thead>\n"
           "<tbody>\n"
        << std::fixed << std::setprecision(2);
    for (const auto& part : parts) write_table_row(out, part);
    out << "</tbody>\n</table>\n" << std::defaultfloat << std::setprecision(6);
    for (const auto& part : parts) write_picture(out, part);
    out << "</body>\n</html>\n";
}

bool is_histogram_file(const std::string& file) {
    return file.ends_with(".svg") || file.ends_with(".html");
}

void write_histogram_file(const std::string& file, const std::string& title,
                          std::span<const histogram_part> parts) {
    if (!is_histogram_file(file))
        throw exception({errc::invalid_argument, "\"" + file + "\" ends neither in .svg nor in .html"});
    std::ofstream out(file);
    if (file.ends_with(".html"))
        write_histogram_page(out, title, parts);
    else
        write_picture(out, parts.empty() ? histogram_part{title, "round trip"} : parts.back());
    if (out.flush()) return;
    throw exception({error_code(errno, boost::system::system_category()), "cannot write " + file});
}

} // namespace rocio::tools
