#include <rocio/fpga/udp_engine.hpp>

#include <limits>
#include <string>

namespace rocio::fpga {

namespace {

constexpr unsigned most_clients = 16, bytes_per_client = 8, host_register = 4;
constexpr unsigned writes = 2, steps = 4;

std::string hex(std::uint32_t value) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdef"[value & 0xF]);
        value >>= 4;
    } while (value != 0);
    return "0x" + text;
}

} // namespace

error_info validate(const udp_engine_target& target) {
    const auto wrong = [](const std::string& text) {
        return error_info{errc::invalid_argument, "UDP engine: " + text};
    };
    constexpr auto last = std::numeric_limits<std::uint32_t>::max();
    if (target.client >= most_clients)
        return wrong("client " + std::to_string(target.client) + ", allowed are 0 to 15");
    if (target.base % 4 != 0 || target.base > last - bytes_per_client * most_clients)
        return wrong("base address " + hex(target.base) + ", allowed are multiples of 4 up to 0xffffff7c");
    if (target.host.is_unspecified() || target.host.is_multicast())
        return wrong("host address " + target.host.to_string() + ", which is no host's");
    if (target.port == 0) return wrong("port 0, allowed are 1 to 65535");
    return {};
}

udp_engine_program::udp_engine_program(const udp_engine_target& target) : target_(target) {
    throw_if(validate(target));
}

/// Even steps are about the port, odd ones about the address.
std::uint32_t udp_engine_program::address(unsigned step) const {
    return target_.base + bytes_per_client * target_.client + (step % 2) * host_register;
}

std::uint32_t udp_engine_program::value(unsigned step) const {
    if (step % 2 == 0) return (target_.port & 0xFFU) << 8 | target_.port >> 8;
    const auto octets = target_.host.to_bytes();
    return octets[0] | std::uint32_t{octets[1]} << 8 | std::uint32_t{octets[2]} << 16 |
           std::uint32_t{octets[3]} << 24;
}

register_step udp_engine_program::next(time_point) {
    if (result_ || step_ == steps) return register_step::end();
    if (step_ < writes) return register_step::write(address(step_), value(step_));
    return register_step::read(address(step_));
}

void udp_engine_program::on_result(const error_info& failure, std::uint32_t read, time_point) {
    const auto step = step_++;
    const std::string what = "UDP engine, client " + std::to_string(target_.client) +
                             (step % 2 == 0 ? ", remote port: " : ", remote address: ");
    if (failure) {
        result_ = {failure.code, what + failure.message()};
    } else if (step >= writes && read != value(step)) {
        result_ = {errc::bad_response, what + "wrote " + hex(value(step)) + " to " + hex(address(step)) +
                                           ", read back " + hex(read) +
                                           "; check the engine's base address and the client's number"};
    }
}

} // namespace rocio::fpga
