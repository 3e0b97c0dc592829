#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/register_client_snapshot.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio::fpga::detail {

enum class access_kind : std::uint8_t { read, write, post, null };

/// One transaction; the words belong to whoever asked.
struct register_access {
    access_kind kind = access_kind::null;
    std::uint64_t address = 0;
    std::span<std::uint32_t> into{};       ///< read
    std::span<const std::uint32_t> from{}; ///< write and post
};

using register_read_completion = async::control_handler<void(error_code, std::uint32_t)>;
using register_step_completion = async::control_handler<void(error_code)>;

/// Everything of a bus that does not depend on the executor's type.
class register_client_core;
using register_client_core_ptr = std::shared_ptr<register_client_core>;

// All may be called from any thread; a null core (a moved-from bus) answers rocio::errc::invalid_state.
void start_read_word(const register_client_core_ptr& core, std::uint64_t address,
                     register_read_completion handler);
/// A write or post of one word.
void start_word(const register_client_core_ptr& core, access_kind kind, std::uint64_t address,
                std::uint32_t value, register_step_completion handler);
void start_access(const register_client_core_ptr& core, const register_access& access,
                  register_step_completion handler);
void cancel(const register_client_core_ptr& core);
void close(const register_client_core_ptr& core);
error_info last_error_of(const register_client_core_ptr& core);
register_client_snapshot snapshot_of(const register_client_core_ptr& core);
/// Drops the owner's reference: ends what is outstanding and closes.
void abandon(register_client_core_ptr&& core) noexcept;

/// The owner of a core.
class register_client_handle {
  public:
    explicit register_client_handle(register_client_core_ptr core) noexcept : core_(std::move(core)) {}
    register_client_handle(register_client_handle&&) noexcept = default;
    register_client_handle& operator=(register_client_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(core_, std::move(other.core_)));
        return *this;
    }
    ~register_client_handle() { abandon(std::move(core_)); }

    const register_client_core_ptr& get() const noexcept { return core_; }

  private:
    register_client_core_ptr core_;
};

} // namespace rocio::fpga::detail
