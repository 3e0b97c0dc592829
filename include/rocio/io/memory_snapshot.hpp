#pragma once

#include <rocio/io/memory_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio {

/// What memory_options have really given; a value, of the time when the memory was made.
struct memory_snapshot {
    std::uint64_t bytes = 0; ///< In whole pages.
    huge_pages pages = huge_pages::no;
    std::uint64_t page_size = 0; ///< Bytes; with transparent huge pages that of an ordinary page.
    /// In huge pages. Of transparent ones it is known only if the memory was faulted in when it was made;
    /// absent where it is not known, and with ordinary pages.
    std::optional<std::uint64_t> huge_bytes{};
    std::optional<unsigned> numa_node{}; ///< The preferred one.
    bool prefaulted = false;
    bool locked = false;
    std::vector<std::string> warnings{}; ///< What could not be had, and which limit is to be raised.
};

} // namespace rocio
