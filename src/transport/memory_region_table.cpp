#include <rocio/transport/memory_region_table.hpp>

#include <limits>

namespace rocio::transport {

namespace {

// A key is {place + 1: 24 bits, generation: 8 bits}, as rxe makes its keys, so that no key is ever 0.
constexpr std::uint32_t max_places = (1U << 24) - 1;

constexpr std::uint32_t key_of(std::uint32_t place, std::uint8_t generation) noexcept {
    return (place + 1) << 8 | generation;
}

bool inside(std::uint64_t base, std::uint64_t size, std::uint64_t address, std::uint64_t length) noexcept {
    if (address < base || length > size) return false;
    return address - base <= size - length;
}

bool legal(const memory_region_table::region& r) noexcept {
    if (r.base == nullptr || r.length == 0) return false;
    // The last byte must have an address: base + length may be 2^64, not more.
    if (r.length - 1 > std::numeric_limits<std::uint64_t>::max() - r.iova) return false;
    return !grants(r.access, memory_access::remote_write) || grants(r.access, memory_access::local_write);
}

} // namespace

errc memory_region_table::add(const region& r, std::uint32_t& key) {
    if (!legal(r)) return errc::invalid_argument;
    if (free_.empty()) {
        if (places_.size() == max_places) return errc::limit_exceeded;
        // Room to give every place back, so that remove() never allocates.
        free_.reserve(places_.size() + 1);
        places_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    place& p = places_[index];
    p.value = r;
    p.used = true;
    ++p.generation;
    ++live_;
    key = key_of(index, p.generation);
    return errc::success;
}

errc memory_region_table::remove(std::uint32_t key) {
    if (find(key) == nullptr) return errc::invalid_argument;
    const std::uint32_t index = (key >> 8) - 1;
    places_[index].used = false;
    free_.push_back(index);
    --live_;
    return errc::success;
}

const memory_region_table::place* memory_region_table::find(std::uint32_t key) const noexcept {
    const std::size_t index = std::size_t{key >> 8} - 1; // key 0..255 wraps far beyond the table
    if (index >= places_.size()) return nullptr;
    const place& p = places_[index];
    return p.used && p.generation == (key & 0xFF) ? &p : nullptr;
}

bool memory_region_table::check_local(const registered_buffer& buffer, memory_access need) const noexcept {
    if (buffer.size == 0) return true;
    const place* p = find(buffer.key.value);
    if (p == nullptr || !grants(p->value.access, need)) return false;
    return inside(reinterpret_cast<std::uintptr_t>(p->value.base), p->value.length,
                  reinterpret_cast<std::uintptr_t>(buffer.data), buffer.size);
}

std::optional<std::span<std::byte>> memory_region_table::check_remote(rkey key, std::uint64_t address,
                                                                      std::uint64_t length,
                                                                      memory_access need) const noexcept {
    if (length == 0) return std::span<std::byte>{};
    const place* p = find(key.value);
    if (p == nullptr || !grants(p->value.access, need)) return std::nullopt;
    if (!inside(p->value.iova, p->value.length, address, length)) return std::nullopt;
    return std::span{p->value.base + (address - p->value.iova), static_cast<std::size_t>(length)};
}

} // namespace rocio::transport
