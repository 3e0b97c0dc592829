#pragma once

#include "cm_fixture.hpp"

#include <boost/asio/steady_timer.hpp>

namespace rocio::test {

class kept_log final : public log_sink {
  public:
    void write(log_level level, std::string_view, std::string_view text) noexcept override {
        lines.emplace_back(std::to_string(static_cast<int>(level)) + " " + std::string(text));
    }
    std::vector<std::string> lines;
};

class CmAcceptorFixture : public CmFixture {
  protected:
    void listen(const cm_acceptor_config& config = {}) { acceptor.emplace(*context, dev, config); }

    /// Takes the next request up.
    cm_peer accept() {
        cm_ended out;
        acceptor->async_accept(out.handler());
        run_until(out);
        EXPECT_FALSE(out.ec) << out.ec.message();
        return out.caller ? std::move(*out.caller) : cm_peer(context->get_executor());
    }
    cm_peer request_and_accept(std::span<const std::byte> data = {}) {
        cm->request(data);
        return accept();
    }
    cm_ended exchange(cm_peer& peer) {
        cm_ended out;
        peer.async_exchange(side(), out.handler());
        run_until(out);
        return out;
    }
    cm_ended ready(cm_peer& peer) {
        cm_ended out;
        peer.async_ready(out.handler());
        run_until(out);
        return out;
    }
    template <class Handshake>
    void release(Handshake& how) {
        cm_ended out;
        how.async_release(out.handler());
        run_until(out);
        EXPECT_FALSE(out.ec);
    }
    /// A connection that stands and waits, so that events are taken from the system all the while.
    void keep_watching() {
        watcher.emplace(request_and_accept());
        ASSERT_FALSE(exchange(*watcher).ec);
        ASSERT_FALSE(ready(*watcher).ec);
        watcher->async_wait_lost(watched.handler());
        settle();
    }
    void pass(std::chrono::milliseconds time) {
        asio::steady_timer timer(*context, time);
        bool over = false;
        timer.async_wait([&](const error_code&) { over = true; });
        run_until([&] { return over; });
    }
    /// The sentence of the refusal that was sent last.
    std::string refusal() {
        const auto told = cm_greeting::decode_refusal(cm->last("reject").data);
        return told ? told->text : "none";
    }

    std::optional<cm_acceptor> acceptor;
    std::optional<cm_peer> watcher;
    cm_ended watched;
};

} // namespace rocio::test
