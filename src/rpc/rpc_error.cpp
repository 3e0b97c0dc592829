#include <rocio/rpc/rpc_error.hpp>

namespace rocio::rpc {

namespace {

bool is_bad_configuration(const error_condition& c) noexcept {
    return c == make_error_condition(condition::bad_configuration);
}

// Boost's category base is never deleted through a pointer; Boost silences the same warning for its own
// categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class status_category_type final : public boost::system::error_category {
  public:
    constexpr status_category_type() noexcept : error_category(0x5E2B07D94A61C38F) {}

    const char* name() const noexcept override { return "rocio.rpc.status"; }
    std::string message(int value) const override {
        switch (static_cast<status>(value)) {
        case status::ok:
            return "success";
        case status::unknown_function:
            return "the peer has no function of this name; compare the spelling on both sides";
        case status::bad_argument_length:
            return "the peer refuses the length of the arguments; compare the signature and the slot size of "
                   "both "
                   "sides";
        case status::result_too_large:
            return "the result does not fit the peer's send slot; make its slots larger";
        case status::handler_failed:
            return "the peer's handler failed; its log tells why";
        }
        return (value > 0 ? "the peer's handler answered with status " : "unknown protocol status ") +
               std::to_string(value);
    }
    bool equivalent(int value, const error_condition& c) const noexcept override {
        if (is_bad_configuration(c)) {
            const auto s = static_cast<status>(value);
            return s == status::unknown_function || s == status::bad_argument_length ||
                   s == status::result_too_large;
        }
        return error_category::equivalent(value, c);
    }
};

class rpc_category_type final : public boost::system::error_category {
  public:
    constexpr rpc_category_type() noexcept : error_category(0xC70F3A9D16B5E248) {}

    const char* name() const noexcept override { return "rocio.rpc"; }
    std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::success:
            return "success";
        case errc::deadline_exceeded:
            return "no answer within the deadline; check that the peer serves, or raise the deadline";
        case errc::bad_response:
            return "the answer's results do not fit the call's signature; compare the signatures of both "
                   "sides";
        case errc::request_too_long:
            return "header and arguments do not fit a slot; send less, or make the slots larger";
        }
        return "unknown rocio.rpc error " + std::to_string(value);
    }
    bool equivalent(int value, const error_condition& c) const noexcept override {
        if (is_bad_configuration(c)) return static_cast<errc>(value) == errc::request_too_long;
        return error_category::equivalent(value, c);
    }
};

#pragma GCC diagnostic pop

constexpr status_category_type the_status_category;
constexpr rpc_category_type the_rpc_category;

} // namespace

const boost::system::error_category& status_category() noexcept {
    return the_status_category;
}
const boost::system::error_category& error_category() noexcept {
    return the_rpc_category;
}

error_code make_error_code(status s) noexcept {
    return {static_cast<int>(s), the_status_category};
}
error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), the_rpc_category};
}

} // namespace rocio::rpc
