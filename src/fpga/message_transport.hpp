#pragma once

#include <rocio/types/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rocio::fpga::detail {

/// Carries whole messages to a board and back. All of it is called, and calls its user, on the strand of the
/// core it belongs to.
class message_transport {
  public:
    class user {
      public:
        virtual void on_message(std::span<const std::byte> message) = 0;
        /// The message of this number is with the network, or on a connection that repeats it.
        virtual void on_sent(std::uint32_t id) = 0;
        /// None of the messages sent so far will be answered.
        virtual void on_failure(const error_info& why) = 0;

      protected:
        user() = default;
        user(const user&) = default;
        user& operator=(const user&) = default;
        ~user() = default;
    };

    message_transport() = default;
    message_transport(const message_transport&) = delete;
    message_transport& operator=(const message_transport&) = delete;
    virtual ~message_transport() = default;

    void set_user(user& u) noexcept { user_ = &u; }

    /// Operations are outstanding from now on. What the transport waits for holds `keep`, which holds the
    /// transport.
    virtual void begin(const std::shared_ptr<void>& keep) = 0;
    /// None is outstanding any more.
    virtual void rest() = 0;
    /// After begin(). A message that cannot be sent is lost, or waits until it can be or is withdrawn.
    virtual void send(std::uint32_t id, std::span<const std::byte> message) = 0;
    /// The operation is over; its message need not be sent any more.
    virtual void withdraw(std::uint32_t) {}
    virtual void close() = 0;

    /// Who is at the other end: "SRP at 10.0.0.2:8192".
    virtual std::string peer() const = 0;
    /// What is known of why nothing is answered; no error when nothing is.
    virtual error_info silence() const = 0;

  protected:
    user& its_user() const noexcept { return *user_; }

  private:
    user* user_ = nullptr;
};

} // namespace rocio::fpga::detail
