#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rocio {

/// How the status is shown over HTTP, whatever server carries it.
struct status_routes_config {
    /// When not empty, everything but `/healthz` and the page (which holds no data) wants it: "Authorization:
    /// Bearer TOKEN", else 401. Letters, digits and "-._~+/=". The page takes it from "#token=…" in its URL.
    std::string token{};
    /// When not empty, scripts of this origin may read the status: "https://grafana.example", or "*".
    std::string allow_origin{};

    /// Refuses with 421 what asks for a host that is neither a numeric address, "localhost" nor one of
    /// `hosts`: a web page whose name its owner lets point here could read the status otherwise (DNS
    /// rebinding). A status_server on a loopback address does so in any case.
    bool only_known_hosts = false;
    std::vector<std::string> hosts{}; ///< Names without port, in any case.

    /// For the answers of providers with an executor; who is later is shown as stale.
    std::chrono::milliseconds snapshot_deadline{50};
    /// Requests share a snapshot that is no older than this, so that any number of them asks the providers,
    /// and with them the data plane, at most so often. 0: each request gets a snapshot taken after it came.
    std::chrono::milliseconds snapshot_age{20};

    std::size_t max_subscribers = 16;                ///< Of `/events`; beyond, 503.
    std::chrono::milliseconds event_interval{1'000}; ///< Between changes sent to a subscriber.
    std::chrono::milliseconds heartbeat{10'000}; ///< A comment when a subscriber has got nothing for so long.

    /// Why the program is not ready, for `/readyz`; "" when it is. Null: when nothing is stale. Called on the
    /// server's executor, must not block.
    std::function<std::string(const status_snapshot&)> not_ready{};
};

} // namespace rocio
