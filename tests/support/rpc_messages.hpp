#pragma once

#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>
#include <rocio/rpc/rpc_error.hpp>
#include <rocio/rpc/value_codec.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace rocio::test {

using byte_vector = std::vector<std::byte>;

/// Values one behind the other, as arguments and results travel.
template <class... Ts>
byte_vector packed(const Ts&... values) {
    byte_vector bytes;
    const auto append = [&bytes](const auto& value) {
        using codec = rpc::value_codec<std::remove_cvref_t<decltype(value)>>;
        const auto at = bytes.size();
        bytes.resize(at + codec::size(value));
        codec::encode(value, std::span(bytes).subspan(at));
    };
    (append(values), ...);
    return bytes;
}

template <class Header>
byte_vector with_header(const Header& header, const byte_vector& payload) {
    byte_vector bytes(Header::size + payload.size());
    if (!header.encode(bytes)) throw std::logic_error("no room for a header");
    std::ranges::copy(payload, bytes.begin() + Header::size);
    return bytes;
}

/// A request as a peer sends it.
inline byte_vector request_bytes(rpc::function_id callee, const byte_vector& arguments,
                                 std::uint32_t request_id = 7, std::uint64_t timestamp = 0) {
    return with_header(rpc::request_header{.function = callee.value(),
                                           .arg_len = static_cast<std::uint32_t>(arguments.size()),
                                           .request_id = request_id,
                                           .timestamp = timestamp},
                       arguments);
}

inline byte_vector response_bytes(const rpc::request_header& to, const byte_vector& results,
                                  std::int32_t status = 0) {
    return with_header(rpc::response_header{.status = status,
                                            .result_len = static_cast<std::uint32_t>(results.size()),
                                            .request_id = to.request_id,
                                            .timestamp = to.timestamp},
                       results);
}

/// The header of bytes that must be a request, or a response.
inline rpc::request_header request_of(std::span<const std::byte> bytes) {
    return rpc::request_header::decode(bytes).value();
}
inline rpc::response_header response_of(std::span<const std::byte> bytes) {
    return rpc::response_header::decode(bytes).value();
}

/// One value from the place behind a header.
template <class T>
T value_behind_header(std::span<const std::byte> bytes, std::size_t offset = 0) {
    return rpc::value_codec<T>::decode(bytes.subspan(24 + offset, rpc::value_codec<T>::desc.size_bytes));
}

} // namespace rocio::test
