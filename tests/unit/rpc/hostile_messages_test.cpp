#include "rpc_examiner.hpp"

#include <gtest/gtest.h>

#include <random>

namespace rocio::rpc {
namespace {

using test::byte_vector;
using test::packed;

class hostile_messages_test : public ::testing::Test {
  protected:
    void examine(const byte_vector& bytes, const std::string& what) {
        const auto broken = examiner.broken_promise(bytes);
        EXPECT_FALSE(broken) << what << ": " << *broken;
    }

    test::rpc_examiner examiner;
    std::mt19937 random{11};
    const std::vector<const char*> names{"addThem", "floats", "bits",  "rpc_increment",
                                         "claims",  "slots",  "nobody"};
};

TEST_F(hostile_messages_test, requests_of_every_length) {
    for (const char* name : names) {
        for (std::size_t n = 0; n < 200; ++n) {
            examine(test::request_bytes(name, byte_vector(n, std::byte{3})), name + std::to_string(n));
        }
    }
}

TEST_F(hostile_messages_test, requests_cut_off_everywhere) {
    for (const char* name : names) {
        auto bytes = test::request_bytes(name, byte_vector(40, std::byte{3}));
        while (!bytes.empty()) {
            bytes.pop_back();
            examine(bytes, name + std::to_string(bytes.size()));
        }
    }
}

TEST_F(hostile_messages_test, requests_that_claim_every_length) {
    for (const char* name : names) {
        for (const std::uint32_t claimed : {0U, 1U, 4U, 16U, 39U, 40U, 41U, 4095U, 0x7FFFFFFFU, 0x80000000U,
                                            0xFFFFFFE7U, 0xFFFFFFE8U, 0xFFFFFFFFU}) {
            auto bytes = test::request_bytes(name, byte_vector(40));
            detail::store_little(claimed, std::span(bytes).subspan<8, 4>());
            examine(bytes, name + std::to_string(claimed));
        }
    }
}

TEST_F(hostile_messages_test, answers_that_claim_every_length) {
    for (std::uint32_t id = 0; id < 6; ++id) {
        for (std::size_t n = 0; n < 40; ++n) {
            for (const std::uint32_t claimed :
                 {0U, 3U, 8U, 12U, static_cast<std::uint32_t>(n), 0xFFFFFFE8U, 0xFFFFFFFFU}) {
                auto bytes =
                    test::response_bytes({.request_id = id, .timestamp = id % 2 ? id : 0}, byte_vector(n));
                detail::store_little(claimed, std::span(bytes).subspan<8, 4>());
                examine(bytes, std::to_string(id) + " " + std::to_string(claimed));
            }
        }
    }
}

TEST_F(hostile_messages_test, every_flipped_bit_of_a_request_and_of_an_answer) {
    const auto request = test::request_bytes("addThem", packed(std::int64_t{1}, std::int64_t{2}), 5, 6);
    const auto response = test::response_bytes({.request_id = 1, .timestamp = 1}, packed(std::int64_t{3}));
    for (const auto& good : {request, response}) {
        for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
            auto damaged = good;
            damaged[bit / 8] ^= std::byte{1} << (bit % 8);
            examine(damaged, std::to_string(bit));
        }
    }
}

TEST_F(hostile_messages_test, noise_with_and_without_a_magic) {
    for (int i = 0; i < 3000; ++i) {
        byte_vector bytes(random() % 150);
        for (auto& b : bytes) b = static_cast<std::byte>(random());
        if (bytes.size() >= 12 && i % 3 > 0) {
            detail::store_little(i % 3 == 1 ? request_header::magic : response_header::magic,
                                 std::span(bytes).first<4>());
            if (i % 2)
                detail::store_little(fnv1a(names[random() % names.size()]), std::span(bytes).subspan<4, 4>());
            if (i % 5)
                detail::store_little(static_cast<std::uint32_t>(random() % 64),
                                     std::span(bytes).subspan<8, 4>());
        }
        examine(bytes, "noise " + std::to_string(i));
    }
}

} // namespace
} // namespace rocio::rpc
