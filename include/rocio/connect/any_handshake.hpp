#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/types/handshake.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace rocio {

/// Any handshake, without its type: what receive_server and async_connect() take, so that TCP, rdma_cm, FPGA
/// and static peers are interchangeable. Move-only; owns the handshake.
class any_handshake {
  public:
    template <class H>
    requires(handshake<H> && !std::same_as<std::decay_t<H>, any_handshake>) any_handshake(H how)
        : impl_(std::make_unique<model<H>>(std::move(how))) {}

    void async_exchange(const local_parameters& local,
                        async::control_handler<void(error_code, peer_parameters)> h) {
        impl_->exchange(local, std::move(h));
    }
    void async_ready(async::control_handler<void(error_code)> h) { impl_->ready(std::move(h)); }
    void async_wait_lost(async::control_handler<void(error_code)> h) { impl_->wait_lost(std::move(h)); }
    void async_release(async::control_handler<void(error_code)> h) { impl_->release(std::move(h)); }
    error_info last_error() const { return impl_->last_error(); }

  private:
    struct concept_type {
        virtual ~concept_type() = default;
        virtual void exchange(const local_parameters&,
                              async::control_handler<void(error_code, peer_parameters)>) = 0;
        virtual void ready(async::control_handler<void(error_code)>) = 0;
        virtual void wait_lost(async::control_handler<void(error_code)>) = 0;
        virtual void release(async::control_handler<void(error_code)>) = 0;
        virtual error_info last_error() const = 0;
    };
    template <class H>
    struct model final : concept_type {
        explicit model(H h) : how(std::move(h)) {}
        void exchange(const local_parameters& local,
                      async::control_handler<void(error_code, peer_parameters)> h) override {
            how.async_exchange(local, std::move(h));
        }
        void ready(async::control_handler<void(error_code)> h) override { how.async_ready(std::move(h)); }
        void wait_lost(async::control_handler<void(error_code)> h) override {
            how.async_wait_lost(std::move(h));
        }
        void release(async::control_handler<void(error_code)> h) override { how.async_release(std::move(h)); }
        error_info last_error() const override { return how.last_error(); }
        H how;
    };

    std::unique_ptr<concept_type> impl_;
};

} // namespace rocio
