#include <rocio/types/gid_table.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

/// What must hold of a GID choice whatever the table looks like: many random tables of few addresses, so that
/// holes, doubles and near misses are frequent.
namespace {

using namespace rocio;

class table_maker {
  public:
    explicit table_maker(std::uint32_t seed) : random_(seed) {}

    std::vector<gid_table_entry> table() {
        std::vector<gid_table_entry> entries(random_() % 8);
        std::uint32_t index = random_() % 3;
        for (auto& e : entries) {
            e = {index, address(), static_cast<gid_type>(random_() % 3), "eth0", prefix()};
            index += 1 + random_() % 2;
        }
        return entries;
    }
    gid_request request() {
        gid_request r;
        if (random_() % 2 == 0) r.peer = address();
        if (r.peer && (r.peer->is_zero() || r.peer == gid::from_v4({}))) r.peer.reset();
        if (random_() % 4 == 0) r.index = random_() % 10;
        return r;
    }
    void shuffle(std::vector<gid_table_entry>& t) { std::ranges::shuffle(t, random_); }

  private:
    gid address() {
        static const char* const some[] = {"::",       "0.0.0.0",     "10.0.0.1",  "10.0.0.200",
                                           "10.0.1.1", "192.168.7.7", "127.0.0.9", "fe80::1",
                                           "fe80::2",  "fd00::1",     "fd00::2",   "2001:db8::1"};
        return gid::parse(some[random_() % std::size(some)]).value();
    }
    std::optional<unsigned> prefix() {
        static const std::optional<unsigned> some[] = {std::nullopt, 8U, 16U, 24U, 25U, 32U, 64U, 128U};
        return some[random_() % std::size(some)];
    }

    std::mt19937 random_;
};

template <class Check>
void for_many_tables(Check check) {
    table_maker maker{21};
    int chosen = 0;
    for (int round = 0; round < 5000; ++round) {
        auto table = maker.table();
        const auto request = maker.request();
        const auto choice = choose_gid(table, request);
        chosen += choice.chosen ? 1 : 0;
        check(table, request, choice, maker);
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(chosen, 500) << "too few tables had anything to choose for this test to mean much";
}

TEST(gid_choice, is_a_usable_entry_of_the_table_or_an_error_with_text) {
    for_many_tables([](const auto& table, const auto&, const gid_choice& choice, auto&) {
        ASSERT_EQ(choice.chosen.has_value(), !choice.error);
        ASSERT_EQ(choice.error.text.empty(), choice.chosen.has_value());
        if (!choice.chosen) return;
        ASSERT_EQ(choice.chosen->type, gid_type::roce_v2);
        ASSERT_FALSE(choice.chosen->value.is_zero());
        ASSERT_NE(choice.chosen->value, gid::from_v4({}));
        ASSERT_EQ(std::ranges::count(table, choice.chosen->index, &gid_table_entry::index), 1);
    });
}

TEST(gid_choice, accounts_for_every_entry_once) {
    for_many_tables([](const auto& table, const auto&, const gid_choice& choice, auto&) {
        std::multiset<std::uint32_t> seen;
        if (choice.chosen) seen.insert(choice.chosen->index);
        for (const auto& r : choice.refused) {
            seen.insert(r.entry.index);
            ASSERT_FALSE(r.reason.empty());
        }
        std::multiset<std::uint32_t> expected;
        for (const auto& e : table) expected.insert(e.index);
        ASSERT_EQ(seen, expected);
    });
}

TEST(gid_choice, has_the_address_family_of_the_peer) {
    for_many_tables([](const auto&, const gid_request& request, const gid_choice& choice, auto&) {
        if (!choice.chosen || !request.peer) return;
        ASSERT_EQ(choice.chosen->value.is_v4_mapped(), request.peer->is_v4_mapped());
    });
}

TEST(gid_choice, is_in_the_subnet_of_an_ipv4_peer_unless_an_index_was_asked_for) {
    for_many_tables([](const auto&, const gid_request& request, const gid_choice& choice, auto&) {
        if (!choice.chosen || !request.peer || !request.peer->is_v4_mapped() || request.index) return;
        const unsigned bits = std::min(choice.chosen->prefix.value_or(24), 32U);
        ASSERT_TRUE(choice.chosen->value.shares_prefix(*request.peer, 96 + bits));
    });
}

TEST(gid_choice, is_link_local_only_for_a_link_local_peer_unless_an_index_was_asked_for) {
    for_many_tables([](const auto&, const gid_request& request, const gid_choice& choice, auto&) {
        if (!choice.chosen || request.index || !choice.chosen->value.is_link_local()) return;
        ASSERT_TRUE(request.peer.has_value());
        ASSERT_TRUE(request.peer->is_link_local());
    });
}

TEST(gid_choice, is_the_index_asked_for_or_none) {
    for_many_tables([](const auto&, const gid_request& request, const gid_choice& choice, auto&) {
        if (request.index && choice.chosen) {
            ASSERT_EQ(choice.chosen->index, *request.index);
        }
    });
}

TEST(gid_choice, does_not_depend_on_the_order_of_the_table) {
    for_many_tables(
        [](auto& table, const gid_request& request, const gid_choice& choice, table_maker& maker) {
            maker.shuffle(table);
            const auto again = choose_gid(table, request);
            ASSERT_EQ(again.chosen.has_value(), choice.chosen.has_value());
            if (choice.chosen) {
                ASSERT_EQ(again.chosen->index, choice.chosen->index);
            }
            ASSERT_EQ(again.error.code, choice.error.code);
        });
}

TEST(gid_choice, an_error_names_every_entry_of_the_table) {
    for_many_tables([](const auto& table, const gid_request&, const gid_choice& choice, auto&) {
        if (!choice.error) return;
        for (const auto& e : table) {
            ASSERT_NE(choice.error.text.find("index " + std::to_string(e.index) + ": "), std::string::npos);
        }
    });
}

TEST(gid, any_bytes_survive_both_of_its_texts) {
    std::mt19937 random{22};
    for (int round = 0; round < 20000; ++round) {
        gid::bytes_type bytes{};
        // Mostly zeros, so that the compressed text has its "::" everywhere.
        for (auto& b : bytes) b = random() % 3 == 0 ? static_cast<std::uint8_t>(random()) : 0;
        const gid g{bytes};
        ASSERT_EQ(gid::parse(g.to_string()), g) << g.to_string();
        ASSERT_EQ(gid::parse(g.to_address_string()), g) << g.to_address_string();
        ASSERT_EQ(host_ip_from_gid_text(g.to_string()).empty(), !g.is_v4_mapped());
    }
}

TEST(gid, random_text_is_refused_or_survives) {
    constexpr std::string_view alphabet = "0123456789abcdefABCDEF::::...:%[] /x";
    std::mt19937 random{23};
    int accepted = 0;
    for (int round = 0; round < 200000; ++round) {
        std::string text(random() % 14, ' ');
        for (auto& c : text) c = alphabet[random() % alphabet.size()];
        const auto g = gid::parse(text);
        if (!g) continue;
        ++accepted;
        ASSERT_EQ(gid::parse(g->to_address_string()), g) << text;
    }
    EXPECT_GT(accepted, 100);
}

} // namespace
