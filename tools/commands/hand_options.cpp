#include "commands/hand_options.hpp"

#include "commands/stream_support.hpp"

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/types/gid.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace rocio::tools {

void hand_options::add_to(CLI::App& app) {
    const auto add = [&](const char* name, std::optional<std::uint32_t>& value, std::uint32_t least,
                         const char* what) {
        given_.push_back(app.add_option(name, value, what)
                             ->check(CLI::Range(least, 0xFFFFFFU))
                             ->type_name("N")
                             ->group("With --connect static"));
    };
    add("--peer-qpn", peer_qpn, 2U, "Queue pair of the other side; default: read from standard input");
    add("--rq-psn", rq_psn, 0U, "The PSN we expect first; default: drawn");
    add("--sq-psn", sq_psn, 0U, "The PSN we send first; default: drawn, the same");
}

void hand_options::refuse_unless(bool by_hand) const {
    if (by_hand) return;
    for (const auto* option : given_) {
        if (option->count() > 0)
            throw CLI::ValidationError(option->get_name(), "does nothing without --connect static");
    }
}

hand_peer_config hand_options::config(const std::string& peer) const {
    hand_peer_config c;
    if (const auto address = gid::parse(peer)) {
        c.address = *address;
    } else {
        const auto endpoint = parse_endpoint(peer);
        c.address = gid::parse(endpoint.address().to_string()).value_or(gid{});
        c.udp_port = endpoint.port();
    }
    c.queue_pair = peer_qpn;
    c.receive_psn = rq_psn;
    c.send_psn = sq_psn;
    c.timeout = timeout;
    c.print = [](const std::string& line, bool waits) {
        std::cout << line << std::endl;
        if (waits) say("waiting for a line like qpn=0x11 lkey=0x1234 on standard input");
    };
    return c;
}

} // namespace rocio::tools
