#pragma once

#include <rocio/io/machine_limits.hpp>

#include <cstdint>
#include <string>

/// What to say when a part of memory_options cannot be had: what was asked for, the limit that is in the way,
/// its value, and how to raise it.
namespace rocio::memory_texts {

/// Reserved pages of the size `asked`: too few, or refused though there are enough.
std::string no_huge_pages(const machine_limits& limits, huge_pages asked, std::uint64_t bytes,
                          huge_pages got);
std::string no_transparent_pages(const machine_limits& limits);
/// The node does not exist, or has no memory.
std::string no_such_node(const machine_limits& limits, unsigned node);
std::string node_refused(unsigned node, int error);
/// Of `looked_at` pages `elsewhere` lie on other nodes.
std::string node_full(unsigned node, std::uint64_t elsewhere, std::uint64_t looked_at);
std::string not_faulted_in(std::uint64_t bytes, int error);
std::string not_locked(const machine_limits& limits, std::uint64_t bytes, int error);

} // namespace rocio::memory_texts
