#pragma once

#include "slac/bus_kind.hpp"
#include "slac/register_access.hpp"

#include <rocio/fpga/slac_engine_config.hpp>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include <string>
#include <utility>
#include <vector>

namespace rocio::tools {

/// --bus.
CLI::Option* add_bus_option(CLI::App& app, bus_kind& value);

/// How a SLAC board is reached and set up, as recv and fpga take it.
struct slac_options {
    bus_kind bus = bus_kind::srp_udp;
    std::vector<std::string> registers{}; ///< One for each --fpga-ip, or none.
    std::string board_file{};
    bool program_udp = true;

    /// All options; they do nothing without a SLAC board, so refuse_given() is there for that.
    void add_to(CLI::App& app);
    /// Throws CLI::ValidationError if any of them was given.
    void refuse_given(const std::string& unless) const;

    /// The board file, then what was said on the command line. Throws rocio::exception.
    fpga::slac_engine_config engine() const;
    /// Of the n-th of `boards`. Throws rocio::exception.
    register_place place(std::size_t n, const std::vector<std::string>& boards) const;

  private:
    std::vector<std::pair<std::string, std::string>> said_{}; ///< Options of the engine, as given.
    std::vector<const CLI::Option*> options_{};
};

} // namespace rocio::tools
