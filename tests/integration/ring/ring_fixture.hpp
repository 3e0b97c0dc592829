#pragma once

#include "io_context_fixture.hpp"
#include "test_device.hpp"

#include <rocio/open/open_device.hpp>
#include <rocio/ring/ring_transceiver.hpp>

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace rocio::test {

namespace asio = boost::asio;

inline ring_config config_on(const std::string& device, std::uint32_t slots = 8,
                             std::uint32_t slot_size = 256, const open_options& options = {}) {
    ring_config c;
    c.device = open_device(test_device(device), options);
    c.slots = slots;
    c.slot_size = c.frame_size = slot_size;
    return c;
}

inline peer_parameters peer_of(const local_parameters& local) {
    peer_parameters p;
    static_cast<endpoint_parameters&>(p) = local;
    return p;
}

inline void write_text(std::span<std::byte> slot, std::string_view text) {
    ASSERT_LE(text.size(), slot.size());
    std::ranges::fill(slot, std::byte{0});
    std::memcpy(slot.data(), text.data(), text.size());
}

inline std::string text_in(std::span<const std::byte> slot) {
    return {reinterpret_cast<const char*>(slot.data()),
            ::strnlen(reinterpret_cast<const char*>(slot.data()), slot.size())};
}

class RingSoft : public io_context_fixture {
  protected:
    static void connect(ring_transceiver& a, ring_transceiver& b) {
        a.setup();
        b.setup();
        a.connect(peer_of(b.local()));
        b.connect(peer_of(a.local()));
    }
    static void send(ring_transceiver& from, std::uint32_t slot, std::string_view text) {
        write_text(from.tx_slot(slot), text);
        ASSERT_FALSE(from.publish(slot, text.size() + 1));
    }
    /// The next filled slot as number and text; it stays held.
    std::pair<std::uint32_t, std::string> next(ring_transceiver& ring) {
        std::optional<std::uint32_t> got;
        run_until([&] {
            if (!got)
                (void)ring.poll([&](std::uint32_t slot) {
                    if (!got)
                        got = slot;
                    else
                        ADD_FAILURE() << "more than one at once";
                });
            return got.has_value();
        });
        return {*got, text_in(ring.rx_slot(*got))};
    }
    void eventually(const std::function<bool()>& holds) { run_until(holds); }
};

} // namespace rocio::test
