#include <rocio/types/memory_access.hpp>
#include <rocio/types/registered_buffer.hpp>
#include <rocio/types/work_completion.hpp>
#include <rocio/types/work_request.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <new>
#include <random>

namespace {

using namespace rocio;

TEST(wr_id, survives_the_way_through_a_number) {
    const wr_id id{0x1122, 0x3344, 0x55667788};
    EXPECT_EQ(wr_id::from_bits(id.bits()), id);
    std::mt19937_64 random{1};
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t v = random();
        EXPECT_EQ(wr_id::from_bits(v).bits(), v);
    }
    EXPECT_EQ(wr_id::from_bits(~std::uint64_t{0}).bits(), ~std::uint64_t{0});
}

TEST(wr_id, the_next_slot_is_one_step_on) {
    for (const std::uint32_t slot : {0U, 1U, 0xFFFFU, 0x7FFFFFFEU, 0x80000000U}) {
        const wr_id id{0xFFFF, 0xFFFF, slot};
        EXPECT_EQ(id.bits() + wr_id::step(), (wr_id{0xFFFF, 0xFFFF, slot + 1}.bits()));
    }
}

TEST(work_completion, its_outcome_is_status_operation_and_immediate_and_nothing_else) {
    using enum completion_opcode;
    alignas(work_completion) std::array<std::byte, sizeof(work_completion)> memory{};
    for (const auto filler : {std::byte{0}, std::byte{0xFF}}) {
        memory.fill(filler); // what lies between the members counts for nothing
        auto& wc = *new (memory.data()) work_completion;
        wc.id = {1, 2, 3};
        wc.immediate = 4;
        wc.byte_len = 5;
        for (const auto status : {errc::success, errc::local_length_error, errc::rnr_retry_exceeded}) {
            for (const auto op : {send, receive, receive_rdma_write_with_immediate}) {
                for (const bool immediate : {false, true}) {
                    wc.status = status;
                    wc.op = op;
                    wc.has_immediate = immediate;
                    EXPECT_EQ(wc.outcome(), outcome_of(status, op, immediate));
                    EXPECT_NE(wc.outcome(), outcome_of(status, op, !immediate));
                    EXPECT_NE(wc.outcome(), outcome_of(status, rdma_read, immediate));
                    EXPECT_NE(wc.outcome(), outcome_of(errc::bad_response, op, immediate));
                }
            }
        }
    }
}

TEST(memory_access, rights_combine_and_local_read_is_always_granted) {
    using enum memory_access;
    const auto have = local_write | remote_write;
    EXPECT_TRUE(grants(have, local_write));
    EXPECT_TRUE(grants(have, remote_write));
    EXPECT_TRUE(grants(have, local_write | remote_write));
    EXPECT_FALSE(grants(have, remote_read));
    EXPECT_FALSE(grants(local_write, local_write | remote_write));
    EXPECT_TRUE(grants(local_read, local_read));
}

TEST(registered_buffer, first_cuts_and_never_extends) {
    std::array<std::byte, 16> memory{};
    const registered_buffer buffer{memory.data(), 16, lkey{7}};
    EXPECT_EQ(buffer.first(4).size, 4U);
    EXPECT_EQ(buffer.first(4).data, memory.data());
    EXPECT_EQ(buffer.first(4).key, lkey{7});
    EXPECT_EQ(buffer.first(17).size, 16U);
    EXPECT_EQ(buffer.bytes().size(), 16U);
}

TEST(send_request, length_is_that_of_the_buffer_or_of_the_inline_bytes) {
    std::array<std::byte, 16> memory{};
    send_request request;
    request.buffer = {memory.data(), 16, lkey{1}};
    EXPECT_EQ(request.length(), 16U);
    request.inlined = true;
    request.inline_data = std::span(memory).first(5);
    EXPECT_EQ(request.length(), 5U);
}

TEST(work_completion, a_default_made_one_is_a_success_of_nothing) {
    const work_completion completion;
    EXPECT_EQ(completion.status, errc::success);
    EXPECT_FALSE(completion.has_immediate);
    EXPECT_EQ(completion.byte_len, 0U);
}

} // namespace
