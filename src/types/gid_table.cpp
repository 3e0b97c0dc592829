#include <rocio/types/gid_table.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace rocio {

namespace {

/// Smaller is better.
enum class rank : std::uint8_t { peer_subnet, v4, routable_v6 };

struct verdict {
    std::optional<rank> usable;
    std::string reason; ///< Why not usable.
};

std::string_view type_text(gid_type t) noexcept {
    switch (t) {
    case gid_type::infiniband:
        return "InfiniBand";
    case gid_type::roce_v1:
        return "RoCE v1";
    case gid_type::roce_v2:
        return "RoCE v2";
    }
    return "unknown type";
}

bool is_unspecified(const gid& g) noexcept {
    return g.is_zero() || g == gid::from_v4({});
}

/// Bits of the GID that the subnet covers: the interface's prefix, else /24 for IPv4 and /64 for IPv6.
unsigned prefix_of(const gid_table_entry& e) noexcept {
    const bool v4 = e.value.is_v4_mapped();
    const unsigned bits = std::min(e.prefix.value_or(v4 ? 24 : 64), v4 ? 32U : 128U);
    return v4 ? 96 + bits : bits;
}

bool in_subnet_of(const gid_table_entry& e, const gid& peer) noexcept {
    return e.value.shares_prefix(peer, prefix_of(e));
}

std::string subnet_text(const gid_table_entry& e) {
    return "/" + std::to_string(prefix_of(e) - (e.value.is_v4_mapped() ? 96 : 0));
}

/// What makes an entry unfit whoever the peer is, and also when its index was asked for.
std::optional<std::string> defect(const gid_table_entry& e, const gid_request& request) {
    if (is_unspecified(e.value)) return "empty entry";
    if (e.type != gid_type::roce_v2) return std::string(type_text(e.type)) + ", only RoCE v2 serves";
    if (request.peer && request.peer->is_v4_mapped() != e.value.is_v4_mapped()) {
        return std::string(e.value.is_v4_mapped() ? "IPv4, the peer has IPv6 address "
                                                  : "IPv6, the peer has IPv4 address ") +
               request.peer->to_address_string();
    }
    return std::nullopt;
}

verdict judge_for_peer(const gid_table_entry& e, const gid& peer) {
    const bool near = in_subnet_of(e, peer);
    if (peer.is_v4_mapped()) {
        if (near) return {rank::peer_subnet, {}};
        return {std::nullopt,
                "peer " + peer.to_address_string() + " is outside its " + subnet_text(e) + " subnet"};
    }
    if (e.value.is_link_local()) {
        if (peer.is_link_local()) return {rank::peer_subnet, {}};
        return {std::nullopt, "link-local, the peer is not"};
    }
    return {near ? rank::peer_subnet : rank::routable_v6, {}};
}

verdict judge(const gid_table_entry& e, const gid_request& request) {
    if (auto reason = defect(e, request)) return {std::nullopt, *std::move(reason)};
    if (request.peer) return judge_for_peer(e, *request.peer);
    if (e.value.is_link_local()) return {std::nullopt, "link-local, serves only a link-local peer"};
    return {e.value.is_v4_mapped() ? rank::v4 : rank::routable_v6, {}};
}

std::string entry_text(const gid_table_entry& e) {
    std::string text = "index " + std::to_string(e.index) + ": ";
    text += is_unspecified(e.value) ? "empty" : e.value.to_address_string();
    text += ' ';
    text += type_text(e.type);
    if (!e.netdev.empty()) text += " on " + e.netdev;
    return text;
}

std::string table_text(const std::vector<gid_refusal>& refused) {
    if (refused.empty()) return "The GID table is empty.";
    std::string text = "The GID table:";
    for (const auto& r : refused) text += "\n  " + entry_text(r.entry) + " (" + r.reason + ")";
    return text;
}

error_info nothing_usable(const gid_choice& choice, const gid_request& request) {
    std::string text = "no GID table entry serves";
    if (request.peer) text += " for peer " + request.peer->to_address_string();
    text += ". " + table_text(choice.refused) + "\nGive the interface ";
    if (request.peer && request.peer->is_v4_mapped()) {
        text += "an IPv4 address in the subnet of " + request.peer->to_address_string();
    } else {
        text += "an address that reaches the peer";
    }
    text += ", or name a RoCE v2 entry by its GID index.";
    return {errc::no_usable_gid, std::move(text)};
}

error_info bad_index(const gid_choice& choice, std::uint32_t index, std::string_view why, errc code) {
    return {code, "GID index " + std::to_string(index) + " " + std::string(why) + ". " +
                      table_text(choice.refused) + "\nName another index, or leave the choice automatic."};
}

/// The index overrides subnet and rank, which is the way to a peer behind a router.
gid_choice choose_by_index(std::span<const gid_table_entry> table, const gid_request& request,
                           std::uint32_t index) {
    const auto asked = std::ranges::find(table, index, &gid_table_entry::index);
    const bool found = asked != table.end();
    const auto why = found ? defect(*asked, request) : std::nullopt;

    gid_choice choice;
    if (found && !why) choice.chosen = *asked;
    for (auto e = table.begin(); e != table.end(); ++e) {
        if (e == asked && !why) continue;
        auto verdict = judge(*e, request);
        choice.refused.push_back(
            {*e, verdict.usable ? "not the index asked for" : std::move(verdict.reason)});
    }
    if (!found) choice.error = bad_index(choice, index, "is outside the table", errc::invalid_gid_index);
    if (why) {
        const auto code = is_unspecified(asked->value) ? errc::invalid_gid_index : errc::no_usable_gid;
        choice.error = bad_index(choice, index, "cannot be used: " + *why, code);
    }
    return choice;
}

gid_choice choose_by_rank(std::span<const gid_table_entry> table, const gid_request& request) {
    std::vector<verdict> verdicts;
    for (const auto& e : table) verdicts.push_back(judge(e, request));

    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!verdicts[i].usable) continue;
        const auto key = [&](std::size_t k) { return std::pair{*verdicts[k].usable, table[k].index}; };
        if (!best || key(i) < key(*best)) best = i;
    }

    gid_choice choice;
    if (best) choice.chosen = table[*best];
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (i == best) continue;
        auto reason = std::move(verdicts[i].reason);
        if (verdicts[i].usable)
            reason = "usable, index " + std::to_string(table[*best].index) + " is preferred";
        choice.refused.push_back({table[i], std::move(reason)});
    }
    if (!best) choice.error = nothing_usable(choice, request);
    return choice;
}

} // namespace

gid_choice choose_gid(std::span<const gid_table_entry> table, const gid_request& request) {
    return request.index ? choose_by_index(table, request, *request.index) : choose_by_rank(table, request);
}

} // namespace rocio
