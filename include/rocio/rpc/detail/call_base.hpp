#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/rpc_error.hpp>
#include <rocio/rpc/signature.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocio::rpc::detail {

/// A call without its types, as the client's core knows it.
class call_base : public async::operation_base {
  public:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr std::size_t in_no_heap = std::numeric_limits<std::size_t>::max();

    virtual std::size_t argument_size() const noexcept = 0;
    /// `out` is argument_size() long.
    virtual void encode_arguments(std::span<std::byte> out) const noexcept = 0;
    /// Takes the results of an answer with status 0; false if they are not the signature's. Afterwards the
    /// call can be completed.
    virtual bool decode_results(std::span<const std::byte> in) noexcept = 0;
    virtual void fail(const error_code& ec) noexcept = 0;

    function_id callee{0U};
    std::uint64_t id = 0;      ///< 0 until it is sent.
    std::uint32_t tx_slot = 0; ///< Once it is sent.
    time_point started{};
    time_point deadline = time_point::max(); ///< max(): none.
    std::size_t heap_place = in_no_heap;

  protected:
    explicit call_base(function f) noexcept : operation_base(f) {}
    ~call_base() = default;
};

template <class Signature>
class typed_call : public call_base {
    using parts = signature_parts<Signature>;
    using result = typename parts::result;
    using list = typename parts::result_traits::type;

    template <class R>
    struct results_of : std::type_identity<std::tuple<error_code, R>> {};

  public:
    using arguments = typename parts::arguments;
    using results =
        typename std::conditional_t<std::is_void_v<result>, std::type_identity<std::tuple<error_code>>,
                                    results_of<result>>::type;

    std::size_t argument_size() const noexcept override { return parts::argument_values::size(arguments_); }
    void encode_arguments(std::span<std::byte> out) const noexcept override {
        parts::argument_values::encode(arguments_, out);
    }
    void fail(const error_code& ec) noexcept override { std::get<0>(result_) = ec; }
    bool decode_results(std::span<const std::byte> in) noexcept override {
        static constexpr length_rule rule = schema_of<Signature>().result_length();
        if (!rule.accepts(in.size())) return false;
        if constexpr (!std::is_void_v<result>) {
            try {
                std::get<1>(result_) = parts::result_traits::from_tuple(list::decode(in));
            } catch (const std::bad_alloc&) {
                std::get<0>(result_) = make_error_code(boost::system::errc::not_enough_memory);
            }
        }
        return true;
    }

  protected:
    typed_call(function f, function_id id_of_function, arguments&& values)
        : call_base(f), arguments_(std::move(values)) {
        this->callee = id_of_function;
    }
    ~typed_call() = default;

    results result_{};

  private:
    arguments arguments_;
};

} // namespace rocio::rpc::detail
