#include "slac_fixture.hpp"

#include <string>

namespace rocio::fpga {
namespace {

using test::step_fate;
using testing::HasSubstr;
using namespace std::chrono_literals;

struct situation {
    const char* name;
    step_fate fate;
    bool has_soft_reset;
};

std::ostream& operator<<(std::ostream& out, const situation& s) {
    return out << s.name;
}

/// Each procedure, disturbed at each of its steps in turn: whatever happens it ends in time, says where, and
/// after the release the board has nothing left.
class slac_failure : public testing::TestWithParam<situation> {
  protected:
    struct scene {
        explicit scene(bool has_soft_reset) : board(port, {.has_soft_reset = has_soft_reset}) {
            config.prbs_base = 0x0016'0000;
        }
        test::program_driver::outcome run(register_program& program) { return driver.run(program); }
        test::program_driver::outcome set_up() {
            slac_setup program(config, session, {.qpn = 0x11, .region_length = 65536}, {}, {1, 2, 3});
            return run(program);
        }
        test::program_driver::outcome arm() {
            slac_arm program(config, session,
                             {.host_qpn = 0x11, .region_length = 65536, .max_payload = 4096});
            return run(program);
        }
        test::program_driver::outcome tear_down() {
            slac_teardown program(config, session);
            return run(program);
        }
        test::program_driver::outcome disarm() {
            slac_disarm program(config, session);
            return run(program);
        }
        void disturb(std::size_t index, step_fate fate) {
            driver.fate = [index, fate](std::size_t i, const register_step& s) {
                // A pause cannot fail, only be given up.
                const bool fails = fate == step_fate::lost_before || fate == step_fate::lost_after;
                if (i != index || (fails && s.what == register_step::kind::pause)) return step_fate::well;
                return fate;
            };
        }
        void calm() {
            driver.fate = [](std::size_t, const register_step&) { return step_fate::well; };
        }
        void release() {
            calm();
            if (session->armed) {
                EXPECT_FALSE(disarm().result);
            }
            EXPECT_FALSE(tear_down().result);
        }
        void expect_nothing_left(std::size_t index) {
            EXPECT_EQ(board.resources_allocated(), 0U) << "disturbed at step " << index;
            EXPECT_FALSE(session->holds_anything()) << "disturbed at step " << index;
            EXPECT_FALSE(port.runs) << "disturbed at step " << index;
            EXPECT_LT(driver.now - began, 90s);
        }

        recording_port port;
        slac_board board;
        slac_engine_config config;
        std::shared_ptr<slac_session> session = std::make_shared<slac_session>();
        test::program_driver driver{board};
        test::program_driver::clock::time_point began = driver.now;
    };
};

TEST_P(slac_failure, InASetUp) {
    std::size_t index = 0;
    for (std::size_t steps = 1; index < steps; ++index) {
        scene s(GetParam().has_soft_reset);
        if (index == 0) {
            scene measure(GetParam().has_soft_reset);
            steps = measure.set_up().steps;
        }
        s.disturb(index, GetParam().fate);
        const auto out = s.set_up();
        if (out.result) {
            EXPECT_THAT(out.result.text, HasSubstr(": ")) << "the stage comes first";
            if (!out.dropped) s.expect_nothing_left(index); // rolled back already
        }
        s.release();
        s.expect_nothing_left(index);
    }
    EXPECT_GT(index, 100U);
}

TEST_P(slac_failure, InATearDown) {
    std::size_t index = 0;
    for (std::size_t steps = 1; index < steps; ++index) {
        scene s(GetParam().has_soft_reset);
        ASSERT_FALSE(s.set_up().result);
        s.disturb(index, GetParam().fate);
        const auto out = s.tear_down();
        if (index == 0) {
            scene measure(GetParam().has_soft_reset);
            ASSERT_FALSE(measure.set_up().result);
            steps = measure.tear_down().steps;
        }
        if (!out.dropped) {
            EXPECT_FALSE(out.result) << "one lost access is tried again: " << out.result.text;
            s.expect_nothing_left(index);
        }
        s.release();
        s.expect_nothing_left(index);
    }
    EXPECT_GT(index, 80U);
}

TEST_P(slac_failure, InArmingAndDisarming) {
    for (const bool arming : {true, false}) {
        for (std::size_t index = 0; index < 12; ++index) {
            scene s(GetParam().has_soft_reset);
            ASSERT_FALSE(s.set_up().result);
            if (arming) s.disturb(index, GetParam().fate);
            const auto armed = s.arm();
            if (armed.result) {
                EXPECT_FALSE(s.port.runs) << "step " << index;
            }
            if (!arming) {
                s.disturb(index, GetParam().fate);
                s.disarm();
            }
            s.release();
            s.expect_nothing_left(index);
        }
    }
}

TEST_P(slac_failure, WhenTheLinkStaysDeadEverythingEndsSoonAndTheRestIsFreedWhenItIsBack) {
    for (std::size_t index = 0; index < 240; index += 3) {
        scene s(GetParam().has_soft_reset);
        bool dead = false;
        s.driver.fate = [&](std::size_t i, const register_step& step) {
            dead = dead || i == index;
            return dead && step.what != register_step::kind::pause ? step_fate::lost_before : step_fate::well;
        };
        const auto out = s.set_up();
        if (out.result) {
            EXPECT_LT(out.steps, index + 30) << "gives up after a few accesses";
        }
        dead = true;
        const auto end = s.tear_down();
        EXPECT_LT(end.steps, 30U);
        s.release();
        s.expect_nothing_left(index);
    }
}

INSTANTIATE_TEST_SUITE_P(EachStep, slac_failure,
                         testing::Values(situation{"lost", step_fate::lost_before, true},
                                         situation{"answer_lost", step_fate::lost_after, true},
                                         situation{"given_up", step_fate::dropped, true},
                                         situation{"given_up_after", step_fate::dropped_after, true},
                                         situation{"lost_without_reset", step_fate::lost_before, false},
                                         situation{"answer_lost_without_reset", step_fate::lost_after, false},
                                         situation{"given_up_without_reset", step_fate::dropped, false},
                                         situation{"given_up_after_without_reset", step_fate::dropped_after,
                                                   false}),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- A bus that repeats what it has sent

class slac_repeats : public slac_fixture, public testing::WithParamInterface<bool> {
  protected:
    slac_repeats() : slac_fixture(GetParam()) {}

    /// A write of the n-th "SendMetaData = 1" comes once more, `later` steps after it. Gives whether there
    /// was such a step.
    bool repeat(unsigned nth, std::size_t later) {
        std::size_t since = 0;
        unsigned seen = 0;
        bool done = false;
        driver.on_step = [=, this, &done](const register_step& s) mutable {
            if (seen == nth && !done && ++since == later) {
                (void)board.write(at(0xF00), 1);
                done = true;
            }
            if (s == register_step::write(at(0xF00), 1)) ++seen;
        };
        const auto out = set_up();
        driver.on_step = nullptr;
        EXPECT_LT(out.elapsed, 30s);
        if (out.result) {
            EXPECT_THAT(out.result.text, HasSubstr(": "));
        }
        if (!out.result) {
            EXPECT_EQ(board.stream().has_value() || board.resources_allocated() >= 3U, true);
        }
        return done;
    }
};

TEST_P(slac_repeats, ALateSecondStartLeavesNothingWhateverItHits) {
    for (unsigned nth = 1; nth <= 6; ++nth) {
        for (std::size_t later = 1; later <= 60; ++later) {
            const bool happened = repeat(nth, later);
            if (later < 10) {
                EXPECT_TRUE(happened);
            }
            release();
            EXPECT_EQ(board.resources_allocated(), 0U) << "start " << nth << ", " << later << " steps later";
            EXPECT_FALSE(session->holds_anything());
        }
    }
}

TEST_P(slac_repeats, AnyWriteThatComesOnceMoreLaterLeavesNothing) {
    for (const std::size_t later : {1U, 2U, 9U, 40U, 150U}) {
        for (std::size_t index = 0;; ++index) {
            std::size_t step = 0, writes = 0, due = 0;
            register_step what;
            driver.on_step = [&](const register_step& s) {
                if (due != 0 && step++ == due) (void)board.write(what.address, what.value);
                if (due == 0 && s.what == register_step::kind::write && writes++ == index) {
                    what = s;
                    due = later;
                }
            };
            const auto up = set_up();
            if (!up.result) arm();
            const bool happened = due != 0;
            driver.on_step = nullptr;
            release();
            ASSERT_EQ(board.resources_allocated(), 0U)
                << "write " << index << ", " << later << " steps later";
            ASSERT_FALSE(session->holds_anything());
            ASSERT_FALSE(port.runs);
            if (!happened) break;
        }
    }
}

TEST_P(slac_repeats, AStartThatComesTwiceWhileItsReplyIsAwaitedChangesNothing) {
    board.faults().reply_after_reads = 5;
    for (unsigned nth = 1; nth <= 6; ++nth) {
        for (std::size_t later = 1; later <= 5; ++later) {
            EXPECT_TRUE(repeat(nth, later));
            EXPECT_EQ(board.resources_allocated(), 3U);
            release();
        }
    }
    EXPECT_EQ(board.refusals(), 0U);
    EXPECT_EQ(session->snapshot().repeated, 0U);
}

TEST_P(slac_repeats, ARequestWhoseStartWasSwallowedIsSentAgain) {
    // SendMetaData is raised by an echo of the request before, just before MR allocate raises it itself.
    driver.on_step = [this, words = 0](const register_step& s) mutable {
        if (s.address == at(0xF28) && s.what == register_step::kind::write && ++words == 3) {
            (void)board.write(at(0xF04), 0);
            (void)board.write(at(0xF28), 0);
            (void)board.write(at(0xF00), 1);
        }
    };
    const auto out = set_up();
    EXPECT_FALSE(out.result) << out.result.text;
    EXPECT_EQ(session->snapshot().repeated, 1U);
    EXPECT_EQ(board.resources_allocated(), 3U);
}

TEST_P(slac_repeats, RepliesOfTheWrongKindAgainAndAgainAreAnError) {
    // Somebody else keeps asking for a protection domain between our request and its reply.
    driver.on_step = [this](const register_step& s) {
        if (s != register_step::read(at(0xF00)) || board.requests() < 2) return;
        for (std::uint32_t i = 0; i < 10; ++i) (void)board.write(at(0xF04 + 4 * i), 0);
        (void)board.write(at(0xF00), 0);
        (void)board.write(at(0xF00), 1);
    };
    const auto out = set_up();
    EXPECT_EQ(out.result.code, errc::handshake_malformed);
    EXPECT_THAT(out.result.text, HasSubstr("MR allocate"));
    driver.on_step = nullptr;
    release();
    // The keys of what was made meanwhile are unknown: only SoftReset frees it.
    if (GetParam()) {
        EXPECT_EQ(board.resources_allocated(), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSoftReset, slac_repeats, testing::Bool());

} // namespace
} // namespace rocio::fpga
