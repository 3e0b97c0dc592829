#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <functional>
#include <memory>

namespace rocio {

namespace detail {
struct status_providers;
}

/// Keeps one provider in its status_source; leaving scope takes the provider out and waits for a call of it
/// that is under way, so that a provider may refer to objects that die right after. Move-only; an empty one
/// does nothing.
class status_registration {
  public:
    status_registration() noexcept = default;
    status_registration(status_registration&& other) noexcept;
    status_registration& operator=(status_registration&& other) noexcept;
    ~status_registration();

    /// Takes the provider out now. Idempotent. Not from inside a provider.
    void reset() noexcept;

  private:
    friend class status_source;
    status_registration(std::shared_ptr<detail::status_providers> providers, const void* key) noexcept;

    std::shared_ptr<detail::status_providers> providers_;
    const void* key_ = nullptr;
};

/// Where the objects of a program register what the status is to show of them:
///
///     rocio::status_source source;
///     auto shown = source.add([&](rocio::status_snapshot& s) { s.streams.push_back(server.snapshot()); });
///
/// A handle: copies share the providers, and a copy keeps them alive. Thread-safe; snapshots may be taken
/// from any thread, so a provider must read what any thread may read, such as the snapshot() of a rocio
/// object.
class status_source {
  public:
    /// Appends its part to the snapshot. Called under the source's lock, one provider at a time: it must
    /// neither call the source nor wait for a thread that does.
    using provider = std::function<void(status_snapshot&)>;

    status_source();

    /// Adds a provider for as long as the result lives. Providers are asked in the order they were added.
    [[nodiscard]] status_registration add(provider show);

    /// The process and what every provider has to say. Throws what a provider throws.
    status_snapshot snapshot() const;

  private:
    std::shared_ptr<detail::status_providers> providers_;
};

} // namespace rocio
