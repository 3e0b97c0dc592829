#pragma once

#include <rocio/fpga/register_program.hpp>
#include <rocio/fpga/register_space.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace rocio::test {

/// What becomes of a step. `lost_before`: it fails and the board does not see it. `lost_after`: the board
/// carries it out, but its answer is lost. `dropped`: the program is given up here, the board not having seen
/// the step; `dropped_after`: having seen it.
enum class step_fate { well, lost_before, lost_after, dropped, dropped_after };

/// Runs a register_program against a board, in a time of its own: an access takes 100 us, a pause what it
/// says.
class program_driver {
  public:
    using clock = std::chrono::steady_clock;
    using fate_of = std::function<step_fate(std::size_t index, const fpga::register_step& step)>;

    struct outcome {
        error_info result{};
        bool dropped = false;
        std::size_t steps = 0;
        clock::duration elapsed{};
    };

    static constexpr std::size_t most_steps = 200'000;

    explicit program_driver(fpga::register_space& board) : board_(board) {}

    fate_of fate = [](std::size_t, const fpga::register_step&) { return step_fate::well; };
    /// Called before each step that reaches the board.
    std::function<void(const fpga::register_step&)> on_step{};
    std::vector<fpga::register_step> trace{};
    clock::time_point now{std::chrono::hours(1)};

    outcome run(fpga::register_program& program) {
        outcome out;
        const auto start = now;
        for (;; ++out.steps) {
            if (out.steps == most_steps) {
                ADD_FAILURE() << "the program does not end";
                break;
            }
            const auto step = program.next(now);
            if (step.what == fpga::register_step::kind::end) break;
            trace.push_back(step);
            const auto what = fate(out.steps, step);
            if (what == step_fate::dropped || what == step_fate::dropped_after) {
                if (what == step_fate::dropped_after) (void)carry_out(step);
                out.dropped = true;
                return out;
            }
            deliver(program, step, what);
        }
        EXPECT_EQ(program.next(now), fpga::register_step::end());
        out.result = program.result();
        out.elapsed = now - start;
        return out;
    }

  private:
    using kind = fpga::register_step::kind;
    struct seen {
        fpga::bus_response response = fpga::bus_response::ok;
        std::uint32_t value = 0;
    };

    seen carry_out(const fpga::register_step& step) {
        if (on_step) on_step(step);
        seen s;
        if (step.what == kind::read) s.response = board_.read(step.address, s.value);
        if (step.what == kind::write) s.response = board_.write(step.address, step.value);
        return s;
    }
    void deliver(fpga::register_program& program, const fpga::register_step& step, step_fate what) {
        if (step.what == kind::pause) {
            now += step.wait;
            return program.on_result({}, 0, now);
        }
        now += std::chrono::microseconds(100);
        seen s;
        if (what != step_fate::lost_before) s = carry_out(step);
        if (what != step_fate::well) return program.on_result({errc::handshake_timed_out, "lost"}, 0, now);
        if (s.response != fpga::bus_response::ok)
            return program.on_result({errc::refused_by_peer, "decode error"}, 0, now);
        program.on_result({}, s.value, now);
    }

    fpga::register_space& board_;
};

} // namespace rocio::test
