#include <rocio/fpga/bus_error.hpp>

#include <string>

namespace rocio::fpga {

namespace {

// Boost's category base is never deleted through a pointer; Boost silences the same warning for its own
// categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class bus_category_type final : public boost::system::error_category {
  public:
    constexpr bus_category_type() noexcept : error_category(0xC41B76D5E20F9837) {}

    const char* name() const noexcept override { return "rocio.fpga.bus"; }
    std::string message(int value) const override {
        switch (static_cast<bus_errc>(value)) {
        case bus_errc::success:
            return "success";
        case bus_errc::no_answer:
            return "no answer on the register bus; check address, port and that the board is up";
        case bus_errc::not_connected:
            return "no connection to the board's registers; check address, port and that the board is up";
        case bus_errc::connection_lost:
            return "the connection to the board's registers was lost";
        case bus_errc::refused:
            return "the board refuses the access";
        }
        return "unknown error of a register bus";
    }
};

#pragma GCC diagnostic pop

constexpr bus_category_type the_bus_category;

} // namespace

const boost::system::error_category& bus_error_category() noexcept {
    return the_bus_category;
}

error_code make_error_code(bus_errc e) noexcept {
    return {static_cast<int>(e), the_bus_category};
}

} // namespace rocio::fpga
