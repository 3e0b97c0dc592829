#include <rocio/fpga/hsb_error.hpp>

#include <string>

namespace rocio::fpga {

namespace {

bool is_callers_fault(hsb_status status) noexcept {
    switch (status) {
    case hsb_status::invalid_address:
    case hsb_status::unknown_command:
    case hsb_status::invalid_length:
    case hsb_status::invalid_flags:
    case hsb_status::invalid_block_size:
    case hsb_status::invalid_indirect_address:
        return true;
    default:
        return false;
    }
}

// Boost's category base is never deleted through a pointer; Boost silences the same warning for its own
// categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class status_category_type final : public boost::system::error_category {
  public:
    constexpr status_category_type() noexcept : error_category(0x9A41E7C35D0862BF) {}

    const char* name() const noexcept override { return "rocio.fpga.hsb_status"; }
    std::string message(int value) const override {
        return std::string("the FPGA refuses: ") + describe(static_cast<hsb_status>(value)) + " (status " +
               std::to_string(value) + ")";
    }
    bool equivalent(int value, const error_condition& c) const noexcept override {
        if (c == make_error_condition(condition::bad_configuration))
            return is_callers_fault(static_cast<hsb_status>(value));
        return error_category::equivalent(value, c);
    }
};

class hsb_category_type final : public boost::system::error_category {
  public:
    constexpr hsb_category_type() noexcept : error_category(0x3B86F10D72CE549A) {}

    const char* name() const noexcept override { return "rocio.fpga.hsb"; }
    std::string message(int value) const override {
        switch (static_cast<hsb_errc>(value)) {
        case hsb_errc::success:
            return "success";
        case hsb_errc::no_answer:
            return "no answer on the control channel; check address, port and that the FPGA is up";
        case hsb_errc::bad_response:
            return "the answer has other registers than the request";
        }
        return "unknown error of the control channel";
    }
};

#pragma GCC diagnostic pop

constexpr status_category_type the_status_category;
constexpr hsb_category_type the_hsb_category;

} // namespace

const boost::system::error_category& hsb_status_category() noexcept {
    return the_status_category;
}

const boost::system::error_category& hsb_error_category() noexcept {
    return the_hsb_category;
}

error_code make_error_code(hsb_status s) noexcept {
    return {static_cast<int>(s), the_status_category};
}

error_code make_error_code(hsb_errc e) noexcept {
    return {static_cast<int>(e), the_hsb_category};
}

} // namespace rocio::fpga
