#pragma once

#include <rocio/device/device.hpp>
#include <rocio/io/memory_options.hpp>
#include <rocio/io/memory_snapshot.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/registered_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rocio {

/// Memory registered with a device. Move-only; destroying it deregisters, so destroy it after the queue pairs
/// that use it have gone to the error state and their completions are in.
///
/// Thread safety: distinct objects are independent where the device's registration is (verbs); for the soft
/// device use the thread of its context, or do it before the context runs.
class memory_region {
  public:
    /// Registers `size` bytes (1 or more) of zeroed memory of its own, page-aligned and rounded up to whole
    /// pages so that no foreign data shares a page with it (fork, bugs of DONTFORK). Throws rocio::exception.
    memory_region(std::shared_ptr<device> dev, std::size_t size, const memory_region_config& config = {},
                  const memory_options& options = {});
    /// Registers memory of the caller, which must outlive the region. Throws rocio::exception.
    memory_region(std::shared_ptr<device> dev, std::span<std::byte> bytes,
                  const memory_region_config& config = {});
    /// The same without exceptions; `out` is untouched on failure.
    static error_info make(std::shared_ptr<device> dev, std::size_t size, const memory_region_config& config,
                           std::unique_ptr<memory_region>& out, const memory_options& options = {});

    memory_region(memory_region&&) noexcept;
    memory_region& operator=(memory_region&&) noexcept;
    ~memory_region();

    std::span<std::byte> bytes() const noexcept;
    std::size_t size() const noexcept { return bytes().size(); }

    /// What was made of the memory_options, warnings included: nobody else tells them. Without memory of its
    /// own all is 0.
    const memory_snapshot& memory() const noexcept;

    /// `n` bytes from `offset`. Throws rocio::exception(errc::not_in_region) if they do not lie inside.
    registered_buffer buffer(std::size_t offset, std::size_t n) const;
    registered_buffer buffer(std::size_t offset, std::size_t n, error_code& ec) const noexcept;
    /// All of it; at most 4 GiB - 1.
    registered_buffer buffer() const { return buffer(0, size()); }

    /// What a peer needs for RDMA into it.
    remote_region remote() const noexcept;

  private:
    struct implementation;
    explicit memory_region(std::unique_ptr<implementation> impl) noexcept;
    static error_info make_implementation(std::shared_ptr<device> dev, std::span<std::byte> bytes,
                                          std::size_t own_size, const memory_region_config& config,
                                          const memory_options& options,
                                          std::unique_ptr<implementation>& out);
    std::unique_ptr<implementation> impl_;
};

} // namespace rocio
