#include <rocio/connect/parse_endpoint.hpp>

#include <boost/asio/ip/address.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace rocio {

namespace {

error_info refused(std::string_view text, const std::string& why) {
    return {errc::invalid_argument, "\"" + std::string(text) + "\" is no endpoint: " + why +
                                        "; allowed are 10.0.0.2:4000 and [fd00::2]:4000"};
}

} // namespace

error_info parse_endpoint(std::string_view text, boost::asio::ip::tcp::endpoint& out) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return refused(text, "the port is missing");
    auto host = text.substr(0, colon);
    const auto port_text = text.substr(colon + 1);
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);

    error_code ec;
    const auto address = boost::asio::ip::make_address(std::string(host), ec);
    if (ec || address.is_v6() != bracketed) return refused(text, "the host is not a numeric address");
    std::uint16_t port = 0;
    const auto end = port_text.data() + port_text.size();
    const auto parsed = std::from_chars(port_text.data(), end, port);
    if (parsed.ec != std::errc() || parsed.ptr != end || port == 0) {
        return refused(text, "the port is not a number 1..65535");
    }
    out = {address, port};
    return {};
}

boost::asio::ip::tcp::endpoint parse_endpoint(std::string_view text) {
    boost::asio::ip::tcp::endpoint out;
    throw_if(parse_endpoint(text, out));
    return out;
}

} // namespace rocio
