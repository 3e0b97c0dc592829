#pragma once

#include <boost/asio/execution_context.hpp>

#include <map>
#include <memory>
#include <mutex>

namespace rocio::detail {

/// Tells objects that post to a context but do not live in it when the context ends: posting to it then is
/// undefined. A service of the context; created after the scheduler, it shuts down before it.
class context_end final : public boost::asio::execution_context::service {
  public:
    using key_type = context_end;
    // Asio takes the service by this name.
    // NOLINTNEXTLINE(readability-identifier-naming)
    static inline boost::asio::execution_context::id id{};

    class listener {
      public:
        virtual ~listener() = default;
        /// The context must not be used from the return on. Called on the thread that destroys it.
        virtual void on_context_end() noexcept = 0;
    };

    explicit context_end(boost::asio::execution_context& context);

    void add(const std::shared_ptr<listener>& who);
    /// Nothing is said to `who` any more, except what is being said now.
    void remove(const listener* who) noexcept;

  private:
    void shutdown() override;

    std::mutex mutex_;
    std::map<const listener*, std::weak_ptr<listener>> listeners_;
};

} // namespace rocio::detail
