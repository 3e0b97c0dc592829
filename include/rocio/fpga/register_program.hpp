#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>

namespace rocio::fpga {

/// The next thing a register_program wants done.
struct register_step {
    enum class kind : std::uint8_t { read, write, pause, end };
    kind what = kind::end;
    std::uint32_t address = 0;                  ///< read and write.
    std::uint32_t value = 0;                    ///< write.
    std::chrono::steady_clock::duration wait{}; ///< pause.

    static register_step read(std::uint32_t address) { return {kind::read, address, 0, {}}; }
    static register_step write(std::uint32_t address, std::uint32_t value) {
        return {kind::write, address, value, {}};
    }
    static register_step pause(std::chrono::steady_clock::duration wait) { return {kind::pause, 0, 0, wait}; }
    static register_step end() { return {}; }

    friend bool operator==(const register_step&, const register_step&) = default;
};

/// A procedure over a board's registers, as a state machine without sockets or clocks: it says the next step
/// and is told how that one went. async_run() drives it over any register bus. next() is called once for each
/// step and once more after the last, when it says `end`; on_result() after each step but `end`.
class register_program {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    virtual ~register_program() = default;

    virtual register_step next(time_point now) = 0;
    /// `failure` is what the bus says; a pause has none. `value` is what was read, else 0.
    virtual void on_result(const error_info& failure, std::uint32_t value, time_point now) = 0;
    /// After `end`: no error, or what failed in which stage and what to do.
    virtual error_info result() const = 0;

  protected:
    register_program() = default;
    register_program(const register_program&) = default;
    register_program& operator=(const register_program&) = default;
};

} // namespace rocio::fpga
