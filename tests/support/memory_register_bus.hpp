#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/register_space.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace rocio::test {

/// A register bus (rocio/types/register_bus.hpp) straight to a board's registers, with a script of what
/// fails. Everything happens on one io_context.
class memory_register_bus {
  public:
    struct access {
        bool writes = false;
        std::uint32_t address = 0;
        std::uint32_t value = 0;
    };
    enum class fate { well, lost, lost_after, held };

    /// Shared by the bus's copies and the test.
    struct control {
        fpga::register_space* board = nullptr;
        std::vector<access> accesses{};
        std::function<fate(const access&)> judge = [](const access&) { return fate::well; };
        bool outstanding = false;
        std::size_t overlaps = 0; ///< Accesses that began while another one was outstanding.
        std::function<void(error_code)> held{};
        error_info last_error{};
    };

    memory_register_bus(boost::asio::io_context& context, std::shared_ptr<control> c)
        : context_(&context), control_(std::move(c)) {}

    boost::asio::any_io_executor get_executor() const { return context_->get_executor(); }
    error_info last_error() const { return control_->last_error; }

    template <class Token>
    auto async_read(std::uint32_t address, Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code, std::uint32_t)>(
            [this](auto handler, std::uint32_t where) {
                using erased = async::control_handler<void(error_code, std::uint32_t)>;
                begin({false, where, 0}, std::make_shared<erased>(std::move(handler), get_executor()));
            },
            token, address);
    }
    template <class Token>
    auto async_write(std::uint32_t address, std::uint32_t value, Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [this](auto handler, std::uint32_t where, std::uint32_t what) {
                using erased = async::control_handler<void(error_code)>;
                begin({true, where, what}, std::make_shared<erased>(std::move(handler), get_executor()));
            },
            token, address, value);
    }

  private:
    static void give(async::control_handler<void(error_code, std::uint32_t)>& h, const error_code& ec,
                     std::uint32_t value) {
        h.post(ec, ec ? 0 : value);
    }
    static void give(async::control_handler<void(error_code)>& h, const error_code& ec, std::uint32_t) {
        h.post(ec);
    }

    template <class Handler>
    void begin(const access& a, std::shared_ptr<Handler> handler) {
        boost::asio::post(*context_, [c = control_, a, handler = std::move(handler)] {
            if (std::exchange(c->outstanding, true)) ++c->overlaps;
            c->accesses.push_back(a);
            const auto what = c->judge(a);
            if (what == fate::held) return hold(c, handler);
            carry_out(c, a, what, *handler);
        });
    }
    template <class Handler>
    static void hold(const std::shared_ptr<control>& c, const std::shared_ptr<Handler>& handler) {
        c->held = [c = c.get(), handler](const error_code& ec) {
            c->outstanding = false;
            c->last_error = {ec, "held"};
            give(*handler, ec, 0);
        };
        auto slot = handler->slot();
        if (!slot.is_connected()) return;
        slot.assign([c = c.get()](boost::asio::cancellation_type) {
            if (auto end = std::exchange(c->held, nullptr)) end(boost::asio::error::operation_aborted);
        });
    }
    template <class Handler>
    static void carry_out(const std::shared_ptr<control>& c, const access& a, fate what, Handler& handler) {
        std::uint32_t value = 0;
        auto response = fpga::bus_response::ok;
        if (what != fate::lost)
            response = a.writes ? c->board->write(a.address, a.value) : c->board->read(a.address, value);
        error_code ec;
        if (what != fate::well)
            ec = errc::handshake_timed_out;
        else if (response != fpga::bus_response::ok)
            ec = errc::refused_by_peer;
        if (ec) c->last_error = {ec, what != fate::well ? "no answer on the bus" : "decode error"};
        c->outstanding = false;
        give(handler, ec, value);
    }

    boost::asio::io_context* context_;
    std::shared_ptr<control> control_;
};

} // namespace rocio::test
