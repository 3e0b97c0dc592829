#pragma once

#include <rocio/types/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

namespace archetype {

struct slot_callback {
    void operator()(std::uint32_t) const {}
};

} // namespace archetype

/// Slots in two directions, whatever feeds them: a NIC, the soft device, a test. Slots have numbers 0 to
/// slot_count() - 1; both directions have equally many, and all slots of a direction are equally long.
///
/// - `rx_slot(slot)`: the memory of a receive slot, always the whole slot. Its bytes are the reader's from
/// the
///   moment the slot was reported filled until release(slot).
/// - `tx_slot(slot)`: the memory of a send slot. It may be written while tx_free(slot) holds. It may be the
/// same
///   memory as rx_slot(slot).
/// - `tx_free(slot)`: true when nothing published in the slot waits to leave any more.
/// - `publish(slot, length)`: sends the first `length` bytes of the send slot (a ring of fixed messages may
/// send
///   more of it). An error means that nothing of it will leave.
/// - `release(slot)`: the receive slot may be filled again. In an answer's order: publish, then release.
///
/// All of them are called on the strand that polls the ring, do not block, throw nothing and call nobody
/// back. A slot number out of range is a breach of the caller's contract.
template <class R>
concept slot_ring = requires(R& ring, const R& geometry, std::uint32_t slot, std::size_t length) {
    { geometry.slot_count() } -> std::convertible_to<std::uint32_t>;
    { ring.rx_slot(slot) } -> std::convertible_to<std::span<const std::byte>>;
    { ring.tx_slot(slot) } -> std::convertible_to<std::span<std::byte>>;
    { ring.tx_free(slot) } -> std::convertible_to<bool>;
    { ring.publish(slot, length) } -> std::convertible_to<error_code>;
    ring.release(slot);
};

/// A slot ring that is asked for what has arrived: `poll(callback)` calls `callback(slot)` for every receive
/// slot filled since the last poll, in order of arrival, and returns how many there were. Bounded, never
/// blocking. A slot it reported is not reported again before its release(), which the callback may call.
template <class R>
concept polled_slot_ring = slot_ring<R> && requires(R& ring) {
    { ring.poll(archetype::slot_callback{}) } -> std::convertible_to<std::size_t>;
};

} // namespace rocio
