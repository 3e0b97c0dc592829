#include "commands/rpc_support.hpp"

#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>

namespace rocio::tools {

void ring_options::add_to(CLI::App& app) {
    options::device(app, device);
    app.add_option("--slots", slots, "Slots of each ring, a power of two; as the other side has")
        ->capture_default_str();
    app.add_option("--slot-size", slot_size, "Bytes of a slot; as the other side has")->capture_default_str();
    options::poll(app, poll);
    options::thread(app, thread);
    options::memory(app, memory);
    options::log(app, log);
    options::json(app, json);
}

ring_config ring_options::ring(ring_tx_mode mode) const {
    ring_config c;
    c.device = open_device(device);
    c.slots = slots;
    c.slot_size = c.frame_size = slot_size;
    c.tx_mode = mode;
    c.memory = memory;
    throw_if(validate(c));
    return c;
}

} // namespace rocio::tools
