#pragma once

#include <rocio/fpga/register_program.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace rocio::tools {

/// Asks a PRBS source (surf's SsiPrbsTx, PrbsWordSize at 0x20) for the bits of its word.
class word_size_program final : public fpga::register_program {
  public:
    word_size_program(std::uint32_t address, std::function<void(std::uint32_t)> tell)
        : address_(address), tell_(std::move(tell)) {}

    fpga::register_step next(time_point) override {
        return std::exchange(asked_, true) ? fpga::register_step::end() : fpga::register_step::read(address_);
    }
    void on_result(const error_info& failure, std::uint32_t bits, time_point) override {
        result_ = failure;
        if (failure) return;
        if (bits >= 32 && bits <= 8192 && bits % 32 == 0) return tell_(bits);
        result_ = {errc::bad_response, "the PRBS source says that its word has " + std::to_string(bits) +
                                           " bits; is --prbs-base right? If so, give --prbs-width"};
    }
    error_info result() const override { return result_; }

  private:
    std::uint32_t address_;
    std::function<void(std::uint32_t)> tell_;
    error_info result_{};
    bool asked_ = false;
};

} // namespace rocio::tools
