#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/types/register_bus.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

/// Any register bus (rocio/types/register_bus.hpp), without its type. Copies share the bus; the last one
/// destroys it. Thread safety: as the bus.
class any_register_bus {
  public:
    template <class B>
    requires(register_bus<B> && !std::same_as<std::decay_t<B>, any_register_bus>) any_register_bus(B bus)
        : impl_(std::make_shared<model<B>>(std::move(bus))) {}

    asio::any_io_executor get_executor() const { return impl_->executor(); }

    template <asio::completion_token_for<void(error_code, std::uint32_t)> Token =
                  default_token_t<asio::any_io_executor>>
    auto async_read(std::uint32_t address, Token&& token = default_token_t<asio::any_io_executor>()) {
        return asio::async_initiate<Token, void(error_code, std::uint32_t)>(
            [](auto handler, const std::shared_ptr<concept_type>& bus, std::uint32_t where) {
                bus->read(where, {std::move(handler), bus->executor()});
            },
            token, impl_, address);
    }
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<asio::any_io_executor>>
    auto async_write(std::uint32_t address, std::uint32_t value,
                     Token&& token = default_token_t<asio::any_io_executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, const std::shared_ptr<concept_type>& bus, std::uint32_t where,
               std::uint32_t what) {
                bus->write(where, what, {std::move(handler), bus->executor()});
            },
            token, impl_, address, value);
    }
    error_info last_error() const { return impl_->last_error(); }

  private:
    struct concept_type {
        virtual ~concept_type() = default;
        virtual void read(std::uint32_t, async::control_handler<void(error_code, std::uint32_t)>) = 0;
        virtual void write(std::uint32_t, std::uint32_t, async::control_handler<void(error_code)>) = 0;
        virtual asio::any_io_executor executor() const = 0;
        virtual error_info last_error() const = 0;
    };
    template <class B>
    struct model final : concept_type {
        explicit model(B b) : bus(std::move(b)) {}
        void read(std::uint32_t address, async::control_handler<void(error_code, std::uint32_t)> h) override {
            bus.async_read(address, std::move(h));
        }
        void write(std::uint32_t address, std::uint32_t value,
                   async::control_handler<void(error_code)> h) override {
            bus.async_write(address, value, std::move(h));
        }
        asio::any_io_executor executor() const override { return bus.get_executor(); }
        error_info last_error() const override { return bus.last_error(); }
        B bus;
    };

    std::shared_ptr<concept_type> impl_;
};

} // namespace rocio::fpga
