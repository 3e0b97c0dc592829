#pragma once

#include <rocio/soft/link.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace rocio::soft {

/// A network in memory, for tests without sockets: what one link sends waits at the link of that address and
/// port until it is received, in order. Nothing happens by itself. Links may outlive the network. Not
/// thread-safe.
class simulated_network {
  public:
    /// Sees every datagram that a link sends, as one run of bytes.
    using observer =
        std::function<void(const gid& from, const destination& to, std::span<const std::byte> bytes)>;

    simulated_network();
    ~simulated_network();

    /// A link for `address` and `port` that claims to be on `interface`; one already there is cut off.
    std::unique_ptr<link> attach(const gid& address, std::uint16_t port = 4791,
                                 const link_interface& interface = {"sim0", 24, 9'000, true});

    /// Puts bytes of any kind into the queue of the link at `to`, as if `from` had sent them.
    void inject(const received_datagram& datagram, const gid& to, std::uint16_t to_port = 4791);

    void observe(observer f);
    /// Each link takes at most `datagrams` more, then reports back-pressure, until this is called again.
    void limit_sends(std::size_t datagrams);
    /// Datagrams that were for nobody.
    std::uint64_t lost() const noexcept;

  private:
    struct body;
    class end;
    std::shared_ptr<body> body_;
};

} // namespace rocio::soft
