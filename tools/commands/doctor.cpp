#include "commands/commands.hpp"
#include "doctor/gather.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

struct doctor_options {
    std::string peer{};
    bool json = false;
};

const char* text_of(severity level) {
    switch (level) {
    case severity::ok:
        return "ok";
    case severity::note:
        return "note";
    case severity::problem:
        return "problem";
    }
    return "";
}

void print_text(const system_facts& facts, const std::vector<finding>& findings) {
    for (const auto& f : findings) {
        const char* mark = f.level == severity::ok     ? "   ok  "
                           : f.level == severity::note ? " note  "
                                                       : "  BAD  ";
        std::cout << mark << f.subject << ": " << f.text << "\n";
        if (!f.mend.empty()) std::cout << "         try: " << f.mend << "\n";
    }
    for (const auto& p : facts.ports) {
        if (p.gids.empty()) continue;
        std::cout << "\nGID table of " << p.device << " port " << p.port + 0 << "\n";
        const auto peer = facts.peer ? std::optional(facts.peer->address) : std::nullopt;
        for (const auto& line : gid_lines(p, peer)) std::cout << "  " << line << "\n";
    }
}

void print_json(const system_facts& facts, const std::vector<finding>& findings, std::size_t problems) {
    boost::json::array list, tables;
    for (const auto& f : findings)
        list.push_back(
            {{"level", text_of(f.level)}, {"subject", f.subject}, {"text", f.text}, {"mend", f.mend}});
    for (const auto& p : facts.ports) {
        if (p.gids.empty()) continue;
        boost::json::array lines;
        const auto peer = facts.peer ? std::optional(facts.peer->address) : std::nullopt;
        for (const auto& line : gid_lines(p, peer)) lines.push_back(boost::json::string(line));
        tables.push_back({{"device", p.device}, {"port", p.port}, {"gids", lines}});
    }
    std::cout << boost::json::serialize(
                     boost::json::object{{"problems", problems}, {"findings", list}, {"gid_tables", tables}})
              << "\n";
}

int doctor(const doctor_options& o) {
    std::optional<gid> peer;
    if (!o.peer.empty()) {
        peer = gid::parse(o.peer);
        if (!peer) throw exception({errc::invalid_argument, "--peer " + o.peer + ": not a numeric address"});
    }
    const auto facts = gather(peer);
    const auto findings = examine(facts);
    const auto problems = static_cast<std::size_t>(std::count_if(
        findings.begin(), findings.end(), [](const auto& f) { return f.level == severity::problem; }));
    o.json ? print_json(facts, findings, problems) : print_text(facts, findings);
    if (!o.json && problems > 0) std::cout << "\n" << problems << " in the way\n";
    return problems == 0 ? 0 : 1;
}

} // namespace

void add_doctor(CLI::App& app, int& status) {
    auto* command = app.add_subcommand(
        "doctor",
        "Looks for what keeps RDMA from working here, and says how to mend it; status 1 if something does");
    auto o = std::make_shared<doctor_options>();
    command->add_option("--peer", o->peer, "Numeric address: probe the way to it too")
        ->option_text("ADDRESS");
    command->add_flag("--json", o->json, "One JSON object on the last line");
    command->callback([o, &status] { status = doctor(*o); });
}

} // namespace rocio::tools
