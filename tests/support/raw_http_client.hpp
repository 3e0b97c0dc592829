#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rocio::test {

struct http_response {
    unsigned status = 0;
    std::map<std::string, std::string> headers{}; ///< Names in lower case.
    std::string body{};

    bool has(const std::string& name) const { return headers.count(name) > 0; }
    std::string header(const std::string& name) const { return has(name) ? headers.at(name) : std::string(); }
};

/// One TCP connection that sends any bytes it is told to and never blocks, so that a test can serve and ask
/// in one thread: work() moves bytes in both directions as far as they go.
class raw_http_client {
  public:
    /// `receive_buffer`: bytes for SO_RCVBUF, 0 for the system's choice.
    explicit raw_http_client(int receive_buffer = 0);
    raw_http_client(const std::string& address, std::uint16_t port) : raw_http_client() {
        connect(address, port);
    }
    raw_http_client(raw_http_client&& other) noexcept;
    raw_http_client& operator=(raw_http_client&&) = delete;
    ~raw_http_client();

    void connect(const std::string& address, std::uint16_t port);

    void send(std::string_view bytes);
    void get(std::string_view target); ///< A well-formed keep-alive request.
    void work();
    void finish_sending(); ///< FIN.
    void reset();          ///< RST, and no more.

    /// The next whole response. `to_head`: of a request that gets no body.
    std::optional<http_response> next_response(bool to_head = false);
    bool ended() const noexcept {
        return ended_;
    } ///< The server closed; what it sent before may still be here.
    bool all_sent() const noexcept { return outgoing_.empty(); }
    std::size_t unread() const noexcept { return incoming_.size(); }
    /// What came and is no response taken yet, of a body without end.
    std::string take_unread() { return std::exchange(incoming_, {}); }

  private:
    int fd_ = -1;
    std::string outgoing_{};
    std::string incoming_{};
    bool ended_ = false;
};

} // namespace rocio::test
