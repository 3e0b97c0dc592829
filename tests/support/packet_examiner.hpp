#pragma once

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::test {

/// Puts bytes of any origin through everything the wire room does with a packet, and finds broken promises.
/// Shared by the hostile-input tests and the fuzzer.
class packet_examiner {
  public:
    /// The promise that does not hold for these bytes, or nothing.
    std::optional<std::string> broken_promise(std::span<const std::byte> bytes) const {
        if (auto broken = broken_icrc_promise(v4_, bytes)) return broken;
        if (auto broken = broken_icrc_promise(v6_, bytes)) return broken;
        wire::packet_view view;
        if (wire::packet_view::parse(bytes, view) != wire::malformed::none) {
            if (!view.bytes().empty()) return "a refused packet changed the view";
            return std::nullopt;
        }
        return broken_view_promise(view, bytes);
    }

  private:
    static std::optional<std::string> broken_icrc_promise(const wire::icrc_engine& engine,
                                                          std::span<const std::byte> bytes) {
        const auto id = engine.solve_id(bytes);
        if (engine.check_exact(bytes) && id != 0) return "the ICRC fits id 0 and another is solved";
        if (id && !engine.check_exact(bytes, *id)) return "the solved id does not fit";
        return std::nullopt;
    }

    static std::optional<std::string> broken_view_promise(const wire::packet_view& view,
                                                          std::span<const std::byte> bytes) {
        if (view.bytes().data() != bytes.data() || view.bytes().size() != bytes.size())
            return "other bytes viewed";
        const auto body = bytes.first(bytes.size() - wire::icrc_size);
        std::vector<std::byte> again(body.size());
        if (wire::encode(view, again) != body.size()) return "re-encoded to another length";
        if (!std::ranges::equal(again, body)) return "re-encoded to other bytes";
        if (!body.empty() && wire::encode(view, std::span{again}.first(body.size() - 1)) != 0) {
            return "encoded into a buffer that is too small";
        }
        const std::size_t around =
            wire::bth::size + view.op().extension_size() + view.bth().pad + wire::icrc_size;
        if (view.payload().size() + around != bytes.size()) return "headers, payload and pad do not add up";
        if (!wire::to_text(view).starts_with(view.op().name()))
            return "text does not begin with the opcode's name";
        return std::nullopt;
    }

    wire::icrc_engine v4_{{gid::from_v4({10, 0, 0, 1}), gid::from_v4({10, 0, 0, 2})}};
    wire::icrc_engine v6_{{gid::parse("fd00::1").value(), gid::parse("fd00::2").value()}};
};

} // namespace rocio::test
