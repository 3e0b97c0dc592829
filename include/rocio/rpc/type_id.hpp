#pragma once

#include <cstddef>
#include <cstdint>

namespace rocio::rpc {

/// The types an argument or a result can have. The numbers are CUDA-Q realtime's.
enum class type_id : std::uint8_t {
    uint8 = 0x10,
    int32 = 0x11,
    int64 = 0x12,
    float32 = 0x13,
    float64 = 0x14,
    array_uint8 = 0x20,
    array_int32 = 0x21,
    array_float32 = 0x22,
    array_float64 = 0x23,
    bit_packed = 0x30, ///< Bits, least significant first, in whole bytes.
};

/// "INT32", "ARRAY_UINT8", …; "unknown" for a number that is no type.
constexpr const char* name_of(type_id id) noexcept {
    switch (id) {
    case type_id::uint8:
        return "UINT8";
    case type_id::int32:
        return "INT32";
    case type_id::int64:
        return "INT64";
    case type_id::float32:
        return "FLOAT32";
    case type_id::float64:
        return "FLOAT64";
    case type_id::array_uint8:
        return "ARRAY_UINT8";
    case type_id::array_int32:
        return "ARRAY_INT32";
    case type_id::array_float32:
        return "ARRAY_FLOAT32";
    case type_id::array_float64:
        return "ARRAY_FLOAT64";
    case type_id::bit_packed:
        return "BIT_PACKED";
    }
    return "unknown";
}

/// Bytes of one element; 1 for bit_packed, whose smallest step is a byte; 0 for a number that is no type.
constexpr std::size_t element_size(type_id id) noexcept {
    switch (id) {
    case type_id::uint8:
    case type_id::array_uint8:
    case type_id::bit_packed:
        return 1;
    case type_id::int32:
    case type_id::float32:
    case type_id::array_int32:
    case type_id::array_float32:
        return 4;
    case type_id::int64:
    case type_id::float64:
    case type_id::array_float64:
        return 8;
    }
    return 0;
}

/// False for the scalars.
constexpr bool is_sequence(type_id id) noexcept {
    return static_cast<std::uint8_t>(id) >= static_cast<std::uint8_t>(type_id::array_uint8);
}

} // namespace rocio::rpc
