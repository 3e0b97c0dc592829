#pragma once

#include "lib/hand_peer.hpp"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

/// What --connect static takes.
struct hand_options {
    std::optional<std::uint32_t> peer_qpn{}, rq_psn{}, sq_psn{};
    std::chrono::milliseconds timeout{60000};

    /// All but --peer, which every kind of connection has.
    void add_to(CLI::App& app);
    /// Refuses them with another kind of connection, where they do nothing.
    void refuse_unless(bool by_hand) const;
    /// `peer` is ADDRESS or ADDRESS:PORT, the port being RoCE's. Prints on standard output. Throws
    /// rocio::exception.
    hand_peer_config config(const std::string& peer) const;

  private:
    std::vector<const CLI::Option*> given_;
};

} // namespace rocio::tools
