#include "slac/slac_source.hpp"

#include "slac/word_size_program.hpp"

#include <rocio/fpga/udp_engine.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <mutex>

namespace rocio::tools {

namespace asio = boost::asio;

/// What outlives the engine, which goes with its connection: an RSSI connection that nobody needs any more
/// would keep the context busy.
struct slac_source::shown {
    std::mutex mutex;
    const fpga::slac_engine* engine = nullptr;
    fpga::slac_engine_snapshot last{};
    std::uint64_t attempts = 0;
};

/// An engine that the status shows while it lives.
class slac_source::shown_engine {
  public:
    shown_engine(std::shared_ptr<shown> where, asio::io_context& context, const slac_source_config& config)
        : engine(context, open_register_bus(context, config.registers), config.fpga, config.engine,
                 config.transport),
          where_(std::move(where)) {
        const std::lock_guard held(where_->mutex);
        where_->engine = &engine;
        ++where_->attempts;
    }
    shown_engine(const shown_engine&) = delete;
    shown_engine& operator=(const shown_engine&) = delete;
    ~shown_engine() {
        const std::lock_guard held(where_->mutex);
        if (where_->engine != &engine) return;
        where_->engine = nullptr;
        where_->last = engine.snapshot();
    }

    fpga::slac_engine engine;

  private:
    std::shared_ptr<shown> where_;
};

/// The engine as a handshake, which first tells the board's UDP engine where we are: that is known when a
/// connection begins and not before.
class slac_source::bring_up {
  public:
    bring_up(std::unique_ptr<shown_engine> shown, const slac_source_config& config)
        : shown_(std::move(shown)), config_(config) {}

    template <class Token>
    auto async_exchange(const local_parameters& local, Token&& token) {
        if (config_.program_udp && local.address.is_v4_mapped()) {
            shown_->engine.before(std::make_shared<fpga::udp_engine_program>(target(local)));
        }
        const auto& engine = config_.engine;
        if (config_.word_bits && engine.prbs_base) {
            shown_->engine.before(std::make_shared<word_size_program>(
                *engine.prbs_base + engine.map.prbs_word_size, config_.word_bits));
        }
        return shown_->engine.async_exchange(local, std::forward<Token>(token));
    }
    template <class Token>
    auto async_ready(Token&& token) {
        return shown_->engine.async_ready(std::forward<Token>(token));
    }
    template <class Token>
    auto async_wait_lost(Token&& token) {
        return shown_->engine.async_wait_lost(std::forward<Token>(token));
    }
    template <class Token>
    auto async_release(Token&& token) {
        return shown_->engine.async_release(std::forward<Token>(token));
    }
    error_info last_error() const { return shown_->engine.last_error(); }

  private:
    fpga::udp_engine_target target(const local_parameters& local) const {
        fpga::udp_engine_target t;
        t.base = config_.engine.udp_base;
        t.client = config_.engine.udp_client;
        t.host = asio::ip::make_address_v4(local.address.to_address_string());
        t.port = local.udp_port;
        return t;
    }

    std::unique_ptr<shown_engine> shown_;
    slac_source_config config_;
};

slac_source::slac_source(asio::io_context& context, slac_source_config config)
    : context_(context),
      config_(std::move(config)),
      pause_(context),
      shown_(std::make_shared<shown>()),
      back_off_(config_.first_back_off) {
    throw_if(fpga::validate(config_.engine));
}

std::string slac_source::description() const {
    return "setting up the FPGA " + config_.fpga.to_address_string() + ", registers at " +
           config_.registers.text();
}

fpga::slac_engine_snapshot slac_source::snapshot() const {
    const std::lock_guard held(shown_->mutex);
    return shown_->engine != nullptr ? shown_->engine->snapshot() : shown_->last;
}

std::uint64_t slac_source::attempts() const {
    const std::lock_guard held(shown_->mutex);
    return shown_->attempts;
}

asio::awaitable<next_peer> slac_source::next() {
    if (std::exchange(began_, true)) {
        if (!config_.reconnect || closed_) co_return next_peer{nullptr, failure_};
        error_code ignored;
        pause_.expires_after(back_off_);
        co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        back_off_ = std::min(back_off_ * 2, config_.longest_back_off);
    }
    if (closed_) co_return next_peer{};
    auto engine = std::make_unique<shown_engine>(shown_, context_, config_);
    next_peer peer;
    peer.handshake = std::make_unique<any_handshake>(bring_up(std::move(engine), config_));
    co_return peer;
}

void slac_source::ended(const error_info& why, bool connected) {
    if (connected) back_off_ = config_.first_back_off;
    failure_ = connected && why.code == errc::peer_closed ? error_info{} : why;
    if (config_.reconnect && !closed_) {
        config_.say("bringing the FPGA up again in " + std::to_string(back_off_.count()) + " ms");
    }
}

void slac_source::close() {
    closed_ = true;
    pause_.cancel();
}

} // namespace rocio::tools
