#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/memory_region.hpp>

#include <limits>
#include <string>

namespace rocio {

struct memory_region::implementation {
    implementation(std::size_t own_size, const memory_options& options) : own(own_size, options) {}

    detail::mapped_memory own;
    std::shared_ptr<device> dev;
    std::unique_ptr<device_memory_region> region; // destroyed before the pages it covers
};

error_info memory_region::make_implementation(std::shared_ptr<device> dev, std::span<std::byte> bytes,
                                              std::size_t own_size, const memory_region_config& config,
                                              const memory_options& options,
                                              std::unique_ptr<implementation>& out) {
    if (!dev) return {errc::device_not_found, "no device given: pass the result of open_device()"};
    const auto size = own_size > 0 ? own_size : bytes.size();
    if (size == 0)
        return {errc::invalid_argument, "a memory region of 0 bytes was asked for; the least is 1"};
    const auto asked = "a memory region of " + std::to_string(size) + " bytes";
    const auto most = dev->limits().max_region;
    if (size > most) {
        return {errc::limit_exceeded,
                asked + " was asked for, device " + dev->name() + " allows at most " + std::to_string(most)};
    }
    auto impl = std::make_unique<implementation>(own_size, options);
    if (own_size > 0) {
        if (!impl->own.data()) return {errc::registration_failed, "no memory for " + asked};
        bytes = {impl->own.data(), own_size};
    }
    if (auto e = dev->register_memory(bytes, config, impl->region)) {
        if (e.code == errc::registration_failed && e.text.empty()) {
            e.text = asked + " could not be registered with " + dev->name() +
                     ": registered memory is locked memory, see RLIMIT_MEMLOCK (ulimit -l)";
        }
        return e;
    }
    impl->dev = std::move(dev);
    out = std::move(impl);
    return {};
}

memory_region::memory_region(std::unique_ptr<implementation> impl) noexcept : impl_(std::move(impl)) {}

memory_region::memory_region(std::shared_ptr<device> dev, std::size_t size,
                             const memory_region_config& config, const memory_options& options) {
    throw_if(make_implementation(std::move(dev), {}, size, config, options, impl_));
}

memory_region::memory_region(std::shared_ptr<device> dev, std::span<std::byte> bytes,
                             const memory_region_config& config) {
    throw_if(make_implementation(std::move(dev), bytes, 0, config, {}, impl_));
}

error_info memory_region::make(std::shared_ptr<device> dev, std::size_t size,
                               const memory_region_config& config, std::unique_ptr<memory_region>& out,
                               const memory_options& options) {
    std::unique_ptr<implementation> impl;
    if (auto e = make_implementation(std::move(dev), {}, size, config, options, impl)) return e;
    out.reset(new memory_region(std::move(impl)));
    return {};
}

memory_region::memory_region(memory_region&&) noexcept = default;
memory_region& memory_region::operator=(memory_region&&) noexcept = default;
memory_region::~memory_region() = default;

std::span<std::byte> memory_region::bytes() const noexcept {
    return impl_->region->bytes();
}

const memory_snapshot& memory_region::memory() const noexcept {
    return impl_->own.got();
}

registered_buffer memory_region::buffer(std::size_t offset, std::size_t n) const {
    error_code ec;
    auto b = buffer(offset, n, ec);
    if (ec) {
        throw_if({ec, std::to_string(n) + " bytes from offset " + std::to_string(offset) +
                          " were asked for; the region has " + std::to_string(size()) +
                          " and a buffer holds at most 4294967295"});
    }
    return b;
}

registered_buffer memory_region::buffer(std::size_t offset, std::size_t n, error_code& ec) const noexcept {
    const auto all = bytes();
    if (offset > all.size() || n > all.size() - offset || n > std::numeric_limits<std::uint32_t>::max()) {
        ec = errc::not_in_region;
        return {};
    }
    ec = {};
    return {all.data() + offset, static_cast<std::uint32_t>(n), impl_->region->local_key()};
}

remote_region memory_region::remote() const noexcept {
    return {impl_->region->iova(), bytes().size(), impl_->region->remote_key()};
}

} // namespace rocio
