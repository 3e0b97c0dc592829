// Prints a status as JSON ("json"), as Prometheus text ("metrics"), or the list of metrics ("list").

#include "full_status.hpp"

#include <rocio/status/prometheus_text.hpp>
#include <rocio/status/status_json.hpp>

#include <boost/json/serialize.hpp>

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const bool empty = argc > 2;
    const auto status = empty ? rocio::status_snapshot{} : rocio::test::full_status();
    if (what == "json") std::cout << boost::json::serialize(rocio::to_json(status)) << '\n';
    if (what == "metrics") std::cout << rocio::to_prometheus(status);
    if (what == "list") {
        for (const auto& m : rocio::prometheus_metrics()) {
            std::cout << m.name << '\t' << m.type << '\t';
            for (const auto& label : m.labels) std::cout << (&label == &m.labels.front() ? "" : ",") << label;
            std::cout << '\t' << m.help << '\n';
        }
    }
    return std::cout ? 0 : 1;
}
