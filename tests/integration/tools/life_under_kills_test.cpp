// Two programs of which one is killed at a random moment, again and again: the other one says so within its
// deadline, serves the next peer whole, and has afterwards what it had before.
//
// ROCIO_TEST_PROGRAM: the rocio command. ROCIO_TEST_DEVICE: the two devices, default two soft ones.
// ROCIO_TEST_CONNECT: tcp or cm. ROCIO_TEST_ADDRESS: where the receiver listens, default loopback.

#include "child_program.hpp"
#include "raw_http_client.hpp"
#include "soak_count.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include <poll.h>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr auto patience = 30s; // of any one step, on a machine without speed

std::string setting(const char* name, const std::string& otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr || *text == '\0' ? otherwise : text;
}

/// What the kernel keeps for RDMA in all processes: "qp 3 cq 2 …", empty on a machine without.
std::string kernel_objects() {
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("rdma resource show 2>/dev/null", "re"), &::pclose);
    std::string out;
    std::array<char, 256> piece{};
    while (pipe && std::fgets(piece.data(), static_cast<int>(piece.size()), pipe.get())) out += piece.data();
    return out;
}

/// How many of these the engine of a program has now, by its /status.
std::string live_objects(std::uint16_t port, std::string_view name) {
    raw_http_client client("127.0.0.1", port);
    client.get("/status");
    const auto until = steady_clock::now() + patience;
    for (;;) {
        client.work();
        if (const auto response = client.next_response()) {
            const auto at = response->body.find("\"" + std::string(name) + "\":");
            return response->body.substr(at, response->body.find_first_of(",}", at) - at);
        }
        if (steady_clock::now() >= until) throw std::runtime_error("no answer from /status");
        ::poll(nullptr, 0, 1);
    }
}

class LifeUnderKills : public ::testing::Test {
  protected:
    LifeUnderKills() {
        const auto devices = setting("ROCIO_TEST_DEVICE", "soft:127.90.1.1,soft:127.90.1.2");
        receiver_device_ = devices.substr(0, devices.find(','));
        sender_device_ = devices.substr(devices.find(',') + 1);
    }

    std::vector<std::string> receiver(const std::string& where, std::vector<std::string> more = {}) const {
        return command({"recv", "--device", receiver_device_, "--listen", where}, std::move(more));
    }
    std::vector<std::string> sender(const std::string& where, std::vector<std::string> more = {}) const {
        return command({"emulate", "--device", sender_device_, "--peer", where}, std::move(more));
    }
    std::string where(int port) const { return address_ + ":" + std::to_string(port); }

    /// The moment of the kill is what is tested: anything between the program's first instruction and its
    /// stream.
    void wait_a_random_moment() {
        std::uniform_int_distribution<int> draw(0, longest_moment_);
        std::this_thread::sleep_for(std::chrono::milliseconds(draw(random_)));
    }
    static void eventually(const std::string& what, const std::function<bool()>& holds) {
        const auto until = steady_clock::now() + patience;
        while (!holds()) {
            ASSERT_LT(steady_clock::now(), until) << what;
            ::poll(nullptr, 0, 10);
        }
    }

    int longest_moment_ = std::stoi(setting("ROCIO_TEST_MOMENT", "150")); // ms
    std::string connect_ = setting("ROCIO_TEST_CONNECT", "tcp");
    std::string address_ = setting("ROCIO_TEST_ADDRESS", "127.0.0.1");
    std::string receiver_device_, sender_device_;

  private:
    std::vector<std::string> command(std::vector<std::string> out, std::vector<std::string> more) const {
        out.insert(out.begin(), setting("ROCIO_TEST_PROGRAM", "rocio"));
        out.insert(out.end(), {"--connect", connect_, "--payload", "1024"});
        out.insert(out.end(), more.begin(), more.end());
        return out;
    }
    std::minstd_rand random_{20261129};
};

/// What a receiver has while it waits for a peer, after its first one.
struct belongings {
    std::size_t descriptors = 0;
    std::string queue_pairs{}, kernel{};
    friend bool operator==(const belongings&, const belongings&) = default;
};

TEST_F(LifeUnderKills, AReceiverOutlivesItsSenders) {
    child_program survivor(receiver(where(0), {"--http", "127.0.0.1:0"}));
    const auto port =
        static_cast<std::uint16_t>(std::stoi(survivor.wait_for("status http://127.0.0.1:", patience)));
    const auto listens_at = survivor.wait_for("waiting for a sender at ", patience);
    const auto peer = listens_at.substr(0, listens_at.find(' '));
    const auto serve_one = [&] {
        child_program next(sender(peer, {"--count", "50", "--json"}));
        ASSERT_EQ(next.wait_for_end(patience), 0) << next.said() << survivor.said();
        EXPECT_THAT(next.said(), HasSubstr("\"frames\":50"));
        survivor.wait_for("peer said goodbye", patience);
    };
    const auto all = [&] {
        return belongings{survivor.open_descriptors(), live_objects(port, "queue_pairs"), kernel_objects()};
    };
    serve_one();
    eventually("the first peer is still there", [&] { return all().queue_pairs == "\"queue_pairs\":0"; });
    const auto before = all();
    for (unsigned long i = 0; i < soak_count(); ++i) {
        SCOPED_TRACE("kill " + std::to_string(i));
        {
            child_program victim(sender(peer));
            wait_a_random_moment();
            victim.kill(SIGKILL);
            victim.wait_for_end(patience);
        }
        ASSERT_NO_FATAL_FAILURE(serve_one());
        ASSERT_NO_FATAL_FAILURE(eventually("something is left behind", [&] { return all() == before; }));
    }
    survivor.kill(SIGINT);
    ASSERT_EQ(survivor.wait_for_end(patience), 0) << survivor.said();
}

TEST_F(LifeUnderKills, ASenderOutlivesItsReceivers) {
    const auto meeting = where(18700);
    child_program survivor(sender(meeting, {"--connect-timeout", "60s"}));
    std::size_t descriptors = 0;
    for (unsigned long i = 0; i < soak_count(); ++i) {
        SCOPED_TRACE("kill " + std::to_string(i));
        {
            child_program victim(receiver(meeting));
            wait_a_random_moment();
            victim.kill(SIGKILL);
            victim.wait_for_end(patience);
            if (victim.has_said("connected: ")) survivor.wait_for("connection ended: ", patience);
        }
        child_program next(receiver(meeting, {"--count", "50", "--json"}));
        next.wait_for("connected: ", patience);
        // While it streams, nothing of a former attempt is about.
        if (i == 0) descriptors = survivor.open_descriptors();
        ASSERT_EQ(next.wait_for_end(patience), 0) << next.said() << survivor.said();
        EXPECT_THAT(next.said(), HasSubstr("\"frames\":50"));
        EXPECT_THAT(next.said(), HasSubstr("\"duplicated\":0,\"corrupt\":0"));
        survivor.wait_for("connection ended: ", patience);
        ASSERT_NO_FATAL_FAILURE(eventually("descriptors are left behind",
                                           [&] { return survivor.open_descriptors() <= descriptors; }));
    }
    survivor.kill(SIGINT);
    ASSERT_EQ(survivor.wait_for_end(patience), 0) << survivor.said();
}

} // namespace
} // namespace rocio::test
