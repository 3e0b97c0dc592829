#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace rocio::rpc {

/// 32-bit FNV-1a over the bytes of a name, without its NUL. A byte above 0x7F is sign-extended first, as the
/// original does on machines whose char is signed: it hashes char, not unsigned char.
constexpr std::uint32_t fnv1a(std::string_view name) noexcept {
    std::uint32_t hash = 2166136261U;
    for (const char c : name) {
        hash ^= static_cast<std::uint32_t>(static_cast<signed char>(c));
        hash *= 16777619U;
    }
    return hash;
}

/// What a request names its function with: the hash of the function's name. Made from the name implicitly,
/// at compile time where the name is a literal, or from the number itself explicitly.
class function_id {
  public:
    constexpr function_id(std::string_view name) noexcept : value_(fnv1a(name)) {} // NOLINT(*-explicit-*)
    constexpr function_id(const char* name) noexcept : value_(fnv1a(name)) {}      // NOLINT(*-explicit-*)
    constexpr explicit function_id(std::uint32_t value) noexcept : value_(value) {}

    constexpr std::uint32_t value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const function_id&, const function_id&) = default;

  private:
    std::uint32_t value_;
};

} // namespace rocio::rpc
