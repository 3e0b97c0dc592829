#pragma once

#include <rocio/io/memory_options.hpp>
#include <rocio/io/memory_snapshot.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace rocio::detail {

/// Whole pages of zeroed memory, made as memory_options say.
class mapped_memory {
  public:
    /// data() is null if there is no memory, or `size` is 0.
    mapped_memory(std::size_t size, const memory_options& options);
    ~mapped_memory();
    mapped_memory(const mapped_memory&) = delete;
    mapped_memory& operator=(const mapped_memory&) = delete;

    std::byte* data() const noexcept { return data_; }
    /// Throws std::bad_alloc where data() is null.
    std::byte* data_or_throw() const;
    /// What was made of the options.
    const memory_snapshot& got() const noexcept { return got_; }

  private:
    bool map(std::size_t size, huge_pages kind);
    bool map_reserved(std::size_t size, huge_pages kind);
    bool map_transparent(std::size_t size);
    bool map_ordinary(std::size_t size);
    void unmap() noexcept;
    void bind(unsigned node);
    void check_node();
    /// 0 or errno.
    int prefault() noexcept;
    void lock();
    void count_transparent();
    std::size_t size() const noexcept { return static_cast<std::size_t>(got_.bytes); }
    void warn(std::string text) { got_.warnings.push_back(std::move(text)); }

    void* mapping_ = nullptr; ///< With what surrounds the memory to align and guard it.
    std::size_t mapped_ = 0;
    std::byte* data_ = nullptr;
    memory_snapshot got_{};
};

} // namespace rocio::detail
