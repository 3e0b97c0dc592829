#include "status/session_table.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

namespace {

using rocio::detail::session_table;

class scripted_session final : public session_table::entry {
  public:
    scripted_session(std::shared_ptr<session_table> table, std::string name, std::string& closed)
        : entry(std::move(table)), name_(std::move(name)), closed_(closed) {}

    using entry::become_asking;
    using entry::become_busy;
    using entry::become_idle;

  private:
    void close() noexcept override { closed_ += name_; }

    std::string name_;
    std::string& closed_;
};

class session_table_of_three : public testing::Test {
  protected:
    std::shared_ptr<session_table> table = std::make_shared<session_table>();
    std::string closed{};
    scripted_session a{table, "a", closed};
    scripted_session b{table, "b", closed};
    scripted_session c{table, "c", closed};
};

TEST_F(session_table_of_three, closes_the_oldest_first_when_none_did_anything) {
    EXPECT_TRUE(table->make_room());
    EXPECT_TRUE(table->make_room());
    EXPECT_EQ(closed, "ab");
}

TEST_F(session_table_of_three, closes_the_one_that_has_idled_for_longest) {
    a.become_busy();
    a.become_idle();
    EXPECT_TRUE(table->make_room());
    b.become_busy();
    EXPECT_TRUE(table->make_room());
    EXPECT_EQ(closed, "bc");
}

TEST_F(session_table_of_three, spares_the_busy_ones) {
    a.become_busy();
    c.become_busy();
    EXPECT_TRUE(table->make_room());
    EXPECT_FALSE(table->make_room());
    EXPECT_EQ(closed, "b");
}

TEST_F(session_table_of_three, closes_who_has_asked_for_longest_when_none_idles) {
    b.become_asking();
    c.become_asking();
    a.become_asking();
    b.become_busy();
    EXPECT_TRUE(table->make_room());
    EXPECT_TRUE(table->make_room());
    EXPECT_FALSE(table->make_room());
    EXPECT_EQ(closed, "ca");
}

TEST_F(session_table_of_three, closes_one_that_idles_before_any_that_asks) {
    a.become_asking();
    b.become_asking();
    EXPECT_TRUE(table->make_room());
    EXPECT_EQ(closed, "c");
}

TEST_F(session_table_of_three, counts_a_closed_session_no_more_although_it_still_unwinds) {
    EXPECT_EQ(table->open(), 3U);
    table->make_room();
    EXPECT_EQ(table->open(), 2U);
    {
        scripted_session d(table, "d", closed);
        EXPECT_EQ(table->open(), 3U);
    }
    EXPECT_EQ(table->open(), 2U);
}

TEST_F(session_table_of_three, closes_all_once_busy_or_not) {
    b.become_busy();
    table->close_all();
    table->close_all();
    EXPECT_EQ(closed, "abc");
    EXPECT_EQ(table->open(), 0U);
    EXPECT_FALSE(table->make_room());
}

TEST(session_table, lives_as_long_as_its_last_session) {
    auto table = std::make_shared<session_table>();
    const std::weak_ptr<session_table> seen = table;
    std::string closed;
    {
        const scripted_session session(std::move(table), "a", closed);
        EXPECT_FALSE(seen.expired());
    }
    EXPECT_TRUE(seen.expired());
}

} // namespace
