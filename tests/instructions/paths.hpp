#pragma once

#include "meter.hpp"

#include <rocio/types/parameters.hpp>

#include <string>
#include <vector>

namespace rocio::test {

/// One way of a message, measured per message.
struct measured_path {
    std::string name;
    std::string what; ///< For --help.
    void (*run)(user::meter& count);
};

/// In the order of printing.
std::vector<measured_path> plain_paths();
std::vector<measured_path> queue_pair_paths();
std::vector<measured_path> stream_paths();
std::vector<measured_path> ring_paths();

/// The numbers of a peer that is not there.
peer_parameters some_peer();

} // namespace rocio::test
