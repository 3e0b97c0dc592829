#pragma once

#include <string_view>

namespace rocio::detail {

/// The live page: one HTML document (UTF-8) that asks for nothing but `status` and `events` beside it. Lives
/// as long as the program. Made by page/build_page.cmake from the files in page/. Thread-safe.
std::string_view status_page() noexcept;

} // namespace rocio::detail
