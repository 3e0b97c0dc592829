#pragma once

#include <rocio/rpc/detail/function_entry.hpp>
#include <rocio/rpc/signature.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocio::rpc::detail {

template <class Signature, class F>
class typed_function final : public function_entry {
    using parts = signature_parts<Signature>;
    using results = typename parts::result_traits::type;

  public:
    template <class... Base>
    explicit typed_function(F&& f, Base&&... base)
        : function_entry(std::forward<Base>(base)...), f_(std::move(f)) {}

    raw_reply call(const call_frame& frame) override {
        // Before the call, so that it has no effect when its answer cannot leave.
        if (frame.results().size() < results::fixed_size) return refuse(status::result_too_large);
        auto arguments = parts::argument_values::decode(frame.arguments());
        if constexpr (std::is_void_v<typename parts::result>) {
            std::apply(f_, std::move(arguments));
            return {};
        } else {
            return write(parts::result_traits::as_tuple(std::apply(f_, std::move(arguments))),
                         frame.results());
        }
    }

  private:
    // The arguments are not looked at any more: they may be overwritten.
    template <class Values>
    static raw_reply write(const Values& values, std::span<std::byte> out) {
        const auto n = results::size(values);
        if (n > out.size()) return refuse(status::result_too_large);
        results::encode(values, out);
        return {0, n};
    }

    F f_;
};

template <class F>
concept raw_handler =
    std::is_invocable_r_v<raw_reply, F&, std::span<const std::byte>, std::span<std::byte>> ||
    std::is_invocable_r_v<raw_reply, F&, const request_header&, std::span<const std::byte>,
                          std::span<std::byte>>;

template <class F>
class raw_function final : public function_entry {
  public:
    template <class... Base>
    explicit raw_function(F&& f, Base&&... base)
        : function_entry(std::forward<Base>(base)...), f_(std::move(f)) {}

    raw_reply call(const call_frame& frame) override {
        const auto rule = schema() ? std::optional(schema()->result_length()) : std::nullopt;
        if (rule && frame.results().size() < rule->fixed) return refuse(status::result_too_large);
        const raw_reply reply = invoke(frame);
        if (reply.status < 0) return refuse(status::handler_failed);
        if (reply.result_len > frame.results().size()) return refuse(status::result_too_large);
        // A status of its own may come without results.
        const bool bare = reply.status > 0 && reply.result_len == 0;
        if (rule && !bare && !rule->accepts(reply.result_len)) return refuse(status::handler_failed);
        return reply;
    }

  private:
    raw_reply invoke(const call_frame& frame) {
        if constexpr (std::is_invocable_v<F&, const request_header&, std::span<const std::byte>,
                                          std::span<std::byte>>) {
            return std::invoke(f_, frame.header, frame.arguments(), frame.results());
        } else {
            return std::invoke(f_, frame.arguments(), frame.results());
        }
    }

    F f_;
};

template <class F>
concept slot_handler = std::is_invocable_v<F&, std::span<const std::byte>, std::span<std::byte>>;

/// A handler that writes its whole response, header included, as the original's HOST_CALL does.
template <class F>
class slot_function final : public function_entry {
  public:
    template <class... Base>
    explicit slot_function(F&& f, Base&&... base)
        : function_entry(std::forward<Base>(base)...), f_(std::move(f)) {}

    raw_reply call(const call_frame& frame) override {
        std::invoke(f_, frame.rx_slot, frame.tx_slot);
        // What was in the slot before must not leave as an answer.
        const auto response = response_header::decode(frame.tx_slot);
        if (!response || response->request_id != frame.header.request_id || response->status < 0) {
            return refuse(status::handler_failed);
        }
        if (response->result_len > frame.results().size()) return refuse(status::result_too_large);
        return {response->status, response->result_len};
    }

  private:
    F f_;
};

} // namespace rocio::rpc::detail
