#pragma once

#include <rocio/connect/handshake_snapshot.hpp>
#include <rocio/types/error.hpp>

#include <mutex>
#include <string>

namespace rocio {

/// Counts how connections are made in one place, for the status. A listener has its own. Handshakes made one
/// after the other, as when a connecting side tries again and again, share one that is given to each in its
/// configuration (tcp_rendezvous_config::handshakes and so on); for a handshake that takes none, call
/// began(), then established() or failed().
///
/// Thread safety: any thread.
class handshake_log {
  public:
    explicit handshake_log(std::string name = {});

    /// What handshake_snapshot shows as kind and endpoint; those that use the log set it themselves.
    void identify(std::string kind, std::string endpoint);
    void began();
    void established();
    /// `peer`: its address and port; empty where it is not known.
    void failed(const error_info& why, const std::string& peer);

    handshake_snapshot snapshot() const;

  private:
    mutable std::mutex mutex_;
    handshake_snapshot seen_{};
};

} // namespace rocio
