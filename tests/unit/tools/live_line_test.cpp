#include "lib/live_line.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

using rocio::tools::live_line;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

const std::string cleared = "\r\033[K";

/// A terminal of `columns` columns; what is written to `fd()` is read back with text().
class pseudo_terminal {
  public:
    explicit pseudo_terminal(unsigned short columns)
        : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
        if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0)
            throw std::runtime_error("no pty");
        slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
        winsize size{};
        size.ws_row = 24;
        size.ws_col = columns;
        ::ioctl(slave_, TIOCSWINSZ, &size);
    }
    pseudo_terminal(const pseudo_terminal&) = delete;
    pseudo_terminal& operator=(const pseudo_terminal&) = delete;
    ~pseudo_terminal() {
        ::close(slave_);
        ::close(master_);
    }

    int fd() const { return slave_; }
    std::string text() const {
        std::string all;
        std::array<char, 4096> part{};
        for (;;) {
            const auto n = ::read(master_, part.data(), part.size());
            if (n <= 0) return all;
            all.append(part.data(), static_cast<std::size_t>(n));
        }
    }

  private:
    int master_;
    int slave_ = -1;
};

TEST(live_line, shows_its_text_at_once_and_clears_it_at_the_end) {
    boost::asio::io_context context;
    const pseudo_terminal terminal(80);
    {
        const live_line line(
            context.get_executor(), [] { return "42 frames"; }, terminal.fd());
        EXPECT_TRUE(line.is_active());
        EXPECT_EQ(terminal.text(), cleared + "42 frames");
    }
    EXPECT_EQ(terminal.text(), cleared);
}

TEST(live_line, asks_for_its_text_again_and_again_but_at_most_five_times_a_second) {
    boost::asio::io_context context;
    const pseudo_terminal terminal(80);
    int asked = 0;
    const auto begin = std::chrono::steady_clock::now();
    live_line* shown = nullptr;
    live_line line(
        context.get_executor(),
        [&] {
            if (++asked == 3) shown->stop();
            return "line " + std::to_string(asked);
        },
        terminal.fd(), 1ms);
    shown = &line;
    context.run();
    EXPECT_EQ(asked, 3);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2 * live_line::shortest_interval);
    EXPECT_THAT(terminal.text(), HasSubstr(cleared + "line 1" + cleared + "line 2"));
}

TEST(live_line, lets_run_return_after_stop) {
    boost::asio::io_context context;
    const pseudo_terminal terminal(80);
    live_line line(
        context.get_executor(), [] { return "x"; }, terminal.fd());
    line.stop();
    line.stop();
    EXPECT_FALSE(line.is_active());
    context.run();
    EXPECT_EQ(terminal.text(), cleared + "x" + cleared);
}

TEST(live_line, cuts_its_text_to_the_terminal) {
    boost::asio::io_context context;
    const pseudo_terminal terminal(10);
    const live_line line(
        context.get_executor(), [] { return "0123456789abcdef"; }, terminal.fd());
    EXPECT_EQ(terminal.text(), cleared + "012345678");
}

TEST(live_line, does_nothing_off_a_terminal) {
    boost::asio::io_context context;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
    {
        live_line line(
            context.get_executor(),
            []() -> std::string {
                ADD_FAILURE() << "asked for text";
                return {};
            },
            ends[1]);
        EXPECT_FALSE(line.is_active());
        context.run();
    }
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), -1) << "something was written";
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(live_line, may_be_outlived_by_its_context_and_the_other_way_round) {
    const pseudo_terminal terminal(80);
    boost::asio::io_context context;
    {
        live_line first(
            context.get_executor(), [] { return "first"; }, terminal.fd());
        const live_line moved(std::move(first));
        EXPECT_FALSE(first.is_active()); // NOLINT: what a moved-from one says
        EXPECT_TRUE(moved.is_active());
    }
    context.run();
    EXPECT_THAT(terminal.text(), StartsWith(cleared + "first" + cleared));
}

} // namespace
